//! Our ring and channel beside their peers in interleaved pairs: `cargo bench -p flow-benches --bench ring_ratios`.
//!
//! What slows the machine down slows both runs of a pair, so that the ratio of a pair says more than two medians. Prints a line a
//! comparison: the median and the quartiles of their time / our time (above 1: ours is faster), and both rates.
//! Arguments: a part of the names to run, and `--pairs N`. `--test` runs each once with few items.

mod work;

use std::time::Duration;

/// Pairs, unless `--pairs` says otherwise.
const PAIRS_DEFAULT: usize = 31;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let test = arguments.iter().any(|argument| argument == "--test");
    let pairs = arguments
        .iter()
        .skip_while(|argument| *argument != "--pairs")
        .nth(1)
        .and_then(|pairs| pairs.parse().ok())
        .unwrap_or(if test { 1 } else { PAIRS_DEFAULT });
    let filter = arguments.iter().find(|argument| argument.starts_with(|c: char| c.is_alphabetic()));
    println!(
        "{:<16} {:<18} {:>7} {:>7} {:>7}   M/s ours, theirs ({pairs} pairs)",
        "work", "beside", "median", "q1", "q3"
    );
    for pair in
        work::PAIRS.iter().filter(|pair| filter.is_none_or(|filter| pair.name.contains(filter.as_str())))
    {
        compare(pair, pairs, if test { pair.items / 1000 } else { pair.items });
    }
}

fn compare(pair: &work::Pair, pairs: usize, items: u64) {
    let (mut ratios, mut ours, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..pairs {
        // By turns, so that neither always runs after the other.
        let (our, their) = if round % 2 == 0 {
            let our = (pair.run_ours)(items);
            (our, (pair.run_theirs)(items))
        } else {
            let their = (pair.run_theirs)(items);
            ((pair.run_ours)(items), their)
        };
        ratios.push(their.as_secs_f64() / our.as_secs_f64());
        ours.push(rate(items, our));
        theirs.push(rate(items, their));
    }
    let (ratios, ours, theirs) = (sorted(ratios), sorted(ours), sorted(theirs));
    println!(
        "{:<16} {:<18} {:>7.3} {:>7.3} {:>7.3}   {:.2}, {:.2}",
        pair.name,
        pair.theirs,
        quantile(&ratios, 0.5),
        quantile(&ratios, 0.25),
        quantile(&ratios, 0.75),
        quantile(&ours, 0.5),
        quantile(&theirs, 0.5),
    );
}

/// Millions of items a second.
fn rate(items: u64, time: Duration) -> f64 {
    items as f64 / time.as_secs_f64() / 1e6
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

/// The nearest value.
fn quantile(sorted: &[f64], q: f64) -> f64 {
    sorted[((sorted.len() - 1) as f64 * q).round() as usize]
}
