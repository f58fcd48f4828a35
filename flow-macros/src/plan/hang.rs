//! Where each end of the pipeline hangs.
//!
//! A chain ends in a terminal. If the chain began at a source, the job gets the terminal. If it began at a stream
//! that is used more than once, the terminal hangs on that stream: `stream.tee(|o| o.both(t1, t2))` is the terminal
//! of all of them, and hangs where the stream's own chain began. Streams that come out of one operator (`late =
//! side`, `split`) hang on it likewise: `whole.fork((t1, t2))`. Behind a fan-in a stream is a root of its own.

use super::{Closing, SideEnd, emitted_name};
use crate::graph::{Graph, Origin, SegmentId, Start, StreamId};
use proc_macro2::{Ident, Span};
use std::collections::HashMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Anchor {
    Job,
    /// A stream that is used more than once.
    Tee(StreamId),
    /// One of several streams of an operator.
    Side(StreamId),
}

/// An anchor, and the segment in which the branch that hangs on it began: branches keep the order of the text.
type Branch = (Anchor, SegmentId);

/// Collects the terminals.
pub(super) struct Ends<'g, 'a> {
    graph: &'g Graph<'a>,
    hanging: HashMap<Anchor, Vec<(SegmentId, Ident)>>,
    forks: HashMap<SegmentId, (Ident, Vec<StreamId>)>,
    count: usize,
}

impl<'g, 'a> Ends<'g, 'a> {
    pub fn new(graph: &'g Graph<'a>) -> Self {
        Ends { graph, hanging: HashMap::new(), forks: HashMap::new(), count: 0 }
    }

    /// A new terminal at the end of a segment.
    pub fn hang_segment(&mut self, id: SegmentId) -> Ident {
        let (at, name) = (self.graph.segment(id).at, self.next());
        self.hang(self.branch(id), &format!("__end_{name}"), at)
    }

    /// A new terminal at a use of a stream.
    pub fn hang_use(&mut self, by: SegmentId, stream: StreamId) -> Ident {
        let (at, name) = (self.graph.segment(by).at, self.next());
        self.hang(self.branch_of(stream, by), &format!("__end_{name}"), at)
    }

    /// Several streams at the end of a segment: the name of what they come from.
    pub fn fork(&mut self, id: SegmentId, sides: &[StreamId]) -> Ident {
        let at = self.graph.segment(id).at;
        let first = sides.first().map_or_else(String::new, |side| self.graph.stream(*side).name.to_string());
        let whole = glue(&format!("__{}_and_sides", first.trim_start_matches('_')), at);
        self.forks.insert(id, (whole.clone(), sides.to_vec()));
        whole
    }

    fn hang(&mut self, (anchor, by): Branch, name: &str, at: Span) -> Ident {
        let name = glue(name, at);
        self.hanging.entry(anchor).or_default().push((by, name.clone()));
        name
    }

    fn next(&mut self) -> usize {
        self.count += 1;
        self.count
    }

    /// Where the end of a segment hangs.
    fn branch(&self, id: SegmentId) -> Branch {
        let segment = self.graph.segment(id);
        match (&segment.start, segment.inputs().as_slice()) {
            (Start::Stream(one), _) => self.branch_of(one.stream, id),
            (Start::Function { .. }, [one]) => self.branch_of(one.stream, id),
            _ => (Anchor::Job, id),
        }
    }

    /// Where a chain hangs that uses a stream.
    fn branch_of(&self, stream: StreamId, by: SegmentId) -> Branch {
        if self.graph.stream(stream).uses.len() > 1 {
            return (Anchor::Tee(stream), by);
        }
        self.below(stream, by)
    }

    /// Where a stream itself hangs.
    fn below(&self, stream: StreamId, by: SegmentId) -> Branch {
        match self.graph.stream(stream).made_by {
            Origin::Chain(segment) => self.branch(segment),
            Origin::Side(_) => (Anchor::Side(stream), by),
            Origin::Root(_) | Origin::Nowhere => (Anchor::Job, by),
        }
    }

    /// The lines that put the terminals together, and what is left for the job.
    pub fn close(mut self) -> (Vec<Closing>, Vec<Ident>) {
        let mut closing = Vec::new();
        // a branch comes after what it hangs on: from the last stream to the first every terminal is there in time
        for index in (0..self.graph.segments.len()).rev() {
            let id = SegmentId(index);
            let made = (0..self.graph.streams.len())
                .rev()
                .map(StreamId)
                .filter(|stream| self.made_by(*stream) == Some(id));
            for stream in made.collect::<Vec<_>>() {
                closing.extend(self.tee(stream));
            }
            closing.extend(self.close_fork(id));
        }
        let adds = self.taken(Anchor::Job);
        (closing, adds)
    }

    fn made_by(&self, stream: StreamId) -> Option<SegmentId> {
        match self.graph.stream(stream).made_by {
            Origin::Chain(id) | Origin::Side(id) | Origin::Root(id) => Some(id),
            Origin::Nowhere => None,
        }
    }

    fn tee(&mut self, id: StreamId) -> Option<Closing> {
        let terminals = self.taken(Anchor::Tee(id));
        if terminals.is_empty() {
            return None;
        }
        let stream = self.graph.stream(id);
        let by = self.made_by(id)?;
        let emitted = emitted_name(self.graph, id);
        let text = format!("__{}_and_uses", emitted.to_string().trim_start_matches('_'));
        let name = self.hang(self.below(id, by), &text, stream.name.span());
        Some(Closing::Tee { name, stream: emitted, terminals })
    }

    fn close_fork(&mut self, id: SegmentId) -> Option<Closing> {
        let (whole, sides) = self.forks.remove(&id)?;
        let graph = self.graph;
        let sides = sides.into_iter().map(|side| match self.taken(Anchor::Side(side)).pop() {
            Some(terminal) => SideEnd::Terminal(terminal),
            None => SideEnd::Ignored(emitted_name(graph, side)),
        });
        let sides = sides.collect();
        let name = self.next();
        let name = self.hang(self.branch(id), &format!("__end_{name}"), whole.span());
        Some(Closing::Fork { name, whole, sides })
    }

    fn taken(&mut self, anchor: Anchor) -> Vec<Ident> {
        let mut terminals = self.hanging.remove(&anchor).unwrap_or_default();
        terminals.sort_by_key(|(by, _)| *by);
        terminals.into_iter().map(|(_, name)| name).collect()
    }
}

/// A name of the generated code: no text of the user's can see it.
fn glue(name: &str, at: Span) -> Ident {
    Ident::new(name, at.resolved_at(Span::mixed_site()))
}
