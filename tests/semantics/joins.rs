//! Joins of a case's two inputs, the left one first: `join left tumbling 2`, `join group session 2 lateness 5 late side`,
//! `join full within -2 1 above late side` (above the lower bound, `below` the upper one), `join left as_of`, `join inner lookup`,
//! `join inner forever ttl 5`.

use crate::case::{El, number};
use crate::mode::ScriptKind;
use crate::pipeline::{Elements, Probe};
use flow_core::join::form::Grouping;
use flow_core::join::form::Leading;
use flow_core::join::joined::SideEnds;
use flow_core::join::windows::JoinWindow;
use flow_core::join::{Form, Joined};
use flow_core::op::{Chain, Forked};
use flow_core::prelude::*;
use flow_core::window::aggregate::{fail, side};
use flow_core::window::spec::{Closing, Over};

/// The key of an element: `nothing/a@5` has none.
type Key = Option<String>;

/// How an element, or what there is instead, is written.
trait Shown {
    fn shown(&self) -> String;
}
impl Shown for El {
    fn shown(&self) -> String {
        self.name.clone()
    }
}
impl Shown for Option<El> {
    fn shown(&self) -> String {
        self.as_ref().map_or("-".into(), El::shown)
    }
}
impl Shown for Vec<El> {
    fn shown(&self) -> String {
        if self.is_empty() {
            return "-".into();
        }
        self.iter().map(El::shown).collect::<Vec<_>>().join(",")
    }
}
impl<A: Shown, B: Shown> Shown for (A, B) {
    fn shown(&self) -> String {
        format!("{}+{}", self.0.shown(), self.1.shown())
    }
}

fn key(el: &El) -> Key {
    (el.key != "nothing").then(|| el.key.clone())
}

/// A row as an element, in the window that it has.
fn row<V: Shown>(key: Key, value: &V, window: Option<(i64, i64)>) -> El {
    El { key: key.unwrap_or_else(|| "nothing".into()), name: value.shown(), time: 0, window }
}

/// A row that says what it is.
trait Row: Send + 'static {
    fn element(self) -> El;
}
impl<V: Shown + Send + 'static> Row for Windowed<Key, V> {
    fn element(self) -> El {
        row(self.key, &self.value, Some((self.start.0, self.end.0)))
    }
}
impl<V: Shown + Send + 'static> Row for (Key, V) {
    fn element(self) -> El {
        row(self.0, &self.1, None)
    }
}

pub fn join(job: &mut Job, left: Elements, right: Elements, words: &[&str], probe: &Probe) -> Elements {
    let (left, right) = (left.key_by(key), right.key_by(key));
    match words[1] {
        "inner" if words[2] == "forever" => {
            let rows = left.join(right).forever();
            match option(words, "ttl") {
                Some(ttl) => rows.ttl(Millis(number(ttl))).map(Row::element).boxed(),
                None => rows.map(Row::element).boxed(),
            }
        }
        "inner" => leading(job, left.join(right), words, probe),
        "left" => leading(job, left.left_join(right), words, probe),
        "right" => closed(job, left.right_join(right), words, probe),
        "full" => closed(job, left.full_join(right), words, probe),
        "group" => by_window(job, left.co_group(right), words, probe),
        other => panic!("`{other}` is not a join"),
    }
}

fn leading<F, E>(
    job: &mut Job,
    joined: Joined<Key, El, El, ScriptKind, ScriptKind, F, E>,
    words: &[&str],
    probe: &Probe,
) -> Elements
where
    F: Leading<El, El, Out: Shown + Send> + Grouping<El, El, Out: Shown + Send>,
    E: SideEnds,
{
    match words[2] {
        "as_of" => {}
        "lookup" => return joined.lookup().map(Row::element).boxed(),
        _ => return closed(job, joined, words, probe),
    }
    let rows = joined.as_of();
    match option(words, "late").unwrap_or("drop") {
        "drop" => rows.map(Row::element).boxed(),
        "fail" => rows.late(fail).map(Row::element).boxed(),
        _ => fork(job, rows.late(side), probe),
    }
}

