//! Whatever is written in whatever order is read back.

use super::*;
use proptest::prelude::*;

fn slot() -> impl Strategy<Value = Slot> {
    prop_oneof![(0..4u16).prop_map(Slot::Group), Just(Slot::Group(255)), (0..3u32).prop_map(Slot::Instance)]
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let len = prop_oneof![4 => 0..200usize, 2 => 60_000..70_000usize, 1 => 130_000..140_000usize];
    (any::<u8>(), len).prop_map(|(first, len)| (0..len).map(|n| first.wrapping_add((n / 7) as u8)).collect())
}

/// What one checkpoint is given: operator, slot, piece.
type Given = Vec<(usize, Slot, Vec<u8>)>;

fn given() -> impl Strategy<Value = Given> {
    proptest::collection::vec((0..3usize, slot(), bytes()), 0..30)
}

fn check_round_trip(checkpoints: &[Given]) {
    let disk = SimFs::new();
    let (mut store, _) = open(&disk, 1);
    let mut expected = Expected::new();
    let states = OPERATORS.map(|id| OperatorState { id: id.into(), ..OperatorState::default() });
    let mut manifest = Manifest { operators: states.into(), ..Manifest::default() };
    for (n, given) in checkpoints.iter().enumerate() {
        let mut own: BTreeMap<(String, Slot), Vec<u8>> = BTreeMap::new();
        manifest.id = n as u64 + 1;
        let mut writing = store.begin(manifest.id).unwrap();
        for (operator, slot, bytes) in given {
            writing.part(OPERATORS[*operator], *slot, bytes).unwrap();
            own.entry((OPERATORS[*operator].into(), *slot)).or_default().extend_from_slice(bytes);
        }
        own.into_iter().for_each(|(slot, bytes)| expected.entry(slot).or_default().push(bytes));
        manifest.files.push(writing.file());
        manifest.operators.iter_mut().for_each(|state| state.files.push(n as u32));
        let counted = writing.bytes();
        let committed = store.commit(writing, manifest).unwrap();
        manifest = committed.manifest;
        let len = disk.contents()[&manifest.files[n].name].len() as u64;
        assert!(len == committed.bytes && len == manifest.files[n].len && counted < len);
        store.collect_garbage().unwrap();
    }
    drop(store);
    let (store, newest) = open(&disk, 1);
    let newest = newest.unwrap();
    assert!(newest == manifest && read_all(&store, &newest).unwrap() == expected);
    assert!(store.parts(&newest, "nobody").unwrap().slots().is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn what_is_written_is_read(checkpoints in proptest::collection::vec(given(), 1..4)) {
        check_round_trip(&checkpoints);
    }
}

/// Many slots whose bytes come by turns: what is held back has a limit.
#[test]
fn many_slots_by_turns() {
    let piece = |turn: u16, group: u16| vec![(turn ^ group) as u8; 20_000];
    let turns = (0..2).flat_map(|turn| (0..256).map(move |group| (turn, group)));
    let given: Given = turns.map(|(turn, group)| (0, Slot::Group(group), piece(turn, group))).collect();
    let disk = SimFs::new();
    let mut writing = open(&disk, 1).0.begin(1).unwrap();
    for (n, (_, slot, bytes)) in given.iter().enumerate() {
        writing.part("a", *slot, bytes).unwrap();
        let written = disk.len("chk-1-1.state").unwrap() as usize;
        assert!(written + (9 << 20) > (n + 1) * bytes.len(), "{written} of {n} pieces were written");
    }
    check_round_trip(&[given]);
}

proptest! {
    /// Foreign bytes are an error, and no more.
    #[test]
    fn any_bytes_are_read_without_a_panic(mut body in proptest::collection::vec(any::<u8>(), 0..300), fits in any::<bool>()) {
        if fits && body.len() >= 8 {
            body[..8].copy_from_slice(&[0, 1, 0, 0, 1, 0, 0, 0]);
        }
        let mut bytes = b"FLOWMANI\x01\0\0\0".to_vec();
        bytes.extend_from_slice(&(body.len() as u64).to_le_bytes());
        let sum = super::super::bytes::crc(&[&bytes, &body]);
        bytes.extend_from_slice(&sum.to_le_bytes());
        bytes.extend_from_slice(&body);
        let disk = SimFs::with(BTreeMap::from([("chk-1-1.manifest".to_owned(), bytes)]));
        prop_assert!(try_open(&disk, 1).is_err());
    }
}
