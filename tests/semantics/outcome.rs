//! What comes of a run, and whether it is what the case says.

use crate::case::Case;
use crate::pipeline::Probe;
use flow_core::prelude::*;
use std::sync::atomic::Ordering;

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outcome {
    pub rows: Vec<String>,
    pub late: Vec<String>,
    /// Late elements as the report counts them.
    pub counted: i64,
    /// Elements that windows did not keep, as the report counts them; where the case says how many.
    pub evicted: Option<i64>,
    /// What has expired of states, likewise.
    pub expired: Option<i64>,
    /// Timestamps that were too far ahead.
    pub ahead: i64,
}

impl Outcome {
    /// What the case says.
    pub fn expected(case: &Case) -> Outcome {
        Outcome {
            rows: case.rows.clone(),
            late: case.late.clone(),
            counted: case.dropped + i64::try_from(case.late.len()).expect("few late elements"),
            evicted: case.evicted,
            expired: case.expired,
            ahead: case.ahead,
        }
    }

    /// With the rows of a window that stand together sorted: the order of keys in a firing of a sliding window is not defined.
    fn by_window(mut self) -> Outcome {
        let same = |a: &String, b: &String| a.split(' ').next() == b.split(' ').next();
        self.rows.chunk_by_mut(same).for_each(<[String]>::sort);
        self
    }

    fn sorted(mut self) -> Outcome {
        self.rows.sort();
        self.late.sort();
        self
    }

    /// Compares with what the case says: in order where that is defined at this parallelism, and `in_order` says that it is after this run.
    pub fn check(&self, case: &Case, in_order: bool) -> Result<(), String> {
        let (want, got) = (Outcome::expected(case), self.clone());
        let (want, got) = if !in_order || case.fan_in() {
            (want.sorted(), got.sorted())
        } else if case.has("sliding") {
            (want.by_window(), got.by_window())
        } else {
            (want, got)
        };
        if want == got { Ok(()) } else { Err(format!("expected {want:#?}, got {got:#?}")) }
    }
}

/// What the counters say whose names end so.
fn counted(report: &Report, name: &str) -> i64 {
    let counters = report.stages.iter().flat_map(|stage| &stage.counters);
    counters.filter(|counter| counter.0.ends_with(name)).map(|counter| counter.1).sum()
}

/// What came of a run; nothing when it failed as it should.
pub fn of(
    case: &Case,
    probe: &Probe,
    report: Result<Report>,
) -> std::result::Result<Option<Outcome>, String> {
    if probe.surplus.load(Ordering::SeqCst) {
        return Err("rows had left that should have been waiting".into());
    }
    match report {
        Ok(_) if !case.fails.is_empty() => Err(format!("it should have failed: {:?}", case.fails)),
        Ok(report) => {
            let (rows, late) = (probe.rows.take(), probe.late.take());
            if report.rescues > 0 {
                return Err(format!("{} rescued wake-ups", report.rescues));
            }
            let ahead = report.counter("event_time.ahead");
            // What stands as late and was not.
            let aside = ["split", "sides", "beside", "dead"].iter().any(|step| case.has(step));
            let split = i64::try_from(if aside { late.len() } else { 0 }).expect("few rows");
            let evicted = case.evicted.map(|_| counted(&report, ".evicted"));
            let expired = case.expired.map(|_| counted(&report, ".expired"));
            Ok(Some(Outcome { rows, late, counted: report.late() + split, evicted, expired, ahead }))
        }
        Err(error) => {
            let text = error.to_string();
            match case.fails.iter().find(|part| !text.contains(*part)) {
                Some(part) => Err(format!("`{part}` is not in the error: {text}")),
                None if case.fails.is_empty() => Err(format!("it failed: {text}")),
                None => Ok(None),
            }
        }
    }
}
