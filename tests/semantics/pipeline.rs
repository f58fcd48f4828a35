//! Pipelines from the words of a case: each step takes a boxed stream and gives one.

use crate::aggregates::{aligned, counted, sessions, whole};
use crate::case::{Arrival, Case, El, number};
use crate::mode::{ScriptKind, World, script};
use crate::rows::Rows;
use crate::strategies::{STRATEGIES, timed};
use flow_core::op::boxed::{Boxed, NoRoot};
use flow_core::op::operator::{OpError, Operator};
use flow_core::prelude::*;
use flow_core::testing::{Step, scripts};
use flow_core::window::aggregate::WindowedStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// What flows between two steps.
pub type Elements = Stream<El, ScriptKind, Boxed<El, Timestamp, NoRoot>>;

/// What a run shows of itself, and what its inputs wait for.
#[derive(Clone)]
pub struct Probe {
    pub rows: Rows,
    pub late: Rows,
    pub seen: Arc<AtomicUsize>,
    /// An input that waited for n rows found more.
    pub surplus: Arc<AtomicBool>,
    /// What lies outside the job.
    pub world: World,
}

impl Probe {
    pub fn new(stamps: bool) -> Self {
        Probe {
            rows: Rows::new(stamps),
            late: Rows::new(stamps),
            seen: Arc::default(),
            surplus: Arc::default(),
            world: World::new(),
        }
    }

    fn step(&self, at: (usize, usize), arrival: &Arrival) -> Step<El> {
        match arrival {
            Arrival::Item(el) => Step::Item(el.clone(), Timestamp(el.time)),
            Arrival::Watermark(w) => Step::Watermark(Timestamp(*w)),
            Arrival::Idle => Step::Idle,
            Arrival::Checkpoint | Arrival::Savepoint | Arrival::Crash => self.world.step(at, arrival),
            Arrival::Seen(n) => {
                let (seen, n) = (Arc::clone(&self.seen), *n);
                Step::Until(Arc::new(move || seen.load(Ordering::SeqCst) >= n))
            }
            Arrival::Rows(n) => {
                let (rows, surplus, n) = (self.rows.clone(), Arc::clone(&self.surplus), *n);
                Step::Until(Arc::new(move || {
                    let left = rows.left();
                    surplus.fetch_or(left > n, Ordering::SeqCst);
                    left >= n
                }))
            }
        }
    }

    fn script(&self, n: usize, input: &[Arrival]) -> Vec<Step<El>> {
        let step =
            |(at, arrival)| [self.step((n, at), arrival)].into_iter().chain(self.world.behind((n, at)));
        input.iter().enumerate().flat_map(step).collect()
    }
}

/// Whether a step takes two streams.
fn is_of_two(words: &[String]) -> bool {
    matches!(words[0].as_str(), "join" | "beside" | "least")
}

/// Puts the pipeline of `case` into `job`.
pub fn build(job: &mut Job, case: &Case, probe: &Probe) {
    let partitions: Vec<_> =
        case.inputs.iter().enumerate().map(|(n, input)| probe.script(n, input)).collect();
    let of_two = case.steps.iter().find(|words| is_of_two(words));
    let mut stream = if let Some(words) = of_two {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let [left, right] = &partitions[..] else { panic!("{}: `{}` has two inputs", case.id, words[0]) };
        let mut side = |steps: &Vec<Step<El>>, last| {
            let mut stream = seen(timed(script(scripts([steps.clone()])).boxed(), case, last), probe);
            for words in case.steps.iter().take_while(|words| !is_of_two(words)) {
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                stream = step(job, stream, &words, probe);
            }
            stream
        };
        let (left, right) = (side(left, false), side(right, true));
        match words[0] {
            "join" => crate::joins::join(job, left, right, &words, probe),
            "least" => crate::loops::least(left, right),
            _ => crate::beside::beside(job, left, right, probe),
        }
    } else if case.has("union") {
        let last = partitions.len() - 1;
        let each = partitions.into_iter().enumerate();
        let mut each = each.map(|(i, steps)| timed(script(scripts([steps])).boxed(), case, i == last));
        let first = each.next().expect("a union has inputs");
        each.fold(first, |all, next| all.union(next).boxed())
    } else {
        timed(script(scripts(partitions)).boxed(), case, true)
    };
    if of_two.is_none() {
        stream = seen(stream, probe);
    }
    // Steps before a join are those of each of its sides.
    let behind = case.steps.iter().position(|words| is_of_two(words)).map_or(0, |at| at + 1);
    for words in &case.steps[behind..] {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        stream = step(job, stream, &words, probe);
    }
    probe.world.end(job, stream, &probe.rows);
}

