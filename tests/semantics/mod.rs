//! What the targets `semantics` and `semantics_kept` have in common: the cases, and the pipelines that they describe. Each target is its own
//! `crate::mode`, which says how a pipeline begins, and its own `crate::runner`, which says in which ways a case is run.

pub mod aggregates;
pub mod beside;
pub mod case;
pub mod dead;
pub mod evicted;
pub mod joins;
pub mod loops;
pub mod outcome;
pub mod pipeline;
pub mod random;
pub mod random_counts;
pub mod random_joins;
pub mod random_sessions;
pub mod random_strategies;
pub mod random_timers;
pub mod random_triggers;
pub mod random_ttl;
pub mod rows;
pub mod sides;
pub mod strategies;
pub mod text_files;
pub mod timers;
pub mod triggered;
pub mod ttl;

/// Runs all cases of a suite file and reports every one that is wrong.
pub fn all(text: &str, check: fn(&case::Case) -> Result<(), String>) {
    let cases = case::parse(text);
    let wrong: Vec<String> = cases.iter().filter_map(|case| check(case).err()).collect();
    assert!(wrong.is_empty(), "{} of {} cases are wrong:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

macro_rules! suites {
    ($($name:ident),* $(,)?) => {$(
        #[test]
        fn $name() {
            all(include_str!(concat!("../suite/", stringify!($name), ".txt")), crate::runner::check);
        }
    )*};
}
suites!(
    windows, sliding, sessions, counts, late, order, keyed, joins, timers, sides, dead, ttl, strategies,
    json, evict, process, trigger, text, broadcast, loops, components
);
