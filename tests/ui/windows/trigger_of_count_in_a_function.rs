use flow_core::op::kind::Volatile;
use flow_core::prelude::*;

fn hundreds<K: Kind<Mode = Volatile>>(
    s: Stream<u64, K, impl Flow<u64, K>>,
) -> Stream<Windowed<(), u64>, K, impl Flow<Windowed<(), u64>, K>> {
    s.window(count(100)).trigger(|t| t.count(10)).count()
}

fn main() {}
