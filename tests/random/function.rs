//! The records, and the closures of the "user": the pipeline and the interpreter use the same.

/// The record of every stream. Operators with another result are followed by a `map` back to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct Rec {
    pub ts: i64,
    pub key: u8,
    pub val: i64,
}

/// Keys are below it.
pub const KEYS: u8 = 6;
/// Values are below it and not negative, so that no sum of sums overflows.
pub const VALUES: i64 = 1009;

pub fn small(v: i64) -> i64 {
    v.rem_euclid(VALUES)
}

/// A record for a result without a time of its own: it gets one, in disorder, from the value.
pub fn rec(key: u8, value: i64) -> Rec {
    let val = small(value);
    Rec { ts: val % 97, key, val }
}

/// A record for a window's result.
pub fn row(key: u8, start: i64, end: i64, value: i64) -> Rec {
    let bound = |t: i64| t.clamp(-10_000, 10_000);
    Rec { ts: bound(start), key, val: small(value * 5 + bound(end)) }
}

/// A record for a late element.
pub fn late_row(r: Rec, timestamp: i64, late_by: i64) -> Rec {
    Rec { ts: timestamp, val: small(r.val + 7 * late_by), ..r }
}

pub fn map(c: u8, r: Rec) -> Rec {
    Rec { key: (r.key + c) % KEYS, val: small(r.val * 3 + i64::from(c)), ..r }
}

pub fn keep(c: u8, r: &Rec) -> bool {
    (r.val + i64::from(c)) % 4 != 0
}

pub fn expand(c: u8, r: Rec) -> impl Iterator<Item = Rec> {
    (0..(r.val + i64::from(c)) % 3).map(move |i| Rec { val: small(r.val + i), ..r })
}

pub fn maybe(c: u8, r: Rec) -> Option<Rec> {
    keep(c, &r).then(|| map(c, r))
}

/// Which of `sides` sides.
pub fn side(sides: u8, r: &Rec) -> i64 {
    r.val % i64::from(sides)
}

/// What a record is for an aggregate that looks at all of it.
pub fn code(r: &Rec) -> i64 {
    small(r.val * 31 + r.ts * 7 + i64::from(r.key))
}

/// Not commutative.
pub fn fold(acc: &mut i64, r: Rec) {
    *acc = small(*acc * 3 + code(&r));
}

/// Neither commutative nor associative.
pub fn reduce(a: Rec, b: Rec) -> Rec {
    Rec { val: small(a.val * 3 + code(&b)), ..b }
}

pub fn scan(acc: &mut i64, r: Rec) -> Option<i64> {
    *acc = small(*acc + r.val);
    (*acc % 2 == 0).then_some(*acc)
}

pub fn with_state(before: &mut i64, r: Rec) -> i64 {
    std::mem::replace(before, r.val) * 2 + r.val
}

/// What a process says to a record: of the one before it, and of the largest value.
pub fn process(r: Rec, before: Option<Rec>, largest: i64) -> Option<i64> {
    (r.val % 3 != 0).then(|| before.map_or(7, |b| code(&b)) * 2 + largest)
}

/// What is shown of the first two.
pub fn both(top: &[Rec]) -> i64 {
    top.iter().fold(0, |all, r| all * 1_000 + r.val)
}

/// A request that is answered after as many polls as the record says, at most three.
pub async fn answered(r: Rec) -> Rec {
    for _ in 0..r.val.rem_euclid(4) {
        let mut polled = false;
        std::future::poll_fn(|cx| {
            cx.waker().wake_by_ref();
            if std::mem::replace(&mut polled, true) {
                std::task::Poll::Ready(())
            } else {
                std::task::Poll::Pending
            }
        })
        .await;
    }
    r
}
