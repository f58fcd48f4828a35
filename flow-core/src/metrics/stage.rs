//! What one stage instance counts.

use super::{Counter, Gauge};
use std::sync::{Arc, Mutex, PoisonError};

/// The counters of one instance of a stage, shared between the stage and whoever looks on.
#[derive(Debug)]
pub struct StageMetrics {
    /// Records that arrived (a source: that it read).
    pub records_in: Counter,
    /// Records that left over an edge or into a sink.
    pub records_out: Counter,
    /// Batches that arrived.
    pub batches_in: Counter,
    /// Nanoseconds spent working.
    pub busy_ns: Counter,
    /// Nanoseconds spent waiting for room in an edge.
    pub blocked_ns: Counter,
    named: Arc<Mutex<Named>>,
}

// Not derived: what is derived is compiled again in every crate that uses it.
impl Default for StageMetrics {
    fn default() -> Self {
        let counter = Counter::default;
        StageMetrics {
            records_in: counter(),
            records_out: counter(),
            batches_in: counter(),
            busy_ns: counter(),
            blocked_ns: counter(),
            named: Arc::default(),
        }
    }
}

impl Clone for StageMetrics {
    #[inline(never)]
    fn clone(&self) -> Self {
        StageMetrics {
            records_in: self.records_in.clone(),
            records_out: self.records_out.clone(),
            batches_in: self.batches_in.clone(),
            busy_ns: self.busy_ns.clone(),
            blocked_ns: self.blocked_ns.clone(),
            named: Arc::clone(&self.named),
        }
    }
}

#[derive(Debug, Default)]
struct Named {
    counters: Vec<(String, Counter)>,
    gauges: Vec<(String, Gauge)>,
}

impl StageMetrics {
    /// The counter of this name, made when it is first asked for.
    pub fn counter(&self, name: &str) -> Counter {
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, counter)) = named.counters.iter().find(|c| c.0 == name) {
            return counter.clone();
        }
        let counter = Counter::default();
        named.counters.push((name.to_owned(), counter.clone()));
        counter
    }

    /// The gauge of this name, made when it is first asked for.
    pub fn gauge(&self, name: &str) -> Gauge {
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, gauge)) = named.gauges.iter().find(|g| g.0 == name) {
            return gauge.clone();
        }
        let gauge = Gauge::default();
        named.gauges.push((name.to_owned(), gauge.clone()));
        gauge
    }

    /// All named counters and gauges as they stand.
    pub fn named(&self) -> Vec<(String, i64)> {
        let named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        let counters =
            named.counters.iter().map(|(n, c)| (n.clone(), i64::try_from(c.get()).unwrap_or(i64::MAX)));
        counters.chain(named.gauges.iter().map(|(n, g)| (n.clone(), g.get()))).collect()
    }
}
