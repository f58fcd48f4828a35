use flow_core::prelude::*;
use flow_core::source::ChannelSource;

dataflow! {
    #[strict]
    pub fn p(clicks: ChannelSource<i64>, past: Vec<i64>) {
        let clicks = source(clicks).event_time(|t| *t, disorder = 0s);
        let past = source(from_vec(past)).event_time(|t| *t, disorder = 0s);
        past.union(clicks).window(tumbling(1h)).count().for_each(|x| println!("{x:?}"));
    }
}

fn main() {}
