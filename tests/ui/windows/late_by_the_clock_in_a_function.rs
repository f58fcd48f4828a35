use flow_core::op::kind::Volatile;
use flow_core::prelude::*;

fn minutes<K: Kind<Mode = Volatile>>(
    s: Stream<u64, K, impl Flow<u64, K>>,
) -> Stream<Windowed<(), u64>, K::Untimed, impl Flow<Windowed<(), u64>, K::Untimed>> {
    s.window(tumbling(Millis(60_000)).time(processing)).lateness(Millis(1_000)).count()
}

fn main() {}
