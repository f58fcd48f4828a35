use flow_core::prelude::*;

dataflow! {
    #[strict]
    pub fn p(past: Vec<i64>) {
        let seen = source(lines("inbox").watch(1s)).map(|line| line.len() as i64);
        let seen = seen.event_time(|t| *t, disorder = 0s);
        let past = source(from_vec(past)).event_time(|t| *t, disorder = 0s);
        past.union(seen).window(tumbling(1h)).count().for_each(|x| println!("{x:?}"));
    }
}

fn main() {}
