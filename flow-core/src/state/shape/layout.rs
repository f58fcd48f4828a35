//! What operators write beside keys and values: which sections they have, and what stands in their pieces.
//!
//! Which operator it is stands in front of the schema, `sessions of string -> u64`; without one it is a table, an entry a key. The
//! formats are documented where they are written; here they are said so that anybody can walk over them.

use super::words::Kind;
use super::{Defs, Fields, Int, Node};
use crate::checkpoint::records::Part;
use crate::state::pages::PAGES;

/// A value of keyed state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Value {
    /// What it is called where there are several.
    pub name: &'static str,
    pub node: Node,
}

/// The keyed state of a stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct State {
    pub kind: Kind,
    /// Which windows they are, where that makes a difference.
    pub which: String,
    pub key: Node,
    pub values: Vec<Value>,
    pub defs: Defs,
}

/// Which bytes a key group has.
pub(crate) struct Layout {
    pub areas: Vec<Area>,
}

/// Some of them. Where a node says [`Node::Slot`], a key or value stands: 0 is the key, 1 the first value.
pub(crate) enum Area {
    /// Entries of the head's sections.
    Entries {
        section: Section,
        /// What the entries are called, if not by their key.
        part: &'static str,
        /// A key alone, or fields.
        key: Node,
        value: Node,
    },
    /// What the head writes in one piece: its fields.
    Piece(Vec<(&'static str, Node)>),
}

/// What the state is called that a function behind an operator keeps.
pub(super) const FUNCTION: &str = "function";

/// Which sections.
pub(crate) enum Section {
    /// The head's of this name.
    Named(&'static [u8]),
    /// That of what stands behind the head.
    Behind,
    /// Those whose names and headers are of these types, a section for each window.
    Windows { name: Box<Node>, header: Box<Node> },
}

const KEY: Node = Node::Slot(0);
const ONE: Node = Node::Slot(1);
const TWO: Node = Node::Slot(2);

const fn fixed(signed: bool, bits: u32) -> Node {
    Node::Fixed(Int { signed, bits })
}
const FLAG: Node = fixed(false, 8);
const COUNT: Node = fixed(false, 64);
const TIME: Node = fixed(true, 64);
const LONG: Node = fixed(true, 128);

fn fields<const N: usize>(fields: [(&str, Node); N]) -> Node {
    let named = fields.into_iter().map(|(name, node)| (name.to_owned(), node));
    Node::Struct(String::new(), Fields::Named(named.collect()))
}

fn rest<const N: usize>(of: [(&str, Node); N]) -> Node {
    Node::Rest(Box::new(fields(of)))
}

/// Entries in the section of this name.
fn entries(section: &'static [u8], part: &'static str, key: Node, value: Node) -> Area {
    Area::Entries { section: Section::Named(section), part, key, value }
}

/// A key of `KeySlots`, whose slot follows where it is one apart.
fn slotted() -> Node {
    fields([("key", KEY), ("slot", Node::Rest(Box::new(fixed(false, 32))))])
}

/// The key of what there is once.
fn once() -> Node {
    fields([])
}

fn panes() -> Area {
    let long = || Node::Int(Int { signed: true, bits: 128 });
    let (name, header) = (fields([("start", long()), ("length", long())]), fields([("fired", FLAG)]));
    Area::Entries {
        section: Section::Windows { name: name.into(), header: header.into() },
        part: "",
        key: KEY,
        value: ONE,
    }
}

fn process() -> Vec<Area> {
    let timer = || fields([("key", KEY), ("at", TIME), ("every", TIME)]);
    vec![
        entries(&[0], "", KEY, ONE),
        entries(&[1], "timers", timer(), COUNT),
        entries(&[2], "processing timers", timer(), COUNT),
        // What the elements are is said by the list whose pages they are.
        entries(PAGES, "pages", fields([("list", COUNT), ("page", COUNT)]), Node::Rest(Box::new(FLAG))),
    ]
}

/// Two sides, in each of which lie these before a value.
fn sides<const N: usize>(before: [(&'static str, Node); N]) -> Node {
    let side = |value| {
        let all = before.iter().cloned().chain([("value", value)]);
        let named = all.map(|(name, node)| (name.to_owned(), node)).collect();
        Node::List(Box::new(Node::Struct(String::new(), Fields::Named(named))))
    };
    fields([("left", side(ONE)), ("right", side(TWO))])
}

fn count_windows() -> Node {
    let open = rest([("start", TIME), ("value", ONE)]);
    fields([
        ("born", COUNT),
        ("seen", COUNT),
        ("shown", COUNT),
        ("full", COUNT),
        ("last", TIME),
        ("open", open),
    ])
}

fn triggered() -> Node {
    rest([
        ("start", LONG),
        ("end", LONG),
        ("due", LONG),
        ("early", LONG),
        ("clock", LONG),
        ("born", COUNT),
        ("unshown", COUNT),
        ("passed", FLAG),
        ("value", ONE),
    ])
}

fn sessions() -> Node {
    rest([("start", TIME), ("end", LONG), ("born", COUNT), ("fired", FLAG), ("value", ONE)])
}

impl Kind {
    /// Which bytes it writes.
    fn layout(self) -> Layout {
        let areas = match self {
            Kind::Table => vec![entries(&[], "", KEY, ONE)],
            Kind::Windows => vec![panes()],
            Kind::SlidingWindows => vec![panes(), entries(&[], "next", once(), LONG)],
            Kind::CountWindows => vec![entries(&[], "", KEY, count_windows())],
            Kind::TriggeredWindows => {
                vec![entries(&[0], "", slotted(), triggered()), entries(&[1], "reached", once(), TIME)]
            }
            Kind::Sessions => vec![entries(&[], "", slotted(), sessions())],
            Kind::Last => vec![entries(&[], "", KEY, ONE)],
            Kind::LastRows => vec![entries(&[], "", KEY, fields([("time", TIME), ("value", ONE)]))],
            Kind::Process => process(),
            Kind::BroadcastProcess => {
                let mut all = process();
                all.push(entries(&[3], "shared", once(), TWO));
                all
            }
            Kind::TimedJoin => {
                let sides = sides([("time", TIME), ("born", COUNT), ("matched", FLAG)]);
                vec![entries(&[], "", slotted(), sides)]
            }
            Kind::LookupJoin => {
                let waiting = fields([("key", KEY), ("time", TIME), ("left", ONE)]);
                vec![
                    entries(&[0], "", slotted(), Node::List(Box::new(TWO))),
                    entries(&[1], "waiting", fields([("number", COUNT)]), waiting),
                ]
            }
            Kind::Join => {
                let sides = sides([("until", TIME), ("time", TIME)]);
                vec![entries(&[], "", slotted(), sides)]
            }
            Kind::Total => vec![Area::Piece(vec![("total", Node::Option(Box::new(ONE)))])],
        };
        Layout { areas }
    }
}

impl Layout {
    /// Which of the areas a section is in, by its whole name; none for what is not the head's.
    pub(crate) fn area_of(&self, name: &[u8]) -> Option<usize> {
        let (part, name) = name.split_first()?;
        let is = |of: Part| *part == of as u8;
        let head = is(Part::Head);
        let is_named = |area: &Area| matches!(area, Area::Entries { section: Section::Named(known), .. } if head && *known == name);
        let is_other = |area: &Area| match area {
            Area::Entries { section: Section::Windows { .. }, .. } => head,
            Area::Entries { section: Section::Behind, .. } => is(Part::Behind) && name.is_empty(),
            Area::Entries { .. } => false,
            Area::Piece(_) => is(Part::Piece),
        };
        self.areas.iter().position(is_named).or_else(|| self.areas.iter().position(is_other))
    }
}

impl State {
    /// The type in a slot.
    pub(crate) fn slot(&self, slot: usize) -> &Node {
        match slot.checked_sub(1).and_then(|value| self.values.get(value)) {
            Some(value) => &value.node,
            None => &self.key,
        }
    }

    /// Which bytes it has.
    pub(crate) fn slots(&self) -> Layout {
        let mut layout = self.kind.layout();
        if let Some(function) = self.values.iter().position(|value| value.name == FUNCTION) {
            let (section, value) = (Section::Behind, Node::Slot(function + 1));
            layout.areas.push(Area::Entries { section, part: FUNCTION, key: KEY, value });
        }
        layout
    }

    /// The same with the types of this state in it.
    pub(crate) fn layout(&self) -> Layout {
        let mut layout = self.slots();
        self.fill_pages(&mut layout);
        for area in &mut layout.areas {
            match area {
                Area::Entries { key, value, .. } => {
                    self.fill(key);
                    self.fill(value);
                }
                Area::Piece(fields) => fields.iter_mut().for_each(|field| self.fill(&mut field.1)),
            }
        }
        layout
    }

    /// Where all lists are of one type, so are the elements of all pages.
    fn fill_pages(&self, layout: &mut Layout) {
        let mut lists = Vec::new();
        self.values.iter().for_each(|value| lists_in(&value.node, &mut lists));
        lists.dedup();
        for area in &mut layout.areas {
            if let (Area::Entries { section: Section::Named(PAGES), value, .. }, [one]) = (area, &lists[..]) {
                *value = (*one).clone();
            }
        }
    }

    fn fill(&self, node: &mut Node) {
        match node {
            Node::Slot(slot) => *node = self.slot(*slot).clone(),
            Node::List(inner) | Node::Rest(inner) | Node::Option(inner) => self.fill(inner),
            Node::Struct(_, Fields::Named(fields)) => {
                fields.iter_mut().for_each(|field| self.fill(&mut field.1));
            }
            _ => {}
        }
    }
}

/// The elements that stand in a `ListState` itself, if the type is one: those of its pages are of the same type.
pub(crate) fn list_of(node: &Node) -> Option<&Node> {
    let Node::Tuple(parts) = node else { return None };
    let [elements @ Node::Seq(element), Node::Option(header)] = &parts[..] else { return None };
    let (Node::Tuple(element), Node::Tuple(header)) = (&**element, &**header) else { return None };
    let int = |signed| Node::Int(Int { signed, bits: 64 });
    let [owner, first, end, length] = [const { false }; 4].map(int);
    let is_list = element.get(1) == Some(&int(true)) && element.len() == 2;
    (is_list && header[..] == [owner, first, end, length, int(true), Node::Bool]).then_some(elements)
}

/// The lists in a type, as [`list_of`] says.
pub(crate) fn lists_in<'a>(node: &'a Node, lists: &mut Vec<&'a Node>) {
    match list_of(node) {
        Some(list) => lists.push(list),
        None => match node {
            Node::Option(inner) | Node::Seq(inner) => lists_in(inner, lists),
            Node::Map(key, value) => [key, value].into_iter().for_each(|node| lists_in(node, lists)),
            Node::Tuple(nodes) => nodes.iter().for_each(|node| lists_in(node, lists)),
            Node::Struct(_, fields) => fields.nodes().into_iter().for_each(|node| lists_in(node, lists)),
            _ => {}
        },
    }
}
