//! The plan: what is emitted, in which order, with every name settled. It cannot fail: what could was checked.

mod depth;
mod hang;
pub(crate) mod picture;

use self::hang::Ends;
use self::picture::Picture;
use crate::ast::{Call, Pipeline, Statement, Wishes};
use crate::graph::{
    Ending, FnArg, Graph, Line, Op, Origin, Segment, SegmentId, Start, Stream, StreamId, Use,
};
use crate::ops::{Operator, Shape};
use proc_macro2::{Ident, Spacing, Span, TokenStream, TokenTree};
use std::collections::{HashMap, HashSet};
use syn::{Expr, ExprCall, Type};

pub(crate) struct Plan<'a> {
    pub name: String,
    pub steps: Vec<Step<'a>>,
    pub closing: Vec<Closing>,
    /// `let`s that had another name, and that name.
    pub renamed: Vec<(&'a Ident, &'a Ident)>,
    /// The terminals that the job gets.
    pub adds: Vec<Ident>,
    pub picture: Picture,
    pub values: Values,
}

/// One line of the body.
pub(crate) enum Step<'a> {
    Plain(&'a TokenStream),
    Chain(Box<ChainPlan<'a>>),
}

/// One statement that builds a part of the pipeline.
pub(crate) struct ChainPlan<'a> {
    /// Set when the user's statement begins here.
    pub scope: Option<String>,
    pub start: StartPlan<'a>,
    pub calls: Vec<CallPlan<'a>>,
    pub end: EndPlan<'a>,
    pub at: Span,
}

pub(crate) enum StartPlan<'a> {
    Source(&'a ExprCall, &'a Wishes),
    Stream(StreamRef),
    Function { func: &'a Expr, args: Vec<FnArgPlan<'a>> },
    Opaque(&'a Expr),
}

pub(crate) enum FnArgPlan<'a> {
    Value(&'a Expr),
    Stream(StreamRef),
}

/// A stream where it is used.
pub(crate) struct StreamRef {
    pub name: Ident,
    /// It is used more than once: each use is a root of its own.
    pub root: bool,
}

pub(crate) struct CallPlan<'a> {
    pub call: &'a Call,
    /// None: no operator; it is emitted as it stands, for rust-analyzer.
    pub row: Option<&'static Operator>,
    /// The key is dropped in front of this call.
    pub unkeyed: bool,
    /// It keeps what is written to checkpoints, for each key: whether key and states can be is asked where they stand.
    pub kept: bool,
    /// The type has grown long: it is boxed behind this call.
    pub boxed: bool,
}

pub(crate) enum EndPlan<'a> {
    Let { name: Ident, annotation: Option<&'a Type> },
    Sides { whole: Ident, names: Vec<Ident> },
    FanIn { row: &'static Operator, other: StreamRef, left: Ident, right: Ident, name: Ident, at: Span },
    Cut { end: Ident, name: Ident },
    Terminal(Ident),
}

/// What puts the terminals together, from the last branch to the first.
pub(crate) enum Closing {
    /// `let name = stream.tee(|o| o.both(a, b));`
    Tee { name: Ident, stream: Ident, terminals: Vec<Ident> },
    /// `let name = whole.fork((a, b));`
    Fork { name: Ident, whole: Ident, sides: Vec<SideEnd> },
}

pub(crate) enum SideEnd {
    Terminal(Ident),
    /// Nobody reads the side.
    Ignored(Ident),
}

/// The outer names of a body.
pub(crate) struct Values {
    /// Parameters and plain `let`s.
    pub known: HashSet<String>,
    /// Names that are streams: no closure owns a clone of one.
    pub streams: HashSet<String>,
    /// How often a name is mentioned in the body.
    pub mentions: HashMap<String, usize>,
    /// The item form: there are no other values than the known ones.
    pub closed: bool,
}

/// Phase 4: the graph → the plan.
pub(crate) fn plan<'a>(ast: &'a Pipeline, graph: &Graph<'a>) -> Plan<'a> {
    let boxed = depth::boxed(graph);
    let mut ends = Ends::new(graph);
    let mut steps = Vec::with_capacity(graph.lines.len());
    for line in &graph.lines {
        steps.push(match line {
            Line::Plain(tokens) => Step::Plain(tokens),
            Line::Segment(id) => Step::Chain(Box::new(chain(ast, graph, *id, &boxed, &mut ends))),
        });
    }
    let (closing, adds) = ends.close();
    Plan {
        name: graph.name.clone(),
        steps,
        closing,
        renamed: renamed(ast),
        adds,
        picture: picture::picture(graph),
        values: values(ast, graph),
    }
}

fn chain<'a>(
    ast: &'a Pipeline,
    graph: &Graph<'a>,
    id: SegmentId,
    boxed: &HashSet<crate::graph::NodeId>,
    ends: &mut Ends<'_, 'a>,
) -> ChainPlan<'a> {
    let segment = graph.segment(id);
    let calls = segment.nodes.iter().filter_map(|id| {
        let (call, row) = match &graph.node(*id).op {
            Op::Call { call, row } => (*call, Some(*row)),
            Op::Unknown(call) => (*call, None),
            Op::Source(_) | Op::Function { .. } | Op::Opaque => return None,
        };
        let unkeyed = graph.node(*id).input.shape == Shape::Keyed && row.is_some_and(Operator::drops_key);
        let keeps = ast.wishes.checkpointed.is_some() && row.is_some_and(|row| row.stateful);
        let kept = keeps && graph.node(*id).input.shape == Shape::Keyed;
        Some(CallPlan { call, row, unkeyed, kept, boxed: boxed.contains(id) })
    });
    ChainPlan {
        scope: (segment.opens && !begins_nowhere(graph, segment)).then(|| segment.scope.clone()),
        start: start(ast, graph, segment),
        calls: calls.collect(),
        end: end(graph, id, ends),
        at: segment.at,
    }
}