/// Counts what passes the pipeline's beginning.
fn seen(stream: Elements, probe: &Probe) -> Elements {
    stream.apply(Seen { all: Arc::clone(&probe.seen), here: 0 }).boxed()
}

/// It counts from where a checkpoint was: what came behind it has not been seen.
#[derive(Clone)]
struct Seen {
    all: Arc<AtomicUsize>,
    here: usize,
}

impl Operator<El> for Seen {
    type Out = El;
    const FALLIBLE: bool = false;
    const KEEPS: bool = true;
    fn name(&self) -> &'static str {
        "seen"
    }
    fn item<O: FnMut(El)>(&mut self, el: El, out: &mut O) -> std::result::Result<(), OpError> {
        self.here += 1;
        self.all.fetch_add(1, Ordering::SeqCst);
        out(el);
        Ok(())
    }
    fn save(&self, out: &mut Vec<u8>) {
        out.extend(self.here.to_le_bytes());
    }
    fn restore(&mut self, states: Vec<Vec<u8>>) -> std::result::Result<(), OpError> {
        for state in states {
            self.here += usize::from_le_bytes(state.try_into().map_err(|_| "not a number")?);
        }
        self.all.fetch_add(self.here, Ordering::SeqCst);
        Ok(())
    }
}

fn step(job: &mut Job, stream: Elements, words: &[&str], probe: &Probe) -> Elements {
    let n = || u64::try_from(number(words[1])).expect("a count");
    match words[0] {
        "union" | "join" | "beside" | "stamps" => stream,
        strategy if STRATEGIES.contains(&strategy) => stream,
        "take" => stream.take(n()).boxed(),
        "skip" => stream.skip(n()).boxed(),
        "even" => stream.filter(|el| el.number().is_some_and(|n| n % 2 == 0)).boxed(),
        "twice" => stream.flat_map(|el| [el.clone(), el]).boxed(),
        "boundary" => stream.boundary().boxed(),
        "slow" => stream.inspect(|_| std::thread::sleep(std::time::Duration::from_micros(50))).boxed(),
        "rebalance" => stream.rebalance().boxed(),
        "split" => split(job, stream, probe),
        "distinct" => stream.map(|el| el.name).distinct().map(named).boxed(),
        "floats" => floats(stream),
        "lists" => lists(stream),
        "grow" => crate::loops::grow(stream, number(words[1])),
        "timers" => crate::timers::timers(stream),
        "dead" => crate::dead::dead(job, stream, probe),
        "sides" => crate::sides::sides(job, stream, probe),
        "ttl" => crate::ttl::ttl(stream, words),
        "rolling" => crate::aggregates::rolling(stream, words[1]),
        "total" => crate::aggregates::total(stream, words[1]),
        "tumbling" | "days" | "sliding" | "global" | "session" | "session_by" | "count" => {
            window(job, stream, words, probe)
        }
        other => panic!("`{other}` is not a step of a pipeline"),
    }
}

/// A result without key and window.
pub fn named(value: impl ToString) -> El {
    El { key: String::new(), name: value.to_string(), time: 0, window: None }
}

