//! What remains in a store.

use super::*;
use crate::checkpoint::Had;
use crate::checkpoint::records::{Part, framed};
use crate::exchange::KEY_GROUPS;
use crate::state::StateBackend;
use crate::testing::MapBackend;

/// Nothing is left of what was noted for a checkpoint once it is written, whether it has needed it or not.
#[test]
fn notes_go() {
    let store = MapBackend::with_limit(0).begin("tested", 1).unwrap().open("store").unwrap();
    let mut spill = Spill::new(Space::new(store, 0, |error| panic!("{error}")));
    let put = |spill: &mut Spill, hash: u64| {
        spill.put(hash, true, |out| {
            framed(1, b"key", out);
            framed(1, b"value", out);
            Ok(())
        });
        spill.flush();
    };
    let notes = |spill: &Spill| {
        let mut notes = 0;
        let mut count = |_: &[u8], _: &[u8]| {
            notes += 1;
            true
        };
        spill.space.store.scan(&[NOTE], &[NOTE + 1], &mut count).unwrap();
        notes
    };
    let all: Vec<usize> = (0..KEY_GROUPS).collect();
    put(&mut spill, 1);
    put(&mut spill, 2);
    assert_eq!(notes(&spill), 0, "the first checkpoint has everything");
    for (whole, groups) in [(true, 2), (false, 1), (true, 3), (false, 1), (false, 0)] {
        let out = Groups::in_memory(whole, &all, Had::default());
        spill.begin_save(&out, out.section(Part::Head, &[], &[]), whole);
        while !spill.save_more(&mut 1) {}
        assert_eq!((notes(&spill), out.finish().unwrap().len()), (0, groups));
        if groups > 1 {
            put(&mut spill, 100 + groups as u64);
            assert_eq!(notes(&spill), 1);
        }
    }
}
