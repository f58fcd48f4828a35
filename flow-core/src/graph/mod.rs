//! The graph of a pipeline as a constant: what the macro sees of it at compile time.
//!
//! `dataflow!` puts a module beside each pipeline's function; its `GRAPH` is plain data, so a test can say what it
//! expects of a pipeline without running it ("exactly one shuffle"), and the pictures can be printed. What only the
//! run knows (the inside of sub-pipelines, instances, algorithms) is in the job's own graph.

/// A pipeline: operators and how records travel between them.
///
/// ```
/// use flow_core::graph::{Edge, EdgeKind, Graph, Node, Shape};
///
/// const GRAPH: Graph = Graph {
///     name: "words",
///     nodes: &[
///         Node { id: "words/source", op: "source", stream: "words", shape: Shape::Plain, key: None, state: false, states: &[] },
///         Node { id: "words/count", op: "count", stream: "words", shape: Shape::Plain, key: None, state: true, states: &[] },
///     ],
///     edges: &[Edge { from: 0, to: 1, kind: EdgeKind::Global }],
///     mermaid: "",
///     dot: "",
///     svg: "",
/// };
/// assert_eq!(GRAPH.exchanges().count(), 1);
/// assert_eq!(GRAPH.node("words/count").map(|node| node.state), Some(true));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Graph {
    /// The pipeline's name.
    pub name: &'static str,
    /// The operators, in the order of the text.
    pub nodes: &'static [Node],
    /// How records travel between them.
    pub edges: &'static [Edge],
    /// The graph as Mermaid text.
    pub mermaid: &'static str,
    /// The graph as DOT text, for Graphviz.
    pub dot: &'static str,
    /// The graph as a picture: SVG on one line.
    pub svg: &'static str,
}

/// One operator, source, sink or sub-pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its stable id: the `let` it stands in and its operator, as `hourly/aggregate`.
    pub id: &'static str,
    /// The operator, or the function of a sub-pipeline.
    pub op: &'static str,
    /// The stream it belongs to.
    pub stream: &'static str,
    /// What comes out of it.
    pub shape: Shape,
    /// The text of the closure that gives the key, if it sets one.
    pub key: Option<&'static str>,
    /// Does it keep state?
    pub state: bool,
    /// The states that a process declares.
    pub states: &'static [State],
}

/// A state of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// Its name.
    pub name: &'static str,
    /// What stands in `#[ttl(…)]`, if it has a time to live.
    pub ttl: Option<&'static str>,
}

/// From one operator to another, by their places in `nodes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The sender's place in `nodes`.
    pub from: usize,
    /// The receiver's place in `nodes`.
    pub to: usize,
    /// How records travel.
    pub kind: EdgeKind,
}

/// What an operator gives to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// Records.
    Plain,
    /// Records with a key; all of one key are on one instance.
    Keyed,
    /// Windows that are not closed yet.
    Windowed,
    /// Two streams, of which nothing says yet what belongs together.
    Joined,
    /// Two streams by key, for one process.
    Connected,
    /// What the macro cannot see: the inside of a sub-pipeline or of an operator of one's own.
    Unknown,
}

/// How records travel along an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EdgeKind {
    /// A call: both ends are one piece of code.
    Fused,
    /// To the instance that owns the key.
    KeyBy,
    /// To the first instance.
    Global,
    /// To the instances in turn.
    Rebalance,
    /// To a random instance.
    Shuffle,
    /// To every instance.
    Broadcast,
    /// Where a partitioner says.
    Custom,
    /// One of several inputs of one operator.
    Merge,
    /// To the same instance, behind a ring.
    Boundary,
}

impl Graph {
    /// The operator with this id.
    pub fn node(&self, id: &str) -> Option<&'static Node> {
        self.nodes.iter().find(|node| node.id == id)
    }

    /// The edges along which records change the instance.
    pub fn exchanges(&self) -> impl Iterator<Item = &'static Edge> {
        self.edges.iter().filter(|edge| edge.kind.is_exchange())
    }
}

impl EdgeKind {
    /// May a record change the instance here?
    pub const fn is_exchange(self) -> bool {
        !matches!(self, EdgeKind::Fused | EdgeKind::Merge | EdgeKind::Boundary)
    }
}
