//! Windows of which only the last elements are kept: `tumbling 10 keyed evict 2 late side collect`, `session 5 evict 3ms collect`.

use crate::aggregates::{Forking, KeyText, element, joined, names, sorted};
use crate::case::{El, number};
use crate::pipeline::{Elements, Probe, Windows};
use flow_core::op::KeyFn;
use flow_core::prelude::*;
use flow_core::window::aggregate::side;
use flow_core::window::count::{Counted, Lifting};
use flow_core::window::evict::{Evicting, Evictor};
use flow_core::window::late::DropLate;
use flow_core::window::session::{Gap, Session};
use flow_core::window::spec::{Assign, Global};

/// As `aggregates`' kinds, for windows behind an evictor.
macro_rules! kinds {
    ($($kind:ident $close:ident: $windows:ty, [$($parameter:ident: $bound:path)?];)*) => {$(
        pub fn $kind<F $(, $parameter)?>(
            job: &mut Job,
            windows: Windows<F, $windows, DropLate>,
            kept: &str,
            late: &str,
            aggregate: &str,
            probe: &Probe,
        ) -> Elements
        where
            F: KeyFn<El, Value = El, Key: KeyText>,
            $($parameter: $bound,)?
        {
            match kept.strip_suffix("ms") {
                Some(time) => $close(job, windows.evict(last(Millis(number(time)))), late, aggregate, probe),
                None => {
                    let kept = usize::try_from(number(kept)).expect("a number of elements");
                    $close(job, windows.evict(last(kept)), late, aggregate, probe)
                }
            }
        }

        fn $close<F $(, $parameter)?, E>(
            job: &mut Job,
            windows: Windows<F, Evicting<$windows, E>, DropLate>,
            late: &str,
            aggregate: &str,
            probe: &Probe,
        ) -> Elements
        where
            F: KeyFn<El, Value = El, Key: KeyText>,
            $($parameter: $bound,)?
            E: Evictor,
        {
            let forking = Forking { job, late: probe.late.clone() };
            let windows = match (late, aggregate) {
                ("drop", "collect") => {
                    return windows.aggregate(|a| a.collect()).map(|w| element(w, names)).boxed();
                }
                ("drop", "narrow") => windows
                    .aggregate(|a| a.sum(|el| el.number().map(|n| n as i8)))
                    .map(|w| element(w, |v| v.to_string())),
                ("drop", "reduce") => return windows.reduce(joined).map(|w| element(w, |v| v.name)).boxed(),
                ("side", "collect") => return forking.fork(windows.late(side).aggregate(|a| a.collect()), names),
                ("side", "sorted") => return forking.fork(windows.late(side).aggregate(|a| a.collect()), sorted),
                other => panic!("{other:?} is not what becomes of late elements and windows"),
            };
            windows.boxed()
        }
    )*};
}
kinds! {
    aligned close_aligned: W, [W: Assign];
    whole close_whole: Global, [];
    sessions close_sessions: Session<G>, [G: Gap<El>];
    counted close_counted: Counted<L>, [L: Lifting];
}
