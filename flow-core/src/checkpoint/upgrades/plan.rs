//! Which conversions lead from the types of a checkpoint to those of now.

use super::{Convert, Known, Type, Upgrades, inner_name, type_text};
use crate::state::shape::{Defs, Fields, Node, State, list_of, lists_in, same};
use std::borrow::Cow;

/// What is done with a value.
pub(super) enum Plan {
    /// It is as it was.
    Same,
    /// It goes through these, one after the other.
    Convert(Vec<Convert>),
    /// This is done with what is inside: one for all elements, or for each field.
    Inside(Vec<Plan>),
    /// A list as it was before there were pages: this is done with its elements, and it has none.
    Unpaged(Box<Plan>),
}

impl Plan {
    /// Whether lists in a value of this type, which may have pages, are other ones behind it.
    pub fn changes_lists(&self, node: &Node) -> bool {
        match self {
            Plan::Same | Plan::Unpaged(_) => false,
            Plan::Inside(plans) if list_of(node).is_none() => {
                let all = inside(node).into_iter().zip(plans);
                all.into_iter().any(|(node, plan)| plan.changes_lists(node))
            }
            Plan::Inside(_) | Plan::Convert(_) => {
                let mut lists = Vec::new();
                lists_in(node, &mut lists);
                !lists.is_empty()
            }
        }
    }
}

/// A type with the enums it is read by.
type In<'a> = (&'a Node, &'a Defs);

/// A place in the state of a stage that has a name.
pub(super) struct Place<'a> {
    /// What it can be called, from what it is in to itself.
    names: Vec<String>,
    of: (Cow<'a, Node>, &'a Defs),
}

impl Place<'_> {
    /// Whether an upgrade of this name is of the state here.
    pub fn is_of(&self, name: &str) -> bool {
        names_are(&self.names, name)
    }

    /// Whether a type is somewhere in it.
    pub fn has(&self, of: &Type) -> bool {
        has((&self.of.0, self.of.1), of)
    }
}

/// `a/process` is called so, and `a`.
fn names_are(names: &[String], name: &str) -> bool {
    names
        .iter()
        .any(|known| known == name || known.strip_prefix(name).is_some_and(|rest| rest.starts_with('/')))
}

fn has((node, defs): In<'_>, of: &Type) -> bool {
    same((node, defs), (&of.0, &of.1), true) || inside(node).into_iter().any(|inner| has((inner, defs), of))
}

/// What is inside a type, where conversions are looked for.
fn inside(node: &Node) -> Vec<&Node> {
    match node {
        Node::Option(inner) | Node::Seq(inner) | Node::Map(_, inner) => vec![inner],
        Node::Tuple(nodes) => nodes.iter().collect(),
        Node::Struct(_, fields) => fields.nodes(),
        _ => Vec::new(),
    }
}

/// The states of a process, by name.
fn states(node: &Node) -> Option<&[(String, Node)]> {
    match node {
        Node::Struct(name, Fields::Named(fields)) if name.is_empty() => Some(fields),
        _ => None,
    }
}

/// The states of a process as one value: the bytes are those of a tuple.
fn together(states: &[(String, Node)]) -> Node {
    Node::Tuple(states.iter().map(|state| state.1.clone()).collect())
}

/// The places of a stage's state.
pub(super) fn places<'a>(id: &str, state: &'a State) -> Vec<Place<'a>> {
    let mut all = Vec::new();
    for value in &state.values {
        let mut names = vec![id.to_owned()];
        if !value.name.is_empty() {
            names.push(inner_name(id, value.name));
        }
        match states(&value.node) {
            Some(states) => {
                all.extend(states.iter().map(|(name, node)| {
                    let names = names.iter().cloned().chain([inner_name(id, name)]).collect();
                    Place { names, of: (Cow::Borrowed(node), &state.defs) }
                }));
                all.push(Place { names, of: (Cow::Owned(together(states)), &state.defs) });
            }
            None => all.push(Place { names, of: (Cow::Borrowed(&value.node), &state.defs) }),
        }
    }
    all
}

/// What is done with each value of a stage's state.
///
/// # Errors
/// What stands in the way, in words.
pub(super) fn plans(
    upgrades: &Upgrades,
    id: &str,
    old: &State,
    new: &State,
) -> Result<Vec<Plan>, Vec<String>> {
    let both = old.values.iter().zip(&new.values);
    let plan = |(was, is): (&crate::state::shape::Value, &crate::state::shape::Value)| {
        let mut names = vec![id.to_owned()];
        if !was.name.is_empty() {
            names.push(inner_name(id, was.name));
        }
        let mut search = Search { upgrades, id, names };
        search.plan((&was.node, &old.defs), (&is.node, &new.defs))
    };
    both.map(plan).collect()
}

struct Search<'a> {
    upgrades: &'a Upgrades,
    id: &'a str,
    /// What the place that is looked at can be called.
    names: Vec<String>,
}

type Planned = Result<Plan, Vec<String>>;

