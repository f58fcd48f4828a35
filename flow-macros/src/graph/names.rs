//! Which name means which stream, line by line, and what is wrong with one that means none.

use crate::ast::{Arg, Chain, Pipeline, Start, Statement};
use crate::graph::StreamId;
use proc_macro2::Ident;
use std::collections::HashMap;

/// What a name means at the line that is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Stream(StreamId),
    Plain,
    /// A broken statement binds it.
    Broken,
}

/// Why a name means no stream.
pub(super) enum Unresolved {
    /// It is made from itself: the names on the way round.
    Cycle(Vec<String>),
    /// It is declared further down.
    Later,
    /// Nobody declares it.
    Unknown,
    /// It is what a broken statement would have made.
    Broken,
}

/// The names of a body.
pub(super) struct Names {
    meanings: HashMap<String, Meaning>,
    /// Every stream `let` of the body: its name and the names it is made from.
    made_from: HashMap<String, Vec<String>>,
    /// A broken statement may have declared anything it mentions.
    any_broken: bool,
}

impl Names {
    pub fn new(ast: &Pipeline) -> Self {
        let params = ast.head.iter().flat_map(|head| &head.params);
        let meanings = params.map(|param| (param.to_string(), Meaning::Plain)).collect();
        let mut made_from: HashMap<String, Vec<String>> = HashMap::new();
        let mut any_broken = false;
        for statement in &ast.statements {
            match statement {
                Statement::Stream(line) => {
                    let sources = mentioned(&line.chain);
                    for name in line.binding.names() {
                        made_from.entry(name.to_string()).or_insert_with(|| sources.clone());
                    }
                }
                Statement::Broken(_) => any_broken = true,
                Statement::Plain(_) => {}
            }
        }
        Names { meanings, made_from, any_broken }
    }

    pub fn bind(&mut self, name: &Ident, meaning: Meaning) {
        self.meanings.insert(name.to_string(), meaning);
    }

    pub fn meaning(&self, name: &Ident) -> Option<Meaning> {
        self.meanings.get(&name.to_string()).copied()
    }

    /// `making` are the names the line binds.
    pub fn resolve(&self, name: &Ident, making: &[String]) -> Result<StreamId, Unresolved> {
        match self.meaning(name) {
            Some(Meaning::Stream(id)) => return Ok(id),
            Some(Meaning::Broken) => return Err(Unresolved::Broken),
            Some(Meaning::Plain) | None => {}
        }
        let text = name.to_string();
        if !self.made_from.contains_key(&text) {
            return Err(if self.any_broken && self.suggestion(name).is_none() {
                Unresolved::Broken
            } else {
                Unresolved::Unknown
            });
        }
        match making.iter().find_map(|target| self.path(&text, target, &mut Vec::new())) {
            Some(path) => Err(Unresolved::Cycle(path)),
            None => Err(Unresolved::Later),
        }
    }

    /// The names from `from` back to `to`, if `from` is made from it.
    fn path(&self, from: &str, to: &str, seen: &mut Vec<String>) -> Option<Vec<String>> {
        seen.push(from.to_owned());
        if from == to {
            return Some(seen.clone());
        }
        for next in self.made_from.get(from)? {
            if !seen.contains(next)
                && let Some(path) = self.path(next, to, seen)
            {
                return Some(path);
            }
        }
        seen.pop();
        None
    }

    /// The stream that was meant.
    pub fn suggestion(&self, name: &Ident) -> Option<String> {
        let streams = self.made_from.keys().map(String::as_str);
        crate::suggest::closest(&name.to_string(), streams).map(str::to_owned)
    }
}

/// The names a chain takes streams from.
fn mentioned(chain: &Chain) -> Vec<String> {
    let args = |args: &[Arg]| -> Vec<String> {
        let streams = args.iter().filter_map(|arg| match arg {
            Arg::Stream(chain) => Some(mentioned(chain)),
            Arg::Value(_) => None,
        });
        streams.flatten().collect()
    };
    let mut names = match &chain.start {
        Start::Stream(name) => vec![name.to_string()],
        Start::Function { args: given, .. } => args(given),
        Start::Source(_) | Start::Opaque(_) => Vec::new(),
    };
    names.extend(chain.calls.iter().flat_map(|call| args(&call.args)));
    names
}
