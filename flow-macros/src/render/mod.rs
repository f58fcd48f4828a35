//! The graph as text others draw (Mermaid, DOT) and as a picture of its own (SVG).

mod dot;
mod layout;
mod mermaid;
mod svg;

pub(crate) use self::dot::dot;
pub(crate) use self::mermaid::mermaid;
pub(crate) use self::svg::svg;

use crate::ops::EdgeKind;

/// The word at an edge that leads to other instances or threads.
fn label(kind: EdgeKind) -> Option<&'static str> {
    match kind {
        EdgeKind::Fused | EdgeKind::Merge => None,
        EdgeKind::KeyBy => Some("key_by"),
        EdgeKind::Global => Some("global"),
        EdgeKind::Rebalance => Some("rebalance"),
        EdgeKind::Shuffle => Some("shuffle"),
        EdgeKind::Broadcast => Some("broadcast"),
        EdgeKind::Custom => Some("partition_by"),
        EdgeKind::Boundary => Some("boundary"),
    }
}
