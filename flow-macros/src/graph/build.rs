//! Phase 2: the syntax tree → the graph. Names are resolved here, and what one node alone gets wrong with them is
//! reported here; what needs several nodes is `check`'s.

use super::chain::Open;
use super::names::{Meaning, Names, Unresolved};
use super::{
    Ending, Flow, Graph, InBody, Line, NodeId, Origin, Segment, SegmentId, Start, Stream, StreamId, Use,
};
use crate::ast::{self, Binding, Pipeline, Side, Statement};
use crate::diag::Diagnostics;
use crate::free;
use crate::message;
use crate::ops;
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use std::collections::{HashMap, HashSet};

/// The graph as far as it is built.
pub(super) struct Builder<'a, 'd> {
    pub graph: Graph<'a>,
    pub diagnostics: &'d mut Diagnostics,
    names: Names,
    /// How often an id was given: a second one gets a number.
    pub ids: HashMap<String, usize>,
    /// What the line that is being read binds, and the name its operators stand under.
    pub making: Vec<String>,
    pub scope: String,
    opens: bool,
    cycles: Vec<Vec<String>>,
}

pub(crate) fn build<'a>(ast: &'a Pipeline, diagnostics: &mut Diagnostics) -> Graph<'a> {
    let graph = Graph {
        name: ast.name(),
        nodes: Vec::new(),
        edges: Vec::new(),
        streams: Vec::new(),
        segments: Vec::new(),
        lines: Vec::new(),
        in_closures: Vec::new(),
        in_bodies: Vec::new(),
        meant: Vec::new(),
    };
    let mut builder = Builder {
        graph,
        diagnostics,
        names: Names::new(ast),
        ids: HashMap::new(),
        making: Vec::new(),
        scope: String::new(),
        opens: false,
        cycles: Vec::new(),
    };
    for statement in &ast.statements {
        builder.statement(statement);
    }
    builder.graph
}

