//! What operators write beside keys and values: which sections they have, and what stands in their pieces.
//!
//! Which operator it is stands in front of the schema, `sessions of string -> u64`; without one it is a table, an entry a key. The
//! formats are documented where they are written; here they are said so that anybody can walk over them.

use super::{Defs, Fields, Int, Node, text, type_of};

/// Which operator writes the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Table,
    Windows,
    SlidingWindows,
    CountWindows,
    TriggeredWindows,
    Sessions,
    Last,
    Process,
    BroadcastProcess,
    TimedJoin,
    LookupJoin,
    Join,
}

/// The words of each, and what its values are called where there are several.
const KINDS: &[(Kind, &str, &[&str])] = &[
    (Kind::Table, "", &[""]),
    (Kind::Windows, "windows", &[""]),
    (Kind::SlidingWindows, "sliding windows", &[""]),
    (Kind::CountWindows, "count windows", &[""]),
    (Kind::TriggeredWindows, "windows with a trigger", &[""]),
    (Kind::Sessions, "sessions", &[""]),
    (Kind::Last, "last records", &[""]),
    (Kind::Process, "process", &[""]),
    (Kind::BroadcastProcess, "process with a broadcast", &["", "shared"]),
    (Kind::TimedJoin, "join in time", &["left", "right"]),
    (Kind::LookupJoin, "lookup join", &["left", "right"]),
    (Kind::Join, "join", &["left", "right"]),
];

