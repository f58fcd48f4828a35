use flow_core::op::kind::Volatile;
use flow_core::prelude::*;

fn latest<K: Kind<Mode = Volatile>>(
    s: Stream<u64, K, impl Flow<u64, K>>,
) -> Stream<Windowed<(), Vec<u64>>, K, impl Flow<Windowed<(), Vec<u64>>, K>> {
    s.window(count(10)).evict(last(Millis(10_000))).aggregate(|a| a.collect())
}

fn main() {}
