//! Windows: which records belong together, and when their result is due.
//!
//! * [`spec`]: the description: tumbling, global; [`windowing`]: the operator it becomes;
//! * [`mod@sliding`]: windows that overlap, composed of slices;
//! * [`late`]: what happens to elements that come too late;
//! * `panes`: state by pane, one table each; pure;
//! * `head`: the operator: panes, watermark, firing as a cursor; `base`: what it shares with `sliding`; `sender`, `merging`: what happens before the exchange;
//! * `run`: the tight loops of both;
//! * [`mod@session`]: windows that grow with their elements; [`mod@count`]: windows of so many elements;
//!   `singly`: what both do before the exchange;
//! * [`mod@trigger`]: what fires a window before its end; [`clocked`]: windows of processing time;
//! * [`evict`]: the last records of a window only;
//! * [`process`]: whole-window functions, with state of the key;
//! * [`aggregate`]: the chain, and the streams' methods.

pub mod aggregate;
pub(crate) mod base;
pub mod clocked;
pub mod count;
pub mod evict;
pub(crate) mod fields;
mod head;
pub mod late;
mod merging;
mod panes;
pub mod process;
mod run;
pub(crate) mod saved;
mod sender;
pub mod session;
mod shortcuts;
mod singly;
pub mod sliding;
mod spans;
pub mod spec;
pub mod total;
pub mod trigger;
pub mod windowing;

pub use clocked::{Clocked, processing};
pub use count::{Counted, count};
pub use evict::last;
pub use late::{Late, Lateness};
pub use process::WindowCx;
pub use session::{Session, session, session_by};
pub use sliding::{Sliding, sliding};
pub use spec::{Global, Tumbling, Windowed, days, global, tumbling};
pub use trigger::Trigger;
