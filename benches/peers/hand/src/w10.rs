//! W10: count and sum per key. Each thread takes a part of the columns; the tables are put together at the end.

use std::process::ExitCode;
use std::thread;

use peer_common::columns::Columns;
use peer_common::elements::group_hash;
use peer_common::{Answer, Run};

use peer_hand::Table;

/// Count and sum.
type Sums = (u64, u64);

fn main() -> ExitCode {
    peer_common::frame::prepared("hand", "w10", |args| Columns::new(args.n), run)
}

/// One loop a thread; the loop of one thread runs on the caller's.
fn run(run: &Run, columns: &Columns) -> Answer {
    let len = columns.keys.len();
    let part = |k: usize| {
        let range = len * k / run.threads..len * (k + 1) / run.threads;
        (&columns.keys[range.clone()], &columns.values[range])
    };
    let tables: Vec<_> = if run.threads == 1 {
        vec![group(part(0))]
    } else {
        thread::scope(|scope| {
            let groups: Vec<_> =
                (0..run.threads).map(part).map(|part| scope.spawn(move || group(part))).collect();
            groups.into_iter().map(|group| group.join().expect("a group does not panic")).collect()
        })
    };
    let mut tables = tables.into_iter();
    let mut all = tables.next().unwrap_or_default();
    for (key, (count, sum)) in tables.flatten() {
        let sums = all.entry(key).or_insert((0, 0));
        sums.0 += count;
        sums.1 += sum;
    }
    let mut answer = Answer::default();
    for (key, (count, sum)) in all {
        answer.add(group_hash(key, count, sum));
    }
    answer
}

fn group((keys, values): (&[u64], &[u64])) -> Table<u64, Sums> {
    let mut groups = Table::default();
    for (key, value) in keys.iter().zip(values) {
        let sums: &mut Sums = groups.entry(*key).or_insert((0, 0));
        sums.0 += 1;
        sums.1 += value;
    }
    groups
}
