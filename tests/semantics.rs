//! What a pipeline means: every case is a row of a file in `suite/`, and runs at parallelism 1, 2 and 4, on every host, in 20
//! simulations, with batches of 1, 7 and 1024. At parallelism 1 the output is compared byte for byte, late elements included;
//! elsewhere, and where several inputs meet, the set of rows is.
//!
//! Case W16 is a test of `flow_core::stage`, beside what it is about; timers of the clock (T3, T6) are one of `flow-core/tests`.
//!
//! Cases that need operators which do not exist yet:
//!
//! | cases | need |
//! |---|---|
//! | K3, K7, C1 to C8, W17 | checkpoints |
//! | I1 to I5 | iteration |
//! | A5, T10 | `#[batch]` |

#[path = "semantics/aggregates.rs"]
mod aggregates;
#[path = "semantics/beside.rs"]
mod beside;
#[path = "semantics/case.rs"]
mod case;
#[path = "semantics/dead.rs"]
mod dead;
#[path = "semantics/evicted.rs"]
mod evicted;
#[path = "semantics/joins.rs"]
mod joins;
#[path = "semantics/large.rs"]
mod large;
#[path = "semantics/pipeline.rs"]
mod pipeline;
#[path = "semantics/random.rs"]
mod random;
#[path = "semantics/random_clocked.rs"]
mod random_clocked;
#[path = "semantics/random_counts.rs"]
mod random_counts;
#[path = "semantics/random_joins.rs"]
mod random_joins;
#[path = "semantics/random_sessions.rs"]
mod random_sessions;
#[path = "semantics/random_strategies.rs"]
mod random_strategies;
#[path = "semantics/random_timers.rs"]
mod random_timers;
#[path = "semantics/random_triggers.rs"]
mod random_triggers;
#[path = "semantics/random_ttl.rs"]
mod random_ttl;
#[path = "semantics/rows.rs"]
mod rows;
#[path = "semantics/runner.rs"]
mod runner;
#[path = "semantics/sides.rs"]
mod sides;
#[path = "semantics/strategies.rs"]
mod strategies;
#[path = "semantics/text_files.rs"]
mod text_files;
#[path = "semantics/timers.rs"]
mod timers;
#[path = "semantics/triggered.rs"]
mod triggered;
#[path = "semantics/ttl.rs"]
mod ttl;

/// Runs all cases of a suite file and reports every one that is wrong.
fn suite(text: &str) {
    let cases = case::parse(text);
    let wrong: Vec<String> = cases.iter().filter_map(|case| runner::check(case).err()).collect();
    assert!(wrong.is_empty(), "{} of {} cases are wrong:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

macro_rules! suites {
    ($($name:ident),* $(,)?) => {$(
        #[test]
        fn $name() {
            suite(include_str!(concat!("suite/", stringify!($name), ".txt")));
        }
    )*};
}
suites!(
    windows, sliding, sessions, counts, late, order, keyed, joins, timers, sides, dead, ttl, strategies,
    json, evict, process, trigger, text, broadcast
);
