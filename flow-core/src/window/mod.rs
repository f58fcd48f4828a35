//! Windows: which records belong together, and when their result is due.
//!
//! * [`spec`]: the description: tumbling, global; [`mod@sliding`]: windows that overlap, composed of slices;
//! * [`late`]: what happens to elements that come too late;
//! * `panes`: state by pane, one table each; pure;
//! * `head`: the operator: panes, watermark, firing as a cursor; `base`: what it shares with `sliding`; `sender`, `merging`: what happens before the exchange;
//! * `run`: the tight loops of both;
//! * [`aggregate`]: the chain, and the streams' methods.

pub mod aggregate;
mod base;
mod fields;
mod head;
pub mod late;
mod merging;
mod panes;
mod run;
mod saved;
mod sender;
mod shortcuts;
pub mod sliding;
mod spans;
pub mod spec;
pub mod total;

pub use late::{Late, Lateness};
pub use sliding::{Sliding, sliding};
pub use spec::{Global, Tumbling, Windowed, global, tumbling};
