//! The time in the body of a loop: which superstep is over.
//!
//! ```text
//! 31 bits: how often the loop has ended    32 bits: the superstep that is over, or END
//! ```
//!
//! A loop in the body of another begins anew in each superstep of that, and its time goes on all the same: watermarks do not go back. So there is a number that tells of each of its supersteps
//! from those of all others, of which the lower half is what the user calls the superstep. At the end of each loop comes one that no superstep has.

use crate::time::Timestamp;

/// What stands for the superstep when the loop is over.
const END: u64 = u32::MAX as u64;
/// The last number that can be a time.
const LAST: u64 = i64::MAX as u64 - END - 1;

/// The superstep, in the loop that it belongs to.
pub(super) fn superstep(number: u64) -> u64 {
    number & END
}

/// The number that is told when the loop is over in which superstep `number` was.
pub(super) fn end(number: u64) -> u64 {
    number | END
}

/// Superstep `first` of the loop that begins behind the one in which `number` is.
pub(super) fn anew(number: u64, first: u64) -> u64 {
    end(number) + 1 + first
}

/// Superstep `first` of the loop in which `number` is.
pub(super) fn begin_of(number: u64, first: u64) -> u64 {
    number - superstep(number) + first
}

/// What has been told last where superstep `number` is under way.
pub(super) fn told_before(number: u64, first: u64) -> Option<u64> {
    let begins = begin_of(number, first);
    if number > begins { Some(number - 1) } else { begin_of(number, 0).checked_sub(1) }
}

/// Whether superstep `a` is in an earlier loop than `b`.
pub(super) fn is_before(a: u64, b: u64) -> bool {
    end(a) < end(b)
}

/// Whether there is no number behind it.
pub(super) fn is_last(number: u64) -> bool {
    superstep(number + 1) == END || number > LAST
}

/// The watermark that says that superstep `number` is over.
pub(super) fn watermark(number: u64) -> Timestamp {
    Timestamp(i64::try_from(number).unwrap_or(i64::MAX - 1))
}

/// What a watermark in a loop says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// This superstep is over.
    Superstep(u64),
    /// The loop is over, and may begin anew.
    End,
    /// Nothing of it.
    Nothing,
}

/// See [`Told`].
pub(super) fn told(w: Timestamp) -> Told {
    match u64::try_from(w.0) {
        Ok(number) if superstep(number) == END && w < Timestamp::MAX => Told::End,
        Ok(number) if w < Timestamp::MAX => Told::Superstep(number),
        _ => Told::Nothing,
    }
}

#[test]
fn numbers_rise_over_all_loops() {
    let second = anew(7, 1);
    assert!(7 < end(7) && end(7) < second && is_before(7, second) && !is_before(7, 9));
    assert_eq!((begin_of(7, 1), begin_of(second + 5, 1), begin_of(second - 1, 0)), (1, second, second - 1));
    assert_eq!((told_before(7, 1), told_before(1, 1), told_before(0, 0)), (Some(6), None, None));
    assert_eq!((told_before(second, 1), told_before(second - 1, 0)), (Some(end(7)), Some(end(7))));
    assert_eq!((superstep(7), superstep(second), superstep(anew(second + 3, 0))), (7, 1, 0));
    assert_eq!(told(watermark(second)), Told::Superstep(second));
    assert_eq!((told(watermark(end(second))), told(Timestamp::MIN)), (Told::End, Told::Nothing));
    assert_eq!(told(Timestamp::MAX), Told::Nothing);
    assert!(is_last(END - 1) && is_last(u64::MAX / 2) && !is_last(END - 2) && !is_last(second));
}
