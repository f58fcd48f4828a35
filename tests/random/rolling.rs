//! Builds rolling operators.

use super::build::{Branch, End, Time, join};
use super::function::*;
use super::plan::{Form, Roll};
use flow_core::op::boxed::BoxedEnd;
use flow_core::op::{Chain, KeyFn, KeyedStream, Terminal};
use flow_core::prelude::*;
use flow_core::process::ReducingState;
use flow_core::process::states::{Plain, WithFunction};

/// A rolling operator over a stream with a key.
pub fn roll<K: Time>(s: Branch<K>, form: Form, roll: Roll, out: End<K::Stamp>) -> End<K::Stamp> {
    match form {
        Form::By(n) => rolled(s.key_by(move |r| r.key % n), roll, out),
        Form::Ref => rolled(s.key_by_ref(|r| &r.key), roll, out),
        Form::Filtered(c) => {
            rolled(s.key_by(|r| r.key).filter(move |r| keep(c, r)).inspect(|_| ()), roll, out)
        }
        Form::Mapped(c) => rolled(s.key_by(|r| r.key).map_values(move |r| map(c, r)), roll, out),
    }
}

/// The ends of both streams, and what a process makes of them at their end: see [`Op::Beside`](super::plan::Op::Beside).
pub fn beside<K: Time>(n: u8, out: End<()>) -> (End<K::Stamp>, End<K::Stamp>, impl Terminal) {
    let both = K::branch().key_by(move |r| r.key % n).connect_broadcast(K::branch());
    let (keyed, all, both) = both.apart();
    let process = both.declare_beside((Plain(|| 0), ()), || 0).on_the_clock();
    let process = process.on_event(|((sum, ()), _), r: Rec, ctx| {
        *sum += r.val;
        ctx.set_processing_timer(Timestamp(i64::MAX - 1));
    });
    let process =
        process.on_processing_timer(|((sum, ()), total), _, ctx| ctx.emit(rec(*ctx.key(), *sum + *total)));
    let sums = process.on_broadcast(|total, r: Rec, _| *total += r.val).done();
    (BoxedEnd::new(keyed), BoxedEnd::new(all), sums.boxed().tee(|_| out))
}

fn rolled<X, K, C, F>(s: KeyedStream<X, K, C, F>, roll: Roll, out: End<K::Stamp>) -> End<K::Stamp>
where
    X: 'static,
    K: Time,
    C: Chain<Out = X, Stamp = K::Stamp>,
    F: KeyFn<X, Key = u8, Value = Rec>,
{
    match roll {
        Roll::Count => join(s.count().map(|(key, n)| rec(key, n as i64)), out),
        Roll::Sum => join(s.sum(|r| r.val).map(|(key, sum)| rec(key, sum)), out),
        Roll::WrappingSum => join(s.wrapping_sum(|r| r.val).map(|(key, sum)| rec(key, sum)), out),
        Roll::Min => join(s.min(|r| r.val).map(|(key, min)| rec(key, min)), out),
        Roll::Max => join(s.max(|r| r.val).map(|(key, max)| rec(key, max)), out),
        Roll::Reduce => join(s.reduce(reduce).map(|(_, r)| r), out),
        Roll::Fold => join(s.fold(1, fold).map(|(key, acc)| rec(key, acc)), out),
        Roll::Scan => join(s.scan(1, scan).map(|(key, acc)| rec(key, acc)), out),
        Roll::DedupFirst => join(s.dedup_first().map(|(_, r)| r), out),
        Roll::TopN => join(s.top_n(2, |r| r.val).map(|(key, top)| rec(key, both(&top))), out),
        Roll::Process => {
            let states = (Plain(|| None), (WithFunction(Plain(|| ReducingState::new(i64::max))), ()));
            let processed = s.declare(states).on_event(|(before, (largest, ())), r: Rec, ctx| {
                largest.add(r.val);
                if let Some(v) = process(r, before.replace(r), largest.get().copied().unwrap_or(0)) {
                    ctx.emit(rec(*ctx.key(), v));
                }
            });
            join(processed.done(), out)
        }
        Roll::MapWithState => join(s.map_with_state(0, with_state).map(|(key, v)| rec(key, v)), out),
    }
}
