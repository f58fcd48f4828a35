//! The graph as it is shown: what `GRAPH` holds and the pictures are drawn from.

use crate::graph::{Graph, NodeId, Op, key_text, states, window_text};
use crate::ops::{EdgeKind, Shape};

pub(crate) struct Picture {
    pub name: String,
    pub nodes: Vec<PictureNode>,
    pub edges: Vec<PictureEdge>,
}

pub(crate) struct PictureNode {
    pub id: String,
    pub op: String,
    pub stream: String,
    pub shape: Shape,
    pub key: Option<String>,
    /// What a window is described as.
    pub window: Option<String>,
    pub state: bool,
    /// Names of the states of a process, and what stands in `#[ttl(…)]`.
    pub states: Vec<(String, Option<String>)>,
}

pub(crate) struct PictureEdge {
    pub from: usize,
    pub to: usize,
    pub kind: EdgeKind,
}

/// All nodes of the graph but `named`, which is no operator.
pub(super) fn picture(graph: &Graph) -> Picture {
    let mut place = Vec::with_capacity(graph.nodes.len());
    let mut nodes = Vec::new();
    for node in &graph.nodes {
        place.push(nodes.len());
        if !matches!(&node.op, Op::Call { row, .. } if row.name == "named") {
            nodes.push(PictureNode {
                id: node.id.clone(),
                op: node.op.name(),
                stream: node.stream.clone(),
                shape: node.output.shape,
                key: key_text(node),
                window: window_text(node),
                state: matches!(&node.op, Op::Call { row, .. } if row.stateful),
                states: states(node),
            });
        }
    }
    let at = |id: NodeId| place[id.0];
    let edges =
        graph.edges.iter().map(|edge| PictureEdge { from: at(edge.from), to: at(edge.to), kind: edge.kind });
    Picture { name: graph.name.clone(), nodes, edges: edges.collect() }
}

impl PictureNode {
    /// What stands beside the operator's name.
    pub fn detail(&self) -> Option<&str> {
        self.key.as_deref().or(self.window.as_deref())
    }
}