fn renamed(ast: &Pipeline) -> Vec<(&Ident, &Ident)> {
    let lines = ast.statements.iter().filter_map(|statement| match statement {
        Statement::Stream(line) => Some(&**line),
        _ => None,
    });
    lines.filter_map(crate::check::renamed).collect()
}

/// A name that means nothing may be half typed: what stands in front of it must not depend on it.
fn begins_nowhere(graph: &Graph, segment: &Segment) -> bool {
    matches!(&segment.start, Start::Stream(one) if graph.stream(one.stream).made_by == Origin::Nowhere)
}

fn start<'a>(ast: &'a Pipeline, graph: &Graph<'a>, segment: &Segment<'a>) -> StartPlan<'a> {
    match &segment.start {
        Start::Source(call) => StartPlan::Source(call, &ast.wishes),
        Start::Stream(one) => StartPlan::Stream(stream_ref(graph, one)),
        Start::Function { func, args } => {
            let args = args.iter().map(|arg| match arg {
                FnArg::Value(expr) => FnArgPlan::Value(expr),
                FnArg::Stream(one) => FnArgPlan::Stream(stream_ref(graph, one)),
            });
            StartPlan::Function { func, args: args.collect() }
        }
        Start::Opaque(expr) => StartPlan::Opaque(expr),
    }
}

fn end<'a>(graph: &Graph<'a>, id: SegmentId, ends: &mut Ends<'_, 'a>) -> EndPlan<'a> {
    let segment = graph.segment(id);
    match &segment.end {
        Ending::Stream(stream) => {
            EndPlan::Let { name: emitted_name(graph, *stream), annotation: segment.annotation }
        }
        Ending::Sides(sides) => {
            let names = sides.iter().map(|side| emitted_name(graph, *side)).collect();
            EndPlan::Sides { whole: ends.fork(id, sides), names }
        }
        Ending::FanIn { row, other, into, at } => {
            let (left, right) = (ends.hang_segment(id), ends.hang_use(id, other.stream));
            EndPlan::FanIn {
                row,
                other: stream_ref(graph, other),
                left,
                right,
                name: emitted_name(graph, *into),
                at: *at,
            }
        }
        Ending::Cut(stream) => {
            EndPlan::Cut { end: ends.hang_segment(id), name: emitted_name(graph, *stream) }
        }
        Ending::Terminal => EndPlan::Terminal(ends.hang_segment(id)),
    }
}

fn stream_ref(graph: &Graph, one: &Use) -> StreamRef {
    let stream = graph.stream(one.stream);
    let name = if is_renamed(stream) { emitted_name(graph, one.stream) } else { one.token.clone() };
    StreamRef { name, root: stream.uses.len() > 1 }
}

/// The name a stream has in the generated code: the user's, unless the closing lines would find another stream
/// under it.
fn emitted_name(graph: &Graph, id: StreamId) -> Ident {
    let stream = graph.stream(id);
    if is_renamed(stream) {
        return Ident::new(&format!("__{}_{}", stream.name, id.0), stream.name.span());
    }
    stream.name.clone()
}

fn is_renamed(stream: &Stream) -> bool {
    stream.shadowed && stream.uses.len() != 1
}

fn values(ast: &Pipeline, graph: &Graph) -> Values {
    let params = ast.head.iter().flat_map(|head| &head.params);
    let plain = ast.statements.iter().filter_map(|statement| match statement {
        Statement::Plain(plain) if !plain.may_bind => Some(&plain.binds),
        _ => None,
    });
    let known: HashSet<String> = params.chain(plain.flatten()).map(Ident::to_string).collect();
    let streams = graph.streams.iter().map(|stream| stream.name.to_string());
    let streams = streams.filter(|name| !known.contains(name)).collect();
    let mut mentions = HashMap::new();
    for statement in &ast.statements {
        match statement {
            Statement::Stream(line) => count(line.chain.tokens(), &mut mentions),
            Statement::Plain(plain) => {
                count(plain.tokens.clone(), &mut mentions);
                // where a name is bound it is not used
                for name in plain.binds.iter().filter(|_| !plain.may_bind) {
                    mentions.entry(name.to_string()).and_modify(|count| *count = count.saturating_sub(1));
                }
            }
            Statement::Broken(broken) => count(broken.tokens.clone(), &mut mentions),
        }
    }
    Values { known, streams, mentions, closed: ast.head.is_some() }
}

/// Counts the names in tokens, and those in strings that look like format strings. What stands behind a `.` or
/// before a `:` is a field or a method.
fn count(tokens: TokenStream, mentions: &mut HashMap<String, usize>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is_punct = |at: Option<&TokenTree>, wanted: char| matches!(at, Some(TokenTree::Punct(punct)) if punct.as_char() == wanted && punct.spacing() == Spacing::Alone);
    for (index, token) in tokens.iter().enumerate() {
        let back = |by: usize| index.checked_sub(by).and_then(|at| tokens.get(at));
        let range = matches!(back(2), Some(TokenTree::Punct(punct)) if punct.as_char() == '.');
        match token {
            TokenTree::Ident(_)
                if (is_punct(back(1), '.') && !range) || is_punct(tokens.get(index + 1), ':') => {}
            TokenTree::Ident(word) => *mentions.entry(word.to_string()).or_default() += 1,
            TokenTree::Group(group) => count(group.stream(), mentions),
            TokenTree::Literal(literal) => {
                let text = literal.to_string();
                for part in text.split('{').skip(1) {
                    let word: String =
                        part.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                    *mentions.entry(word).or_default() += 1;
                }
            }
            TokenTree::Punct(_) => {}
        }
    }
}