impl Search<'_> {
    fn plan(&mut self, old: In<'_>, new: In<'_>) -> Planned {
        if same(old, new, true) {
            return Ok(Plan::Same);
        }
        let mut led = Vec::new();
        if let Some(chain) = self.chain(old, new, &mut led) {
            return Ok(Plan::Convert(chain));
        }
        let (od, nd) = (old.1, new.1);
        if let (Node::Seq(_), Some(elements)) = (old.0, list_of(new.0)) {
            return Ok(Plan::Unpaged(Box::new(self.plan(old, (elements, nd))?)));
        }
        let one =
            |search: &mut Self, a: &Node, b: &Node| Ok(Plan::Inside(vec![search.plan((a, od), (b, nd))?]));
        let inner = match (old.0, new.0) {
            (Node::Option(a), Node::Option(b)) | (Node::Seq(a), Node::Seq(b)) => one(self, a, b),
            (Node::Map(k, a), Node::Map(l, b)) if same((k, od), (l, nd), true) => one(self, a, b),
            (Node::Tuple(a), Node::Tuple(b)) => {
                self.all(a.iter().zip(b), (od, nd), a.len() == b.len(), (old, new))
            }
            (Node::Struct(n, a), Node::Struct(m, b)) if n == m => {
                if let (Some(a), Some(b)) = (states(old.0), states(new.0)) {
                    return self.states(a, b, (od, nd));
                }
                let fits = std::mem::discriminant(a) == std::mem::discriminant(b)
                    && field_names(a).eq(field_names(b));
                let (a, b) = (a.nodes(), b.nodes());
                self.all(
                    a.iter().copied().zip(b.iter().copied()),
                    (od, nd),
                    fits && a.len() == b.len(),
                    (old, new),
                )
            }
            _ => Err(vec![differ(old, new)]),
        };
        inner.map_err(|notes| if led.is_empty() { notes } else { led })
    }

    fn all<'n>(
        &mut self,
        both: impl Iterator<Item = (&'n Node, &'n Node)>,
        (od, nd): (&Defs, &Defs),
        fits: bool,
        whole: (In<'_>, In<'_>),
    ) -> Planned {
        if !fits {
            return Err(vec![differ(whole.0, whole.1)]);
        }
        let plans = both.map(|(a, b)| self.plan((a, od), (b, nd))).collect::<Result<_, _>>()?;
        Ok(Plan::Inside(plans))
    }

    /// The states of a process, each by its name.
    fn states(&mut self, a: &[(String, Node)], b: &[(String, Node)], (od, nd): (&Defs, &Defs)) -> Planned {
        let mut led = Vec::new();
        if let Some(chain) = self.chain((&together(a), od), (&together(b), nd), &mut led) {
            return Ok(Plan::Convert(chain));
        }
        if !a.iter().map(|state| &state.0).eq(b.iter().map(|state| &state.0)) {
            let names = |states: &[(String, Node)]| {
                let names: Vec<String> = states.iter().map(|state| format!("`{}`", state.0)).collect();
                names.join(", ")
            };
            let what = format!("its states were {} and are {} now", names(a), names(b));
            let how = "where states come and go, an upgrade of the operator takes all of them as a tuple, in the order in which they are declared, and gives those of now";
            led.extend([what, how.into()]);
            return Err(led);
        }
        let mut plans = Vec::new();
        for ((name, a), (_, b)) in a.iter().zip(b) {
            self.names.push(inner_name(self.id, name));
            let plan = self.plan((a, od), (b, nd));
            self.names.pop();
            plans.push(plan?);
        }
        Ok(Plan::Inside(plans))
    }

    /// Conversions from one type to another; or where those that there are have led.
    fn chain(&self, old: In<'_>, new: In<'_>, led: &mut Vec<String>) -> Option<Vec<Convert>> {
        let of_here: Vec<_> =
            self.upgrades.0.iter().filter(|known| names_are(&self.names, &known.of)).collect();
        let (mut chain, mut used, mut current) = (Vec::new(), Vec::<&Known>::new(), old);
        loop {
            let from = |names| {
                let fits = |known: &&&Known| {
                    same((&known.old.0, &known.old.1), current, names)
                        && !used.iter().any(|other| std::ptr::eq(*other, **known))
                };
                // What is of one state of a process goes before what is of all.
                of_here.iter().filter(fits).max_by_key(|known| known.of.len()).copied()
            };
            // Types of then have other names in the program of now; where one has the name that it had, it is that.
            let Some(next) = from(true).or_else(|| from(false)) else { break };
            used.push(next);
            chain.push(std::sync::Arc::clone(&next.convert));
            current = (&next.new.0, &next.new.1);
            if same(current, new, true) {
                return Some(chain);
            }
        }
        if let Some(last) = used.last() {
            led.push(format!(
                "the upgrades from `{}` lead to `{}`, and not to `{}`",
                type_text(old),
                last.texts.1,
                type_text(new)
            ));
        }
        None
    }
}

fn field_names(fields: &Fields) -> impl Iterator<Item = &String> {
    let named = match fields {
        Fields::Named(fields) => &fields[..],
        _ => &[],
    };
    named.iter().map(|field| &field.0)
}

fn differ(old: In<'_>, new: In<'_>) -> String {
    format!("no upgrade leads from `{}` to `{}`", type_text(old), type_text(new))
}
