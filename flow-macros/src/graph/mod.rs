//! The graph: operators as nodes, names resolved, and what the macro can know of every edge: shape and time.
//!
//! Reading only; `build` makes it. Record types are rustc's, so nothing here knows them.

mod body;
mod build;
mod chain;
mod names;
mod node;

pub(crate) use self::build::build;
pub(crate) use self::node::{
    is_mistaken, is_on_the_clock, key_text, literal_text, side_names, sides, states, window_text,
};

use crate::ast::Call;
use crate::ops::{EdgeKind, Operator, Output, Shape};
use proc_macro2::{Ident, Span, TokenStream};
use syn::{Expr, ExprCall, Type};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NodeId(pub usize);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct StreamId(pub usize);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SegmentId(pub usize);

pub(crate) struct Graph<'a> {
    pub name: String,
    pub nodes: Vec<Node<'a>>,
    pub edges: Vec<Edge>,
    pub streams: Vec<Stream>,
    pub segments: Vec<Segment<'a>>,
    /// The body in its order.
    pub lines: Vec<Line<'a>>,
    /// Streams that closures mention, and the operator they belong to.
    pub in_closures: Vec<(Ident, String)>,
    /// Streams that bodies of loops mention.
    pub in_bodies: Vec<InBody<'a>>,
    /// Streams that a reported name meant or may have meant: no message says that nobody reads them.
    pub meant: Vec<String>,
}

/// A stream that the body of a loop mentions.
pub(crate) struct InBody<'a> {
    pub body: &'a syn::Expr,
    pub name: Ident,
    /// It, or a root of its own where it has no key.
    pub stream: StreamId,
    pub operator: String,
}

/// One line of the body.
pub(crate) enum Line<'a> {
    Plain(&'a TokenStream),
    Segment(SegmentId),
}

/// One operator, source or sub-pipeline.
pub(crate) struct Node<'a> {
    /// `hourly/aggregate`
    pub id: String,
    /// The name that stands before the `/`.
    pub stream: String,
    pub op: Op<'a>,
    pub input: Flow,
    pub output: Flow,
}

/// What a node does.
pub(crate) enum Op<'a> {
    Source(&'a ExprCall),
    Call {
        call: &'a Call,
        row: &'static Operator,
    },
    /// A method that is no operator; reported.
    Unknown(&'a Call),
    /// A function of streams.
    Function {
        name: String,
    },
    /// What an annotation says is a stream.
    Opaque,
}

/// What the macro knows of the stream between two nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flow {
    pub shape: Shape,
    pub time: Domain,
    /// The time of the right side of a join; elsewhere nothing is said.
    pub right: Domain,
    /// The window upstream sends late elements to a side of its own.
    pub late_side: bool,
    /// It depends on a mistake that has been reported: no further errors.
    pub tainted: bool,
}

/// Has a stream event time?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Domain {
    None,
    Event { disordered: bool },
    Unknown,
}

pub(crate) struct Edge {
    pub from: NodeId,
    pub to: NodeId,
    pub kind: EdgeKind,
}

/// A stream with a name: the user's, or one the macro gave to the middle of a chain.
pub(crate) struct Stream {
    pub name: Ident,
    pub made_by: Origin,
    /// Where it is used.
    pub uses: Vec<Span>,
    /// Plain Rust or a broken statement mentions it.
    pub elsewhere: bool,
    pub flow: Flow,
    pub node: Option<NodeId>,
    /// The name is bound again further down.
    pub shadowed: bool,
}

/// What a stream comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The end of a chain.
    Chain(SegmentId),
    /// One of several streams at the end of a chain.
    Side(SegmentId),
    /// Behind a fan-in: a root of its own.
    Root(SegmentId),
    /// Nothing: the name was not found, or its statement is broken. Reported.
    Nowhere,
}

/// A chain that is emitted as one statement.
pub(crate) struct Segment<'a> {
    /// The name its operators stand under.
    pub scope: String,
    /// The user's statement begins here: the scope is set anew.
    pub opens: bool,
    pub start: Start<'a>,
    pub nodes: Vec<NodeId>,
    pub end: Ending,
    pub annotation: Option<&'a Type>,
    /// Where its text begins.
    pub at: Span,
}

pub(crate) enum Start<'a> {
    Source(&'a ExprCall),
    Stream(Use),
    Function { func: &'a Expr, args: Vec<FnArg<'a>> },
    Opaque(&'a Expr),
}

/// A stream's name where it is used.
#[derive(Clone)]
pub(crate) struct Use {
    pub stream: StreamId,
    pub token: Ident,
}

pub(crate) enum FnArg<'a> {
    Value(&'a Expr),
    Stream(Use),
}

/// How a segment ends.
pub(crate) enum Ending {
    /// `let x = chain;`
    Stream(StreamId),
    /// `let (a, b) = chain;`
    Sides(Vec<StreamId>),
    /// `chain.union(other)`, `chain.join(other)`: the operator, whose name is at `at`.
    FanIn { row: &'static Operator, other: Use, into: StreamId, at: Span },
    /// `chain` is an argument of a function of several streams.
    Cut(StreamId),
    /// An expression statement.
    Terminal,
}

impl<'a> Graph<'a> {
    pub fn node(&self, id: NodeId) -> &Node<'a> {
        &self.nodes[id.0]
    }

    pub fn stream(&self, id: StreamId) -> &Stream {
        &self.streams[id.0]
    }

    pub fn segment(&self, id: SegmentId) -> &Segment<'a> {
        &self.segments[id.0]
    }

    /// The last operator of a segment.
    pub fn last(&self, segment: &Segment) -> Option<&Node<'a>> {
        segment.nodes.last().map(|id| self.node(*id))
    }
}

impl Segment<'_> {
    /// The streams it takes in at its start.
    pub fn inputs(&self) -> Vec<&Use> {
        match &self.start {
            Start::Stream(one) => vec![one],
            Start::Function { args, .. } => args.iter().filter_map(FnArg::stream).collect(),
            Start::Source(_) | Start::Opaque(_) => Vec::new(),
        }
    }
}

impl FnArg<'_> {
    fn stream(&self) -> Option<&Use> {
        match self {
            FnArg::Stream(one) => Some(one),
            FnArg::Value(_) => None,
        }
    }
}

impl Op<'_> {
    /// The operator's name, as the graph shows it.
    pub fn name(&self) -> String {
        match self {
            Op::Source(call) => node::source_name(call),
            Op::Call { row, .. } => row.name.to_owned(),
            Op::Unknown(call) => call.name.to_string(),
            Op::Function { name } => name.clone(),
            Op::Opaque => "stream".to_owned(),
        }
    }
}

impl Flow {
    /// What nothing is known of.
    pub const UNKNOWN: Flow = Flow {
        shape: Shape::Unknown,
        time: Domain::Unknown,
        right: Domain::Unknown,
        late_side: false,
        tainted: false,
    };
    /// What depends on a reported mistake.
    pub const TAINTED: Flow = Flow { tainted: true, ..Flow::UNKNOWN };
    /// What a source gives.
    pub const SOURCE: Flow = Flow {
        shape: Shape::Plain,
        time: Domain::None,
        right: Domain::Unknown,
        late_side: false,
        tainted: false,
    };
}

impl Node<'_> {
    /// Does it end the stream?
    pub fn is_terminal(&self) -> bool {
        matches!(&self.op, Op::Call { row, .. } if row.output == Output::Terminal)
    }
}

impl Stream {
    /// Did the user write the name?
    pub fn is_users(&self) -> bool {
        !self.name.to_string().starts_with("__")
    }
}