/// Counts by the float that the name stands for; `nan2` is another NaN.
fn floats(stream: Elements) -> Elements {
    let float = |el: &El| match el.name.as_str() {
        "nan2" => f64::from_bits(f64::NAN.to_bits() | 1),
        name => name.parse().expect("a float"),
    };
    let counts = stream.key_by(move |el| FloatKey::new(float(el))).count();
    counts.map(|(key, n)| El { key: key.to_string(), ..named(n) }).boxed()
}

/// Counts by the list of the name's bytes.
fn lists(stream: Elements) -> Elements {
    let counts = stream.key_by(|el| el.name.as_bytes().to_vec()).count();
    counts.map(|(key, n)| El { key: format!("{key:?}"), ..named(n) }).boxed()
}

/// The even ones go on, the others to the late side's place.
fn split(job: &mut Job, stream: Elements, probe: &Probe) -> Elements {
    let sides = stream.partition(|el| el.number().is_some_and(|n| n % 2 == 0));
    let (even, odd) = sides.roots();
    let (end, even) = even.cut();
    job.add(sides.fork((end, odd.sink(probe.late.clone()))));
    even.boxed()
}

/// `tumbling 10 keyed offset 3 lateness 5 late side sum`, `sliding 10 5 gaps max`: the aggregate comes last. `session 5`,
/// `session_by`, where an element's name is its gap, `count 3 every 2 exact`, `global`, `days 480`; behind any of them `evict 2` or `evict 5ms`.
fn window(job: &mut Job, stream: Elements, words: &[&str], probe: &Probe) -> Elements {
    let option = |name: &str| words.iter().position(|w| *w == name).map(|at| words[at + 1]);
    let length = |name| Millis(option(name).map_or(0, number));
    let elements = |name| option(name).map(|n| u64::try_from(number(n)).expect("a number of elements"));
    let (late, lateness) = (option("late").unwrap_or("drop"), length("lateness"));
    let aggregate = words.last().expect("a window has an aggregate");
    macro_rules! closed {
        ($close:ident, $windows:expr) => {
            match (option("evict"), crate::triggered::Says::of(words)) {
                (Some(kept), _) => crate::evicted::$close(job, $windows, kept, late, aggregate, probe),
                (None, Some(says)) => crate::triggered::$close(job, $windows, says, late, aggregate, probe),
                (None, None) => $close(job, $windows, late, aggregate, probe),
            }
        };
    }
    macro_rules! of {
        ($close:ident, $window:expr) => {
            if words.contains(&"keyed") {
                closed!($close, stream.key_by(|el| el.key.clone()).window($window).lateness(lateness))
            } else {
                closed!($close, stream.window($window).lateness(lateness))
            }
        };
    }
    let counts = || {
        let has = |word| words.contains(&word);
        count(elements("count").expect("a size")).exact(has("exact")).gaps(has("gaps"))
    };
    match words[0] {
        "global" => of!(whole, global()),
        "days" => of!(aligned, days(Millis(number(words[1]) * 60_000))),
        "tumbling" => of!(aligned, tumbling(length("tumbling")).offset(length("offset"))),
        "sliding" => {
            let windows = sliding(length("sliding"), Millis(number(words[2])));
            of!(aligned, windows.offset(length("offset")).gaps(words.contains(&"gaps")))
        }
        "session" => of!(sessions, session(length("session"))),
        "session_by" => of!(sessions, session_by(|el: &El| Millis(el.number().expect("a gap")))),
        "count" => match elements("every") {
            Some(every) => of!(counted, counts().every(every)),
            None => of!(counted, counts()),
        },
        other => panic!("`{other}` is not a window"),
    }
}

/// A window over elements, as `key_by(…).window(…)` or `window(…)` gives it.
pub type Windows<F, W, P> = WindowedStream<El, ScriptKind, Boxed<El, Timestamp, NoRoot>, F, W, P>;
