//! Builds windows and aggregates of everything.

use super::build::{Branch, End, Time, Timed, boxed_end, join};
use super::function::*;
use super::plan::{Agg, Counts, Form, Total, Window};
use super::windows::{order, spread};
use flow_core::op::{Chain, KeyFn, Stream};
use flow_core::prelude::{
    Millis, Timestamp, count as elements, last, processing, session as sessions, sliding, tumbling,
};
use flow_core::window::aggregate::{WindowedStream, side};
use flow_core::window::count::{Counted, Lifting};
use flow_core::window::evict::{Evicting, Evictor};
use flow_core::window::late::{DropLate, SideLate};
use flow_core::window::session::{Fixed, Session};
use flow_core::window::spec::{Assign, Global, Tumbling};
use flow_core::window::trigger::{Silent, Triggered};
use flow_core::window::{Windowed, global as global_window};

/// The key of results.
pub trait Shown: Clone + Send + serde::Serialize + serde::de::DeserializeOwned + 'static {
    fn shown(&self) -> u8;
}
impl Shown for u8 {
    fn shown(&self) -> u8 {
        *self
    }
}
impl Shown for () {
    fn shown(&self) -> u8 {
        0
    }
}

fn shown<Q: Shown, V>(w: Windowed<Q, V>, value: i64) -> Rec {
    row(w.key.shown(), w.start.0, w.end.0, value)
}

/// Calls `$use!(what the handle makes, its result as a number)` for an aggregate.
macro_rules! with_aggregate {
    ($agg:expr, $use:ident) => {
        match $agg {
            Agg::Count => $use!(|a| a.count(), |n: &u64| *n as i64),
            Agg::Sum => $use!(|a| a.sum(|r: &Rec| r.val), |sum: &i64| *sum),
            Agg::Spread => $use!(
                |a| (
                    a.min(|r: &Rec| r.val),
                    a.max(|r: &Rec| r.val),
                    a.mean(|r: &Rec| r.val),
                    a.count_distinct(|r: &Rec| r.val % 10)
                ),
                |v: &(i64, i64, f64, u64)| spread(v.0, v.1, v.2, v.3)
            ),
            Agg::Order => $use!(
                |a| (a.first(), a.last(), a.collect(), a.top_k(3, |r: &Rec| r.val % 50)),
                |v: &(Rec, Rec, Vec<Rec>, Vec<Rec>)| order(v.0, v.1, &v.2, &v.3)
            ),
            Agg::Fold => $use!(|a| a.fold(1, fold), |acc: &i64| *acc),
            Agg::Reduce => $use!(|a| a.reduce(reduce), code),
        }
    };
}

/// The same for aggregates that merge, where no others are allowed.
macro_rules! with_merging {
    ($agg:expr, $use:ident) => {
        match $agg {
            Agg::Count => $use!(|a| a.count(), |n: &u64| *n as i64),
            Agg::Sum => $use!(|a| a.sum(|r: &Rec| r.val), |sum: &i64| *sum),
            _ => $use!(
                |a| (
                    a.min(|r: &Rec| r.val),
                    a.max(|r: &Rec| r.val),
                    a.mean(|r: &Rec| r.val),
                    a.count_distinct(|r: &Rec| r.val % 10)
                ),
                |v: &(i64, i64, f64, u64)| spread(v.0, v.1, v.2, v.3)
            ),
        }
    };
}

/// Windows whose late elements are dropped, for each kind of window: rustc can prove that a pipeline is complete only where it
/// knows the operator.
macro_rules! droppings {
    ($($name:ident: $window:ty, ($($parameter:ident: $bound:path)?), $with:ident;)*) => {$(
        fn $name<X, K, C, F $(, $parameter)?>(
            s: WindowedStream<X, K, C, F, $window, DropLate>,
            agg: Agg,
            out: End<K::Stamp>,
        ) -> End<K::Stamp>
        where
            X: 'static,
            K: Time,
            C: Chain<Out = X, Stamp = K::Stamp>,
            F: KeyFn<X, Value = Rec, Key: Shown>,
            $($parameter: $bound,)?
        {
            macro_rules! end {
                ($make:expr, $value:expr) => {
                    join(
                        s.aggregate($make).map(|w| {
                            let value = ($value)(&w.value);
                            shown(w, value)
                        }),
                        out,
                    )
                };
            }
            $with!(agg, end)
        }
    )*};
}
droppings! {
    dropping: W, (W: Assign), with_aggregate;
    dropping_session: Session<Fixed>, (), with_merging;
    dropping_all: Global, (), with_aggregate;
    dropping_fired: Triggered<Global, Silent>, (), with_aggregate;
    dropping_count: Counted<L>, (L: Lifting), with_aggregate;
    dropping_evicted: Evicting<Tumbling, E>, (E: Evictor), with_aggregate;
}

