//! Windows that a trigger fires before their end: `tumbling 10 trigger early 3 at 2 asking purging late side collect`. `at` is the
//! number of elements; `asking` fires at numbers that 3 divides.

use crate::aggregates::{Forking, KeyText, element, names, sorted};
use crate::case::{El, number};
use crate::pipeline::{Elements, Probe, Windows};
use flow_core::op::KeyFn;
use flow_core::prelude::*;
use flow_core::window::aggregate::side;
use flow_core::window::late::DropLate;
use flow_core::window::session::{Gap, Session};
use flow_core::window::spec::{Assign, Global};
use flow_core::window::trigger::{Or, Silent, Triggered};

type Asks = fn(&El) -> bool;

fn third(el: &El) -> bool {
    el.number().is_some_and(|n| n % 3 == 0)
}

fn never(_: &El) -> bool {
    false
}

/// What a case says of its trigger.
#[derive(Clone, Copy)]
pub struct Says {
    early: Option<i64>,
    at: Option<i64>,
    asks: Asks,
    purging: bool,
}

impl Says {
    /// Of the words of a window.
    pub fn of(words: &[&str]) -> Option<Says> {
        let option = |name: &str| words.iter().position(|w| *w == name).map(|at| number(words[at + 1]));
        let has = |word| words.contains(&word);
        let asks = if has("asking") { third } else { never };
        let says = Says { early: option("early"), at: option("at"), asks, purging: has("purging") };
        has("trigger").then_some(says)
    }

    fn rest<B>(
        self,
        t: flow_core::window::Trigger<El, Silent, B>,
    ) -> flow_core::window::Trigger<El, Or<Silent, Asks>, B> {
        let t = t.when(self.asks);
        let t = if let Some(n) = self.at { t.count(n.unsigned_abs()) } else { t };
        if self.purging { t.purging() } else { t }
    }
}

/// As `aggregates`' kinds, for windows with a trigger.
macro_rules! kinds {
    ($($kind:ident $close:ident: $windows:ty, [$($parameter:ident: $bound:path)?];)*) => {$(
        pub fn $kind<F $(, $parameter)?>(
            job: &mut Job,
            windows: Windows<F, $windows, DropLate>,
            says: Says,
            late: &str,
            aggregate: &str,
            probe: &Probe,
        ) -> Elements
        where
            F: KeyFn<El, Value = El, Key: KeyText>,
            $($parameter: $bound,)?
        {
            match says.early {
                Some(every) => {
                    let windows = windows.trigger(|t| says.rest(t.early(Millis(every))));
                    $close(job, windows, late, aggregate, probe)
                }
                None => $close(job, windows.trigger(|t| says.rest(t)), late, aggregate, probe),
            }
        }

        fn $close<F $(, $parameter)?>(
            job: &mut Job,
            windows: Windows<F, Triggered<$windows, Or<Silent, Asks>>, DropLate>,
            late: &str,
            aggregate: &str,
            probe: &Probe,
        ) -> Elements
        where
            F: KeyFn<El, Value = El, Key: KeyText>,
            $($parameter: $bound,)?
        {
            let forking = Forking { job, late: probe.late.clone() };
            match (late, aggregate) {
                ("drop", "collect") => windows.aggregate(|a| a.collect()).map(|w| element(w, names)).boxed(),
                ("drop", "sum") => {
                    windows.aggregate(|a| a.sum(El::number)).map(|w| element(w, |v| v.to_string())).boxed()
                }
                ("side", "collect") => forking.fork(windows.late(side).aggregate(|a| a.collect()), names),
                ("side", "sorted") => forking.fork(windows.late(side).aggregate(|a| a.collect()), sorted),
                other => panic!("{other:?} is not what becomes of late elements and windows"),
            }
        }
    )*};
}
kinds! {
    aligned close_aligned: W, [W: Assign];
    whole close_whole: Global, [];
    sessions close_sessions: Session<G>, [G: Gap<El>];
}

/// Count windows take no trigger.
pub fn counted<F, L>(
    _: &mut Job,
    _: Windows<F, flow_core::window::Counted<L>, DropLate>,
    _: Says,
    _: &str,
    _: &str,
    _: &Probe,
) -> Elements {
    panic!("count windows take no trigger")
}