fn closed<F, E>(
    job: &mut Job,
    joined: Joined<Key, El, El, ScriptKind, ScriptKind, F, E>,
    words: &[&str],
    probe: &Probe,
) -> Elements
where
    F: Form<El, El, Out: Shown + Send> + Grouping<El, El, Out: Shown + Send>,
    E: SideEnds,
{
    if words[2] != "within" {
        return by_window(job, joined, words, probe);
    }
    let rows = joined.within(Millis(number(words[3])), Millis(number(words[4])));
    let rows =
        rows.lower_bound_exclusive(words.contains(&"above")).upper_bound_exclusive(words.contains(&"below"));
    match option(words, "late").unwrap_or("drop") {
        "drop" => rows.map(Row::element).boxed(),
        "fail" => rows.late(fail).map(Row::element).boxed(),
        _ => fork(job, rows.late(side), probe),
    }
}

fn option<'a>(words: &[&'a str], name: &str) -> Option<&'a str> {
    words.iter().position(|w| *w == name).map(|at| words[at + 1])
}

fn by_window<F, E>(
    job: &mut Job,
    joined: Joined<Key, El, El, ScriptKind, ScriptKind, F, E>,
    words: &[&str],
    probe: &Probe,
) -> Elements
where
    F: Grouping<El, El, Out: Shown + Send>,
    E: SideEnds,
{
    let length = |name| Millis(option(words, name).map_or(0, number));
    match words[2] {
        "tumbling" => {
            in_window(job, joined, tumbling(length("tumbling")).offset(length("offset")), words, probe)
        }
        "sliding" => {
            let windows = sliding(length("sliding"), Millis(number(words[4]))).gaps(words.contains(&"gaps"));
            in_window(job, joined, windows, words, probe)
        }
        "session" => in_window(job, joined, session(length("session")), words, probe),
        "global" => in_window(job, joined, global(), words, probe),
        other => panic!("`{other}` is not a window of a join"),
    }
}

fn in_window<F, W, E>(
    job: &mut Job,
    joined: Joined<Key, El, El, ScriptKind, ScriptKind, F, E>,
    window: W,
    words: &[&str],
    probe: &Probe,
) -> Elements
where
    F: Grouping<El, El, Out: Shown + Send>,
    W: JoinWindow + Over<ScriptKind> + Closing<ScriptKind>,
    E: SideEnds,
{
    let rows = joined.window(window).lateness(Millis(option(words, "lateness").map_or(0, number)));
    match option(words, "late").unwrap_or("drop") {
        // Sessions that become one have their records in another order than that of arrival.
        "drop" if words.contains(&"sorted") => rows.map(|row| sorted(row.element())).boxed(),
        "drop" => rows.map(Row::element).boxed(),
        "fail" => rows.late(fail).map(Row::element).boxed(),
        "side" => fork(job, rows.late(side), probe),
        other => panic!("`{other}` is not what becomes of late elements"),
    }
}

/// The elements of each side by name.
fn sorted(mut row: El) -> El {
    let by_name = |names: &str| {
        let mut names: Vec<&str> = names.split(',').collect();
        names.sort_unstable();
        names.join(",")
    };
    row.name = row.name.split('+').map(by_name).collect::<Vec<_>>().join("+");
    row
}

/// Rows go on, late elements to the side's place.
fn fork<T: Row, C>(job: &mut Job, rows: Forked<Either<T, Late>, ScriptKind, C>, probe: &Probe) -> Elements
where
    C: Chain<Out = Either<T, Late>, Stamp = Timestamp>,
{
    let (on_time, late) = rows.roots();
    let (end, on_time) = on_time.map(Row::element).cut();
    let late = late.map(|late| match late.value {
        Either::A(el) => format!("left {el} by {}", late.late_by.0),
        Either::B(el) => format!("right {el} by {}", late.late_by.0),
    });
    job.add(rows.fork((end, late.sink(probe.late.clone()))));
    on_time.boxed()
}

type Late = flow_core::window::Late<Either<El, El>>;