/// Windows whose late elements go to a side.
macro_rules! sidings {
    ($($name:ident: $window:ty, ($($parameter:ident: $bound:path)?), $with:ident;)*) => {$(
        fn $name<X, C, F $(, $parameter)?>(
            s: WindowedStream<X, Timed, C, F, $window, SideLate>,
            agg: Agg,
            (results, late): (End<Timestamp>, End<Timestamp>),
        ) -> End<Timestamp>
        where
            X: 'static,
            C: Chain<Out = X, Stamp = Timestamp>,
            F: KeyFn<X, Value = Rec, Key: Shown>,
            $($parameter: $bound,)?
        {
            macro_rules! end {
                ($make:expr, $value:expr) => {{
                    let sides = s.aggregate($make);
                    let (rows, lates) = sides.roots();
                    let rows = rows.map(|w| {
                        let value = ($value)(&w.value);
                        shown(w, value)
                    });
                    let lates = lates.map(|late| late_row(late.value, late.timestamp.0, late.late_by.0));
                    boxed_end(sides.fork((rows.tee(|_| results), lates.tee(|_| late))))
                }};
            }
            $with!(agg, end)
        }
    )*};
}
sidings! {
    siding: W, (W: Assign), with_aggregate;
    siding_session: Session<Fixed>, (), with_merging;
    siding_evicted: Evicting<Tumbling, E>, (E: Evictor), with_aggregate;
}

/// Calls `$end!(stream)` with `$s` as its form has it.
macro_rules! with_form {
    ($form:expr, $s:expr, $end:ident) => {
        match $form {
            None => $end!($s),
            Some(Form::By(n)) => $end!($s.key_by(move |r| r.key % n)),
            Some(Form::Ref) => $end!($s.key_by_ref(|r| &r.key)),
            Some(Form::Filtered(c)) => {
                $end!($s.key_by(|r| r.key).filter(move |r| keep(c, r)).inspect(|_| ()))
            }
            Some(Form::Mapped(c)) => $end!($s.key_by(|r| r.key).map_values(move |r| map(c, r))),
        }
    };
}

/// A session with or without a key.
pub fn session(window: &Window, results: End<Timestamp>, late: Option<End<Timestamp>>) -> End<Timestamp> {
    macro_rules! end {
        ($keyed:expr) => {{
            let windows = $keyed.window(sessions(Millis(window.size))).lateness(Millis(window.lateness));
            match late {
                Some(late) => siding_session(windows.late(side), window.agg, (results, late)),
                None => dropping_session(windows, window.agg, results),
            }
        }};
    }
    let s = Timed::branch();
    with_form!(window.form, s, end)
}

/// A count window with or without a key.
pub fn counted<K: Time>(s: Branch<K>, counts: Counts, out: End<K::Stamp>) -> End<K::Stamp> {
    let apart = elements(counts.size).exact(counts.exact).gaps(true);
    macro_rules! end {
        ($keyed:expr) => {
            match counts.every {
                Some(every) => dropping_count($keyed.window(apart.every(every)), counts.agg, out),
                None => dropping_count($keyed.window(apart), counts.agg, out),
            }
        };
    }
    with_form!(counts.form, s, end)
}