impl Kind {
    fn row(self) -> &'static (Kind, &'static str, &'static [&'static str]) {
        KINDS.iter().find(|row| row.0 == self).unwrap_or(&KINDS[0])
    }

    /// What its values are called.
    pub(crate) fn parts(self) -> &'static [&'static str] {
        self.row().2
    }

    /// The kind that a schema begins with, and what follows.
    pub(super) fn before(schema: &str) -> (Kind, &str) {
        let of = |row: &(Kind, &str, _)| {
            let rest = schema.strip_prefix(row.1)?.strip_prefix(" of ")?;
            Some((row.0, rest))
        };
        KINDS.iter().skip(1).find_map(of).unwrap_or((Kind::Table, schema))
    }

    /// A schema of this kind; of what has none there is none.
    pub(crate) fn of(self, schema: String) -> String {
        if schema.is_empty() { schema } else { format!("{} of {schema}", self.row().1) }
    }
}

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
        /// What is in the names of the sections, and in their headers; none where the name is empty.
        section: Option<(Node, Node)>,
        /// What the entries are called, if not by their key.
        part: &'static str,
        key: Node,
        value: Node,
    },
    /// What the head writes in one piece: its fields.
    Piece(Vec<(&'static str, Node)>),
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

fn list<const N: usize>(of: [(&str, Node); N]) -> Node {
    Node::List(Box::new(fields(of)))
}

fn rest<const N: usize>(of: [(&str, Node); N]) -> Node {
    Node::Rest(Box::new(fields(of)))
}

fn entries(section: Option<(Node, Node)>) -> Area {
    Area::Entries { section, part: "", key: KEY, value: ONE }
}

fn panes() -> Area {
    let long = || Node::Int(Int { signed: true, bits: 128 });
    let span = fields([("start", long()), ("length", long())]);
    entries(Some((span, fields([("fired", FLAG)]))))
}

fn process() -> Vec<(&'static str, Node)> {
    let timers = || list([("key", KEY), ("at", TIME), ("every", TIME)]);
    let states = list([("key", KEY), ("value", ONE)]);
    vec![("states", states), ("timers", timers()), ("processing timers", timers())]
}

fn timed() -> Node {
    let side = |value| list([("time", TIME), ("born", COUNT), ("matched", FLAG), ("value", value)]);
    rest([("key", KEY), ("left", side(ONE)), ("right", side(TWO))])
}

fn count_windows() -> Node {
    let open = list([("start", TIME), ("value", ONE)]);
    rest([("key", KEY), ("seen", COUNT), ("shown", COUNT), ("full", COUNT), ("last", TIME), ("open", open)])
}

fn triggered() -> Node {
    let open = list([
        ("start", LONG),
        ("end", LONG),
        ("due", LONG),
        ("early", LONG),
        ("clock", LONG),
        ("born", COUNT),
        ("unshown", COUNT),
        ("passed", FLAG),
        ("value", ONE),
    ]);
    rest([("key", KEY), ("open", open)])
}

fn sessions() -> Node {
    let open = list([("start", TIME), ("end", LONG), ("born", COUNT), ("fired", FLAG), ("value", ONE)]);
    rest([("key", KEY), ("open", open)])
}

fn lookup() -> Node {
    let rows = fields([("key", KEY), ("rights", Node::List(Box::new(TWO)))]);
    let waiting = fields([("key", KEY), ("time", TIME), ("left", ONE)]);
    Node::Rest(Box::new(Node::Tagged(vec![("rows", rows), ("waiting", waiting)])))
}

fn forever() -> Node {
    let side = |value| list([("until", TIME), ("time", TIME), ("value", value)]);
    rest([("key", KEY), ("left", side(ONE)), ("right", side(TWO))])
}

impl Kind {
    /// Which bytes it writes.
    pub(crate) fn layout(self) -> Layout {
        let piece = |name, node| vec![Area::Piece(vec![(name, node)])];
        let areas = match self {
            Kind::Table => vec![entries(None)],
            Kind::Windows => vec![panes()],
            Kind::SlidingWindows => {
                let next =
                    Area::Entries { section: None, part: "next", key: Node::Tuple(Vec::new()), value: LONG };
                vec![panes(), next]
            }
            Kind::CountWindows => piece("windows", count_windows()),
            Kind::TriggeredWindows => {
                vec![Area::Piece(vec![("reached", TIME), ("windows", triggered())])]
            }
            Kind::Sessions => piece("sessions", sessions()),
            Kind::Last => piece("records", rest([("key", KEY), ("value", ONE)])),
            Kind::Process => vec![Area::Piece(process())],
            Kind::BroadcastProcess => {
                let mut all = vec![("shared", Node::Option(Box::new(TWO)))];
                all.extend(process());
                vec![Area::Piece(all)]
            }
            Kind::TimedJoin => piece("rows", timed()),
            Kind::LookupJoin => piece("records", lookup()),
            Kind::Join => piece("rows", forever()),
        };
        Layout { areas }
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

    /// The layout with the types of this state in it.
    pub(crate) fn layout(&self) -> Layout {
        let mut layout = self.kind.layout();
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

    fn fill(&self, node: &mut Node) {
        match node {
            Node::Slot(slot) => *node = self.slot(*slot).clone(),
            Node::List(inner) | Node::Rest(inner) | Node::Option(inner) => self.fill(inner),
            Node::Struct(_, Fields::Named(fields)) => {
                fields.iter_mut().for_each(|field| self.fill(&mut field.1));
            }
            Node::Tagged(all) => all.iter_mut().for_each(|tag| self.fill(&mut tag.1)),
            _ => {}
        }
    }
}

/// The schema of a process's states, pairs in pairs, with their names; as it is where names are not known.
pub(crate) fn states_of(schema: String, names: &[String]) -> String {
    named(&schema, names).unwrap_or(schema)
}

fn named(schema: &str, names: &[String]) -> Option<String> {
    let (mut node, defs): (Node, Defs) = type_of(schema).ok()?;
    let mut fields = Vec::new();
    for name in names {
        // `name (how long it lives)`
        let name = name.split(" (").next().unwrap_or(name);
        let Node::Tuple(pair) = node else { return None };
        let [state, rest] = <[Node; 2]>::try_from(pair).ok()?;
        fields.push((name.to_owned(), state));
        node = rest;
    }
    (node == Node::Unit && !fields.is_empty()).then_some(())?;
    Some(text(&Node::Struct(String::new(), Fields::Named(fields)), &defs))
}
