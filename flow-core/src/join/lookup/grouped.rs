//! Rows brought together by group, in as few long walks through memory as it takes.

/// Bytes of rows that are put in order together: as many as the nearer caches hold.
const TOGETHER_BYTES: usize = 1 << 18;
/// Beyond so many pieces at once, writing to each of them in turn is no faster than writing anywhere.
const PIECES_MAX: usize = 1 << 11;

/// The rows of group 0, then those of group 1 and so on, in the order in which they came; and where each group's begin, at last where all end. Groups are the
/// numbers below `groups`.
///
/// The first pass of a radix sort puts each row with those of near groups, so memory that is far is written from front to back; then each piece is sorted by counting,
/// in the cache.
///
/// # Panics
/// When there are more than four thousand million rows in groups that are near to each other.
pub(super) fn grouped<R>(
    rows: impl ExactSizeIterator<Item = (u32, R)>,
    groups: usize,
) -> (Vec<R>, Vec<usize>) {
    let n = rows.len();
    let wanted = (n.saturating_mul(size_of::<(u32, Option<R>)>()) / TOGETHER_BYTES).clamp(1, PIECES_MAX);
    let near = groups.div_ceil(wanted).next_power_of_two();
    let shift = near.trailing_zeros();
    let pieces = groups.div_ceil(near).max(1);
    let mut piece_of: Vec<Vec<(u32, Option<R>)>> = Vec::new();
    piece_of.resize_with(pieces, || Vec::with_capacity(n / pieces + n / pieces / 8));
    for (group, row) in rows {
        piece_of[group as usize >> shift].push((group, Some(row)));
    }
    let mut all = Vec::with_capacity(n);
    let mut starts = Vec::with_capacity(groups + 1);
    for (i, piece) in piece_of.into_iter().enumerate() {
        let first = i << shift;
        append(piece, first as u32, near.min(groups - first), &mut all, &mut starts);
    }
    starts.push(all.len());
    (all, starts)
}

/// Appends the rows of one piece, whose groups are `groups` from `first` on.
fn append<R>(
    mut piece: Vec<(u32, Option<R>)>,
    first: u32,
    groups: usize,
    all: &mut Vec<R>,
    starts: &mut Vec<usize>,
) {
    // How many rows a group has; then where its next one goes.
    let mut next = vec![0u32; groups];
    for (group, _) in &piece {
        let count = &mut next[(group - first) as usize];
        *count = count.checked_add(1).expect("so many rows of one key do not fit into memory");
    }
    let mut end = 0u32;
    for count in &mut next {
        starts.push(all.len() + end as usize);
        let start = end;
        end = end.checked_add(*count).expect("so many rows of near keys do not fit into memory");
        *count = start;
    }
    let mut from = vec![0u32; piece.len()];
    for (at, (group, _)) in (0..).zip(&piece) {
        let place = &mut next[(group - first) as usize];
        from[*place as usize] = at;
        *place += 1;
    }
    all.extend(from.into_iter().filter_map(|at| piece[at as usize].1.take()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// As a stable sort has them.
    fn check(rows: &[(u32, usize)], groups: usize) {
        let mut expected = rows.to_vec();
        expected.sort_by_key(|row| row.0);
        let (all, starts) = grouped(rows.iter().copied(), groups);
        assert_eq!(starts.len(), groups + 1);
        let ranges = starts.windows(2).zip(0..);
        let found: Vec<(u32, usize)> = ranges
            .flat_map(|(ends, group)| all[ends[0]..ends[1]].iter().map(move |row| (group, *row)))
            .collect();
        assert!(found == expected, "{} rows in {groups} groups", rows.len());
    }

    #[test]
    fn in_pieces_that_are_many_and_uneven() {
        let n = 4 * TOGETHER_BYTES / size_of::<(u32, Option<usize>)>() + 5;
        check(&[], 0);
        check(&[], 3);
        for groups in [1u32, 2, 1_000, 1 << 20] {
            let spread = |i: usize| (i as u32).wrapping_mul(0x9e37_79b9) % groups;
            check(&(0..n).map(|i| (spread(i), i)).collect::<Vec<_>>(), groups as usize);
            let lowest = |i: usize| (spread(i) % 3).min(groups - 1);
            check(&(0..n).map(|i| (lowest(i), i)).collect::<Vec<_>>(), groups as usize);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn few_rows(groups in prop::collection::vec(0..40u32, 0..100)) {
            check(&groups.iter().copied().zip(0..).collect::<Vec<_>>(), 40);
        }
    }
}