/// A window with or without a key.
pub fn window(window: &Window, results: End<Timestamp>, late: Option<End<Timestamp>>) -> End<Timestamp> {
    let Window { size, slide, offset, .. } = window.to_owned();
    macro_rules! end {
        ($keyed:expr, $assign:expr) => {{
            let windows = $keyed.window($assign).lateness(Millis(window.lateness));
            match late {
                Some(late) => siding(windows.late(side), window.agg, (results, late)),
                None => dropping(windows, window.agg, results),
            }
        }};
    }
    let s = Timed::branch();
    let tumbling = tumbling(Millis(size)).offset(Millis(offset));
    macro_rules! evicted {
        ($keyed:expr, $last:expr) => {{
            let windows = $keyed.window(tumbling).lateness(Millis(window.lateness)).evict(last($last));
            match late {
                Some(late) => siding_evicted(windows.late(side), window.agg, (results, late)),
                None => dropping_evicted(windows, window.agg, results),
            }
        }};
    }
    match (window.last.map(usize::from), window.form) {
        (Some(n), Some(Form::By(by))) => return evicted!(s.key_by(move |r| r.key % by), n),
        (Some(n), _) => return evicted!(s, n),
        (None, _) => {}
    }
    let sliding = sliding(Millis(size), Millis(slide)).offset(Millis(offset)).gaps(slide > size);
    match window.form {
        None if slide != size => end!(s, sliding),
        Some(Form::By(n)) if slide != size => end!(s.key_by(move |r| r.key % n), sliding),
        None => end!(s, tumbling),
        Some(Form::By(n)) => end!(s.key_by(move |r| r.key % n), tumbling),
        Some(Form::Ref) => end!(s.key_by_ref(|r| &r.key), tumbling),
        Some(Form::Filtered(c)) => {
            end!(s.key_by(|r| r.key).filter(move |r| keep(c, r)).inspect(|_| ()), tumbling)
        }
        Some(Form::Mapped(c)) => end!(s.key_by(|r| r.key).map_values(move |r| map(c, r)), tumbling),
    }
}

/// The window of everything with or without a key.
pub fn global<K: Time>(s: Branch<K>, form: Option<Form>, agg: Agg, out: End<K::Stamp>) -> End<K::Stamp> {
    macro_rules! end {
        ($keyed:expr) => {
            dropping_all($keyed.window(global_window()), agg, out)
        };
    }
    with_form!(form, s, end)
}

/// The same with a trigger.
pub fn fired<K: Time>(
    s: Branch<K>,
    form: Option<Form>,
    after: u64,
    purging: bool,
    agg: Agg,
    out: End<K::Stamp>,
) -> End<K::Stamp> {
    macro_rules! end {
        ($keyed:expr) => {{
            let windows = $keyed.window(global_window()).trigger(|t| {
                let t = t.count(after);
                if purging { t.purging() } else { t }
            });
            dropping_fired(windows, agg, out)
        }};
    }
    with_form!(form, s, end)
}

/// The window of the clock that holds everything, with or without a key.
pub fn clocked<K: Time>(s: Branch<K>, by: Option<u8>, agg: Agg, out: End<()>) -> End<K::Stamp> {
    let ages = tumbling(Millis(1 << 60)).time(processing);
    macro_rules! end {
        ($make:expr, $value:expr) => {{
            match by {
                Some(by) => {
                    let windows = s.key_by(move |r| r.key % by).window(ages);
                    let rows = windows.aggregate($make);
                    alone::<K, _, _>(
                        rows.map(move |w| {
                            let value = ($value)(&w.value);
                            shown(w, value)
                        }),
                        out,
                    )
                }
                None => {
                    let rows = s.window(ages).aggregate($make);
                    alone::<K, _, _>(
                        rows.map(move |w| {
                            let value = ($value)(&w.value);
                            shown(w, value)
                        }),
                        out,
                    )
                }
            }
        }};
    }
    with_merging!(agg, end)
}

/// A result without event time behind what it is made of.
fn alone<K: Time, D, C>(stream: Stream<Rec, D, C>, out: End<()>) -> End<K::Stamp>
where
    D: flow_core::op::Kind<Stamp = ()>,
    C: Chain<Out = Rec, Stamp = ()>,
{
    boxed_end(stream.tee(|_| out))
}

/// An aggregate of everything.
pub fn total<K: Time>(s: Branch<K>, total: Total, out: End<()>) -> End<K::Stamp> {
    let one = |value: i64| rec(0, value);
    match total {
        Total::Count => alone::<K, _, _>(s.count().map(move |n| one(n as i64)), out),
        Total::Sum => alone::<K, _, _>(s.sum(|r| r.val).map(one), out),
        Total::WrappingSum => alone::<K, _, _>(s.wrapping_sum(|r| r.val).map(one), out),
        Total::Min => alone::<K, _, _>(s.min(|r| r.val).map(one), out),
        Total::Max => alone::<K, _, _>(s.max(|r| r.val).map(one), out),
        Total::Fold => alone::<K, _, _>(s.fold(1, fold).map(one), out),
        Total::Reduce => alone::<K, _, _>(s.reduce(reduce).map(move |r| one(code(&r))), out),
        Total::Aggregate(agg) => {
            macro_rules! end {
                ($make:expr, $value:expr) => {
                    alone::<K, _, _>(s.aggregate($make).map(move |v| one(($value)(&v))), out)
                };
            }
            with_aggregate!(agg, end)
        }
    }
}
