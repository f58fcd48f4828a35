use flow_core::prelude::*;

fn total<K: Kind<Mode = flow_core::op::kind::Volatile>>(s: Stream<u64, K, impl Flow<u64, K>>) -> Stream<u64, K::Untimed, impl Flow<u64, K::Untimed>> {
    s.sum(|n| *n)
}

fn main() {}