impl<'a> Builder<'a, '_> {
    fn statement(&mut self, statement: &'a Statement) {
        match statement {
            Statement::Stream(line) => self.line(line),
            Statement::Plain(plain) => {
                self.graph.lines.push(Line::Plain(&plain.tokens));
                self.mentioned_elsewhere(plain.tokens.clone());
                for name in plain.binds.iter().filter(|_| !plain.may_bind) {
                    self.rebind(name, Meaning::Plain);
                }
            }
            Statement::Broken(broken) => {
                self.graph.lines.push(Line::Plain(&broken.tokens));
                self.mentioned_elsewhere(broken.tokens.clone());
                for name in &broken.binds {
                    self.rebind(name, Meaning::Broken);
                }
            }
        }
    }

    fn line(&mut self, line: &'a ast::Line) {
        self.making = line.binding.names().map(Ident::to_string).collect();
        self.scope = self.scope_of(line);
        self.opens = true;
        let open = self.chain(&line.chain);
        let annotation = line.annotation.as_ref();
        match &line.binding {
            Binding::Name(name) => self.end_in_name(open, name, annotation),
            Binding::Names(sides) => self.end_in_sides(open, sides),
            Binding::Nothing => {
                self.close(open, annotation, |_| Ending::Terminal);
            }
        }
    }

    /// A `let`'s name, a tuple's first name, the receiving stream's, or the pipeline's.
    fn scope_of(&self, line: &ast::Line) -> String {
        let own = line.binding.names().next();
        let receiving = match &line.chain.start {
            ast::Start::Stream(name) => Some(name),
            ast::Start::Function { args, .. } => args.iter().find_map(|arg| match arg {
                ast::Arg::Stream(ast::Chain { start: ast::Start::Stream(name), .. }) => Some(name),
                _ => None,
            }),
            _ => None,
        };
        own.or(receiving).map_or_else(|| self.graph.name.clone(), Ident::to_string)
    }

    fn end_in_name(&mut self, open: Open<'a>, name: &Ident, annotation: Option<&'a syn::Type>) {
        let (flow, node) = (open.flow, open.last);
        if open.is_bare_root() && annotation.is_none() {
            // `let d = b.union(c);`: what the union made gets the user's name
            if let Start::Stream(one) = &open.start {
                let id = one.stream;
                self.graph.streams[id.0].name = name.clone();
                self.graph.streams[id.0].uses.clear();
                self.declare(name, id, open.used);
                return;
            }
        }
        let used = open.used.clone();
        let mut id = StreamId(0);
        self.close(open, annotation, |builder| {
            let made_by = Origin::Chain(builder.next_segment());
            id = builder.new_stream(name.clone(), made_by, flow, node);
            Ending::Stream(id)
        });
        self.declare(name, id, used);
    }

    fn end_in_sides(&mut self, open: Open<'a>, sides: &'a [Side]) {
        let (flow, node, used) = (Flow { late_side: false, ..open.flow }, open.last, open.used.clone());
        let mut ids = Vec::new();
        self.close(open, None, |builder| {
            let made_by = Origin::Side(builder.next_segment());
            for (index, side) in sides.iter().enumerate() {
                let unnamed =
                    || Ident::new(&format!("__side_{index}"), side.span.resolved_at(Span::mixed_site()));
                let name = side.name.clone().unwrap_or_else(unnamed);
                ids.push(builder.new_stream(name, made_by, flow, node));
            }
            Ending::Sides(ids.clone())
        });
        for (side, id) in sides.iter().zip(ids) {
            if let Some(name) = &side.name {
                self.declare(name, id, used.clone());
            }
        }
    }

    /// Ends a segment; `end` may make streams that come from it.
    pub fn close(
        &mut self,
        open: Open<'a>,
        annotation: Option<&'a syn::Type>,
        end: impl FnOnce(&mut Self) -> Ending,
    ) -> SegmentId {
        let id = self.next_segment();
        let end = end(self);
        let opens = std::mem::take(&mut self.opens);
        self.graph.lines.push(Line::Segment(id));
        let scope = self.scope.clone();
        self.graph.segments.push(Segment {
            scope,
            opens,
            start: open.start,
            nodes: open.nodes,
            end,
            annotation,
            at: open.at,
        });
        id
    }

    pub fn next_segment(&self) -> SegmentId {
        SegmentId(self.graph.segments.len())
    }

    pub fn new_stream(&mut self, name: Ident, made_by: Origin, flow: Flow, node: Option<NodeId>) -> StreamId {
        let stream =
            Stream { name, made_by, uses: Vec::new(), elsewhere: false, flow, node, shadowed: false };
        self.graph.streams.push(stream);
        StreamId(self.graph.streams.len() - 1)
    }

    /// A stream in the middle of a chain.
    pub fn middle(&mut self, made_by: Origin, flow: Flow, node: Option<NodeId>, at: Span) -> StreamId {
        let name = format!("__s{}", self.graph.streams.len());
        self.new_stream(Ident::new(&name, at.resolved_at(Span::mixed_site())), made_by, flow, node)
    }

    /// Gives a stream its name. A second stream of one name is right only where it is made from the first.
    fn declare(&mut self, name: &Ident, id: StreamId, used: Vec<StreamId>) {
        if let Some(Meaning::Stream(old)) = self.names.meaning(name)
            && !used.contains(&old)
            && !self.graph.stream(old).flow.tainted
        {
            self.diagnostics.error(name, message::duplicate_stream(name));
            self.graph.streams[id.0].flow.tainted = true;
            // what the first one is used for cannot be told
            self.graph.streams[old.0].flow.tainted = true;
        }
        self.rebind(name, Meaning::Stream(id));
    }

    fn rebind(&mut self, name: &Ident, meaning: Meaning) {
        if let Some(Meaning::Stream(old)) = self.names.meaning(name) {
            self.graph.streams[old.0].shadowed = true;
        }
        self.names.bind(name, meaning);
    }

    /// A stream's name where it is used.
    pub fn use_of(&mut self, name: &Ident) -> Use {
        let stream = match self.names.resolve(name, &self.making) {
            Ok(stream) => stream,
            Err(why) => {
                self.report(name, why);
                self.new_stream(name.clone(), Origin::Nowhere, Flow::TAINTED, None)
            }
        };
        self.graph.streams[stream.0].uses.push(name.span());
        Use { stream, token: name.clone() }
    }

    /// Notes the streams that closures of an argument mention. The states of a process hide streams of their names.
    pub fn look_into_closures(&mut self, expr: &syn::Expr, operator: &str) {
        let states = declared(expr);
        for closure in free::Outside::of(expr).closures {
            for name in free::names(closure, &HashSet::new()) {
                if let Some(Meaning::Stream(_)) = self.names.meaning(&name)
                    && !states.contains(&name)
                {
                    self.graph.in_closures.push((name, operator.to_owned()));
                }
            }
        }
    }

    /// The body of a loop is made of operators, and uses the streams that it names up. What ends a stream has no place in it.
    pub fn look_into_body(&mut self, expr: &'a syn::Expr, operator: &str) {
        for closure in free::Outside::of(expr).closures {
            for name in free::names(closure, &HashSet::new()) {
                if let Some(Meaning::Stream(_)) = self.names.meaning(&name) {
                    let mut one = self.use_of(&name);
                    if self.graph.stream(one.stream).flow.shape == ops::Shape::Plain {
                        one = self.cut(one);
                    }
                    let (stream, operator) = (one.stream, operator.to_owned());
                    self.graph.in_bodies.push(InBody { body: expr, name, stream, operator });
                }
            }
        }
        let found = super::body::InABody::of(expr);
        for end in found.ends {
            self.diagnostics.error(&end, message::end_in_body(&end, operator));
        }
        for method in found.parts {
            self.diagnostics.error(&method, message::parted_in_body(&method, operator));
        }
        for (method, name, alone) in found.named {
            self.diagnostics.error(&name, message::named_in_body(&method, &name, alone));
        }
    }

    fn report(&mut self, name: &Ident, why: Unresolved) {
        self.graph.meant.push(self.names.suggestion(name).unwrap_or_else(|| name.to_string()));
        let message = match why {
            Unresolved::Broken => return,
            Unresolved::Cycle(path) => {
                let mut ring = path.clone();
                ring.sort();
                if self.cycles.contains(&ring) {
                    return;
                }
                self.cycles.push(ring);
                message::cycle(&path)
            }
            Unresolved::Later => message::used_before(name),
            Unresolved::Unknown if self.names.meaning(name) == Some(Meaning::Plain) => {
                message::not_a_stream(name)
            }
            Unresolved::Unknown => message::unknown_stream(name, self.names.suggestion(name).as_deref()),
        };
        self.diagnostics.error(name, message);
    }

    /// What the macro cannot follow, plain Rust and broken statements, counts as a use of every stream it names:
    /// none of them is "never consumed".
    pub fn mentioned_elsewhere(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Ident(word) => {
                    if let Some(Meaning::Stream(id)) = self.names.meaning(&word) {
                        self.graph.streams[id.0].elsewhere = true;
                    }
                }
                TokenTree::Group(group) => self.mentioned_elsewhere(group.stream()),
                _ => {}
            }
        }
    }
}

/// What the statements of a block bind.
fn declared(expr: &syn::Expr) -> Vec<Ident> {
    let syn::Expr::Block(block) = expr else { return Vec::new() };
    let locals = block.block.stmts.iter().filter_map(|statement| match statement {
        syn::Stmt::Local(local) => Some(crate::ast::names(&local.pat)),
        _ => None,
    });
    locals.flatten().collect()
}
