//! The report of a job: what each stage did.

use super::StageMetrics;
use std::fmt;
use std::time::Duration;

/// What one stage did, its instances added up.
#[derive(Debug, Clone)]
pub struct StageReport {
    /// The stage's name: the id of its first operator.
    pub name: String,
    /// How many instances it ran in.
    pub instances: usize,
    /// Records that arrived (a source: that it read).
    pub records_in: u64,
    /// Records that left over an edge or into a sink.
    pub records_out: u64,
    /// Time spent working, blocked by a full edge, and otherwise, added over the instances.
    pub busy: Duration,
    /// See `busy`.
    pub blocked: Duration,
    /// See `busy`.
    pub idle: Duration,
    /// Named counters and gauges: those of the user, and `ID.late` of each window.
    pub counters: Vec<(String, i64)>,
}

/// What a job did.
///
/// ```
/// use flow_core::prelude::*;
/// let job = Job::build("numbers", |job| job.add(source(from_iter(0..10)).for_each(|_| ())));
/// let report = job.run().unwrap();
/// assert_eq!(report.stages[0].records_in, 10);
/// assert!(report.to_string().contains("numbers"));
/// ```
#[derive(Debug, Clone)]
pub struct Report {
    /// The job's name.
    pub job: String,
    /// How long it ran.
    pub elapsed: Duration,
    /// One entry a stage, sources first.
    pub stages: Vec<StageReport>,
    /// How often it has begun again after a failure; the counters are those of the last run.
    pub restarts: u32,
    /// The checkpoint that the last run started from, if there was one.
    pub restored: Option<u64>,
    /// The checkpoint at which the job was stopped, where it was and has more to do: the next start goes on from it.
    pub stopped: Option<u64>,
    /// Wake-ups that only a timeout repaired. Always 0 unless this crate has a bug.
    pub rescues: u64,
}

impl Report {
    /// The named counter added over all stages; 0 where there is none of this name. In a pipeline of `dataflow!` an operator's counters have the `let` before them,
    /// `ranks/iterate.supersteps`, which may be left out: then those of all operators of this name are added.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// let job = dataflow! {
    ///     let halves = source(from_iter([40u64, 12])).iterate(rounds = 9, |n| n.map(|n| n / 2).filter(|n| *n > 0));
    ///     halves.for_each(|_| ());
    /// };
    /// let report = job.run().unwrap();
    /// assert_eq!(report.counter("halves/iterate.supersteps"), 6);
    /// assert_eq!(report.counter("iterate.supersteps"), 6);
    /// ```
    pub fn counter(&self, name: &str) -> i64 {
        let is =
            |whole: &str| whole.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
        self.stages.iter().flat_map(|s| &s.counters).filter(|c| is(&c.0)).map(|c| c.1).sum()
    }

    /// How many elements were late, over all operators and whatever the pipeline did with them.
    pub fn late(&self) -> i64 {
        self.stages.iter().flat_map(|s| &s.counters).filter(|c| c.0.ends_with(".late")).map(|c| c.1).sum()
    }

    /// Adds up the instances of one stage.
    pub(crate) fn stage(name: &str, elapsed: Duration, instances: &[StageMetrics]) -> StageReport {
        let sum = |f: fn(&StageMetrics) -> u64| instances.iter().map(f).sum::<u64>();
        let busy = Duration::from_nanos(sum(|m| m.busy_ns.get()));
        let blocked = Duration::from_nanos(sum(|m| m.blocked_ns.get()));
        let all = elapsed * u32::try_from(instances.len()).unwrap_or(u32::MAX);
        let mut counters: Vec<(String, i64)> = Vec::new();
        for (name, value) in instances.iter().flat_map(StageMetrics::named) {
            match counters.iter_mut().find(|c| c.0 == name) {
                Some(counter) => counter.1 += value,
                None => counters.push((name, value)),
            }
        }
        StageReport {
            name: name.to_owned(),
            instances: instances.len(),
            records_in: sum(|m| m.records_in.get()),
            records_out: sum(|m| m.records_out.get()),
            busy,
            blocked,
            idle: all.saturating_sub(busy + blocked),
            counters,
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.elapsed.as_secs_f64().max(1e-9);
        let from = self.restored.map_or_else(String::new, |id| format!(", from checkpoint {id}"));
        match self.stopped {
            Some(id) => {
                writeln!(f, "job `{}` stopped at checkpoint {id} after {seconds:.3} s{from}", self.job)?
            }
            None => writeln!(f, "job `{}` finished in {seconds:.3} s{from}", self.job)?,
        }
        let width = self.stages.iter().map(|s| s.name.len()).max().unwrap_or(0).max(5);
        writeln!(
            f,
            "{:width$}  {:>3}  {:>12}  {:>12}  {:>12}  {:>5}  {:>7}  {:>5}",
            "stage", "n", "records in", "records out", "in/s", "busy", "blocked", "idle"
        )?;
        for stage in &self.stages {
            let all = (stage.busy + stage.blocked + stage.idle).as_secs_f64().max(1e-9);
            let share = |d: Duration| format!("{:.0}%", 100.0 * d.as_secs_f64() / all);
            writeln!(
                f,
                "{:width$}  {:>3}  {:>12}  {:>12}  {:>12.0}  {:>5}  {:>7}  {:>5}",
                stage.name,
                stage.instances,
                stage.records_in,
                stage.records_out,
                stage.records_in as f64 / seconds,
                share(stage.busy),
                share(stage.blocked),
                share(stage.idle)
            )?;
            for (name, value) in &stage.counters {
                writeln!(f, "  {name} = {value}")?;
            }
        }
        Ok(())
    }
}
