use flow_core::op::kind::Volatile;
use flow_core::prelude::*;

fn so_far<K: Kind<Mode = Volatile>>(
    s: Stream<u64, K, impl Flow<u64, K>>,
) -> Stream<Windowed<(), u64>, K, impl Flow<Windowed<(), u64>, K>> {
    s.window(global()).trigger(|t| t.early(Millis(10_000))).count()
}

fn main() {}
