//! One chain of the syntax tree → nodes, edges and the segments it falls into: a fan-in in the middle cuts it.

use super::build::Builder;
use super::node;
use super::{Ending, Flow, FnArg, Node, NodeId, Op, Origin, Start, StreamId, Use};
use crate::ast::{self, Arg, Call, Chain};
use crate::diag::Message;
use crate::foreign;
use crate::message;
use crate::ops::{self, Operator};
use crate::suggest::closest;
use proc_macro2::Span;
use syn::Expr;

/// A segment that is not closed yet.
pub(super) struct Open<'a> {
    pub start: Start<'a>,
    pub nodes: Vec<NodeId>,
    pub flow: Flow,
    /// The node records come from.
    pub last: Option<NodeId>,
    /// The streams the whole chain is made from.
    pub used: Vec<StreamId>,
    pub at: Span,
    /// It begins behind a fan-in of this chain.
    fresh_root: bool,
}

impl Open<'_> {
    /// Nothing but the result of a fan-in.
    pub fn is_bare_root(&self) -> bool {
        self.fresh_root && self.nodes.is_empty()
    }
}

impl<'a> Builder<'a, '_> {
    /// Nodes are made in the order in which the generated code makes the operators, so that ids agree: what is an
    /// argument of a `union` comes before what stands in front of it.
    pub fn chain(&mut self, chain: &'a Chain) -> Open<'a> {
        let mut calls = chain.calls.as_slice();
        let mut others = self.next_inputs(calls);
        let mut open = self.begin(chain);
        while let Some((call, rest)) = calls.split_first() {
            calls = rest;
            open = match ops::operator(&call.name.to_string()) {
                _ if call.paren.is_none() => self.unknown(open, call),
                Some(row) if row.fan_in => {
                    let open = self.fan_in(open, call, row, others);
                    others = self.next_inputs(calls);
                    open
                }
                Some(row) => self.operator(open, call, row),
                None => self.unknown(open, call),
            };
        }
        open
    }

    /// The streams that the next fan-in takes beside its own.
    fn next_inputs(&mut self, calls: &'a [Call]) -> Vec<Use> {
        let fans_in = |call: &&Call| ops::operator(&call.name.to_string()).is_some_and(|row| row.fan_in);
        let args = calls.iter().find(fans_in).into_iter().flat_map(|call| &call.args);
        args.filter_map(|arg| match arg {
            Arg::Stream(chain) => Some(self.stream_argument(chain)),
            Arg::Value(_) => None,
        })
        .collect()
    }

    fn begin(&mut self, chain: &'a Chain) -> Open<'a> {
        let at = chain.first_token();
        let open =
            |start, flow, last, used| Open { start, nodes: vec![], flow, last, used, at, fresh_root: false };
        match &chain.start {
            ast::Start::Source(call) => {
                call.args.iter().for_each(|arg| self.look_into_closures(arg, "source"));
                let id = self.node(Op::Source(call), Flow::SOURCE, Flow::SOURCE, None);
                open(Start::Source(call), Flow::SOURCE, Some(id), vec![])
            }
            ast::Start::Stream(name) => {
                let one = self.use_of(name);
                let stream = self.graph.stream(one.stream);
                let (flow, node, used) = (stream.flow, stream.node, vec![one.stream]);
                open(Start::Stream(one), flow, node, used)
            }
            ast::Start::Function { func, args } => self.function(func, args, at),
            ast::Start::Opaque(expr) => {
                self.mentioned_elsewhere(quote::quote!(#expr));
                let id = self.node(Op::Opaque, Flow::UNKNOWN, Flow::UNKNOWN, None);
                open(Start::Opaque(expr), Flow::UNKNOWN, Some(id), vec![])
            }
        }
    }

    /// `f(stream, …)`: fused with one stream; several are each cut off first, so that the function's result is a
    /// root of its own.
    fn function(&mut self, func: &'a Expr, args: &'a [Arg], at: Span) -> Open<'a> {
        let several = args.iter().filter(|arg| matches!(arg, Arg::Stream(_))).count() > 1;
        let (mut given, mut inputs) = (Vec::new(), Vec::new());
        for arg in args {
            match arg {
                Arg::Value(expr) => given.push(FnArg::Value(expr)),
                Arg::Stream(chain) => {
                    let one = self.stream_argument(chain);
                    inputs.push(one.stream);
                    given.push(FnArg::Stream(if several { self.cut(one) } else { one }));
                }
            }
        }
        let tainted = inputs.iter().any(|input| self.graph.stream(*input).flow.tainted);
        let flow = Flow { tainted, ..Flow::UNKNOWN };
        let from = inputs.first().map(|input| self.graph.stream(*input));
        let (input, last) = from.map_or((Flow::UNKNOWN, None), |stream| (stream.flow, stream.node));
        let id = self.node(Op::Function { name: function_name(func) }, input, flow, last);
        let others = inputs.iter().skip(1).filter_map(|input| self.graph.stream(*input).node);
        for other in others.collect::<Vec<_>>() {
            self.edge(other, id);
        }
        let start = Start::Function { func, args: given };
        Open { start, nodes: vec![], flow, last: Some(id), used: inputs, at, fresh_root: false }
    }

    /// A stream among arguments: its name, or a chain that becomes a statement of its own.
    fn stream_argument(&mut self, chain: &'a Chain) -> Use {
        if let (ast::Start::Stream(name), true) = (&chain.start, chain.calls.is_empty()) {
            return self.use_of(name);
        }
        let open = self.chain(chain);
        if let (true, Start::Stream(one)) = (open.is_bare_root(), &open.start) {
            return one.clone();
        }
        let (flow, node, at) = (open.flow, open.last, open.at);
        let mut made = None;
        self.close(open, None, |builder| {
            let id = builder.middle(Origin::Chain(builder.next_segment()), flow, node, at);
            made = Some(id);
            Ending::Stream(id)
        });
        self.use_middle(made.unwrap_or(StreamId(0)))
    }

    pub fn cut(&mut self, one: Use) -> Use {
        let stream = self.graph.stream(one.stream);
        let (flow, node, at) = (stream.flow, stream.node, one.token.span());
        let open = Open {
            start: Start::Stream(one),
            nodes: vec![],
            flow,
            last: node,
            used: vec![],
            at,
            fresh_root: false,
        };
        let mut made = StreamId(0);
        self.close(open, None, |builder| {
            made = builder.middle(Origin::Root(builder.next_segment()), flow, node, at);
            Ending::Cut(made)
        });
        self.use_middle(made)
    }

    /// What follows `open` begins at a root of its own.
    fn cut_off(&mut self, open: Open<'a>) -> Open<'a> {
        let (flow, last, at, used) = (open.flow, open.last, open.at, open.used.clone());
        let mut made = StreamId(0);
        self.close(open, None, |builder| {
            made = builder.middle(Origin::Root(builder.next_segment()), flow, last, at);
            Ending::Cut(made)
        });
        let start = Start::Stream(self.use_middle(made));
        Open { start, nodes: vec![], flow, last, used, at, fresh_root: true }
    }

    fn use_middle(&mut self, stream: StreamId) -> Use {
        let token = self.graph.stream(stream).name.clone();
        self.graph.streams[stream.0].uses.push(token.span());
        Use { stream, token }
    }

    /// `a.union(b, c)`: one fan-in for each argument. `a.join(b)` has one.
    fn fan_in(
        &mut self,
        mut open: Open<'a>,
        call: &'a Call,
        row: &'static Operator,
        others: Vec<Use>,
    ) -> Open<'a> {
        if others.is_empty() {
            // too few arguments, or none that is a stream: reported
            return self.operator(open, call, row);
        }
        let mut used = open.used.clone();
        for other in others {
            let (flow, from) = (self.graph.stream(other.stream).flow, self.graph.stream(other.stream).node);
            let flow = node::together(row, node::output(row, call, open.flow), flow);
            let id = self.node(Op::Call { call, row }, open.flow, flow, open.last);
            if let Some(from) = from {
                self.edge(from, id);
            }
            used.push(other.stream);
            let (at, mut made) = (call.name.span(), StreamId(0));
            self.close(open, None, |builder| {
                made = builder.middle(Origin::Root(builder.next_segment()), flow, Some(id), at);
                Ending::FanIn { row, other, into: made, at }
            });
            let start = Start::Stream(self.use_middle(made));
            open = Open { start, nodes: vec![], flow, last: Some(id), used: vec![], at, fresh_root: true };
        }
        Open { used, ..open }
    }

    fn operator(&mut self, mut open: Open<'a>, call: &'a Call, row: &'static Operator) -> Open<'a> {
        let output = node::output(row, call, open.flow);
        let loops = matches!(row.closures, ops::Closures::BodyAt(_));
        if loops && open.flow.shape == ops::Shape::Plain && !matches!(open.start, Start::Source(_)) {
            // What is before it may be a branch, and a body with a fan-in in it is none.
            open = self.cut_off(open);
        }
        for (at, arg) in call.args.iter().enumerate() {
            match arg {
                Arg::Value(expr) if row.closures.is_body(at) => self.look_into_body(expr, row.name),
                Arg::Value(expr) => self.look_into_closures(expr, row.name),
                Arg::Stream(_) => {}
            }
        }
        call.named.iter().for_each(|given| self.look_into_closures(&given.value, row.name));
        if row.name == "named" {
            // no operator of its own: it renames the one before it
            self.rename(open.last, node::literal_text(call));
            let id = self.node(Op::Call { call, row }, open.flow, output, None);
            open.nodes.push(id);
            return Open { flow: output, ..open };
        }
        let id = self.node(Op::Call { call, row }, open.flow, output, open.last);
        open.nodes.push(id);
        Open { flow: output, last: Some(id), ..open }
    }

    fn unknown(&mut self, mut open: Open<'a>, call: &'a Call) -> Open<'a> {
        let name = call.name.to_string();
        let is_hole = ast::holes::is_hole(&call.name);
        if !open.flow.tainted && !is_hole {
            let is_bare = call.paren.is_none() && ops::operator(&name).is_some();
            let message =
                if is_bare { message::no_parentheses(&name) } else { missing(call, &name, open.flow) };
            self.diagnostics.error(&call.name, message);
        }
        // Streams among its arguments are consumed: that is no further mistake.
        for arg in &call.args {
            if let Arg::Stream(chain) = arg {
                self.stream_argument(chain);
            }
        }
        let id = self.node(Op::Unknown(call), open.flow, Flow::TAINTED, open.last);
        open.nodes.push(id);
        Open { flow: Flow::TAINTED, last: Some(id), ..open }
    }

    /// Adds a node and the edge that leads to it.
    fn node(&mut self, op: Op<'a>, input: Flow, output: Flow, from: Option<NodeId>) -> NodeId {
        let mut id = format!("{}/{}", self.scope, op.name());
        let given = self.ids.entry(id.clone()).or_default();
        *given += 1;
        if *given > 1 {
            id = format!("{id}-{given}");
        }
        self.graph.nodes.push(Node { id, stream: self.scope.clone(), op, input, output });
        let node = NodeId(self.graph.nodes.len() - 1);
        if let Some(from) = from {
            self.edge(from, node);
        }
        node
    }

    fn edge(&mut self, from: NodeId, to: NodeId) {
        let kind = node::edge(self.graph.node(from), self.graph.node(to));
        self.graph.edges.push(super::Edge { from, to, kind });
    }

    /// `.named("…")` puts the operator before it under another name.
    fn rename(&mut self, node: Option<NodeId>, name: Option<String>) {
        if let (Some(node), Some(name)) = (node, name) {
            let node = &mut self.graph.nodes[node.0];
            node.id = format!("{name}/{}", node.op.name());
        }
    }
}

/// Why there is no such operator, and what to write instead.
fn missing(call: &Call, name: &str, on: Flow) -> Message {
    let known = || ops::OPERATORS.iter().map(|row| row.name);
    if ops::RESERVED.contains(&name) {
        return message::reserved_operator(name);
    }
    if let Some(meant) = known().find(|known| foreign::same(known, name)) {
        return message::unknown_operator(name, Some(meant));
    }
    if let Some((aggregate, usage)) = foreign::aggregate(name, call.args.len(), on.shape) {
        return message::aggregate_as_operator(name, aggregate, &usage);
    }
    if let Some(instead) = foreign::instead(name) {
        return message::foreign_operator(name, instead);
    }
    if let Some(owner) = ops::owner_of(name) {
        return message::named_as_method(name, owner);
    }
    match ops::window(name) {
        Some(window) => message::window_as_operator(window),
        None => message::unknown_operator(name, closest(name, known())),
    }
}

/// `clean` in `text::clean::<Flight>(…)`.
fn function_name(func: &Expr) -> String {
    match func {
        Expr::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
        // `merger.merge`
        Expr::Verbatim(tokens) => {
            let names =
                tokens.clone().into_iter().filter(|token| matches!(token, proc_macro2::TokenTree::Ident(_)));
            names.last().map(|last| last.to_string())
        }
        _ => None,
    }
    .unwrap_or_else(|| "function".to_owned())
}
