//! Whatever is damaged is seen.

use super::*;

const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// The files of two checkpoints, and the second: all that the files have is listed in it.
fn whole() -> (BTreeMap<String, Vec<u8>>, Made) {
    let disk = SimFs::new();
    let (mut store, _) = open(&disk, 2);
    let first = made(&mut store, 1, None);
    let mut writing = store.begin(2).unwrap();
    let mut manifest = Manifest { id: 2, ..first.manifest.clone() };
    manifest.files.push(writing.file());
    let mut expected = first.expected.clone();
    for state in &mut manifest.operators {
        state.files.push(1);
        for (slot, bytes) in pieces(&state.id, 2) {
            writing.part(&state.id, slot, &bytes).unwrap();
            expected.entry((state.id.clone(), slot)).or_default().push(bytes);
        }
    }
    let manifest = store.commit(writing, manifest).unwrap().manifest;
    (disk.contents(), Made { manifest, expected })
}

/// What is said about these files, when all is read; `None` if nothing is wrong.
fn complaint(files: &BTreeMap<String, Vec<u8>>, made: &Made) -> Option<String> {
    let disk = SimFs::with(files.clone());
    let read = try_open(&disk, 2).and_then(|(store, newest)| {
        let newest = newest.unwrap();
        let found = read_all(&store, &newest)?;
        Ok((newest, found))
    });
    assert!(disk.contents() == *files, "nothing is changed");
    match read {
        Ok((newest, found)) => {
            assert!(newest == made.manifest && found == made.expected, "other state was read");
            None
        }
        Err(error) => Some(error.to_string()),
    }
}

/// Changes one file, and looks that it is named.
fn check_seen(
    files: &BTreeMap<String, Vec<u8>>,
    made: &Made,
    name: &str,
    change: impl FnOnce(&mut Vec<u8>),
) -> String {
    let mut files = files.clone();
    change(files.get_mut(name).unwrap());
    let said = complaint(&files, made).unwrap_or_else(|| panic!("a change of {name} was not seen"));
    assert!(said.contains(&format!("simulated/{name}: ")), "{said}");
    assert!(said.contains("give its number to `restore_from` (there are 1)"), "{said}");
    assert!(said.contains("(`out`) may then write a second time"), "{said}");
    said
}

#[test]
fn every_flipped_bit_of_the_manifest() {
    let (files, made) = whole();
    assert_eq!(complaint(&files, &made), None);
    let bits = files["chk-2-1.manifest"].len() * 8;
    for bit in 0..bits {
        check_seen(&files, &made, "chk-2-1.manifest", |bytes| bytes[bit / 8] ^= 1 << (bit % 8));
    }
    println!("{bits} bits");
}

#[test]
fn random_flipped_bits_of_state_files() {
    let (files, made) = whole();
    let mut random = SEED;
    for n in 0..1_000 {
        let name = ["chk-1-1.state", "chk-2-1.state"][n % 2];
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let bit = (random >> 20) as usize % (files[name].len() * 8);
        check_seen(&files, &made, name, |bytes| bytes[bit / 8] ^= 1 << (bit % 8));
    }
}

/// Of a small file every bit: header, blocks, index, trailer.
#[test]
fn every_flipped_bit_of_a_state_file() {
    let disk = SimFs::new();
    let made = made(&mut open(&disk, 1).0, 1, None);
    let files = disk.contents();
    for bit in 0..files["chk-1-1.state"].len() * 8 {
        let mut files = files.clone();
        files.get_mut("chk-1-1.state").unwrap()[bit / 8] ^= 1 << (bit % 8);
        let said = complaint(&files, &made).unwrap_or_else(|| panic!("bit {bit} was not seen"));
        assert!(said.contains("chk-1-1.state: "), "{said}");
    }
}

#[test]
fn truncated_files() {
    let (files, made) = whole();
    let name = "chk-2-1.manifest";
    for len in 0..files[name].len() {
        let said = check_seen(&files, &made, name, |bytes| bytes.truncate(len));
        assert!(said.contains(&format!("it has {len} bytes, and should have ")), "{said}");
    }
    check_seen(&files, &made, name, |bytes| bytes.push(0));
    for name in ["chk-1-1.state", "chk-2-1.state"] {
        let whole = files[name].len();
        for len in [0, 1, 511, 512, whole - 1] {
            let said = check_seen(&files, &made, name, |bytes| bytes.truncate(len));
            assert!(said.contains(&format!("it has {len} bytes, and should have {whole}")), "{said}");
        }
        check_seen(&files, &made, name, |bytes| bytes.push(0));
    }
}

#[test]
fn pages_of_zeros() {
    let (files, made) = whole();
    for name in ["chk-1-1.state", "chk-2-1.state", "chk-2-1.manifest"] {
        for page in 0..files[name].len().div_ceil(4096) {
            check_seen(&files, &made, name, |bytes| {
                let end = bytes.len().min((page + 1) * 4096);
                bytes[page * 4096..end].fill(0);
            });
        }
    }
}

#[test]
fn missing_and_swapped_files() {
    let (files, made) = whole();
    for name in ["chk-1-1.state", "chk-2-1.state"] {
        let mut without = files.clone();
        let len = without.remove(name).unwrap().len();
        let said = complaint(&without, &made).unwrap();
        let expected = format!("simulated/{name}: it is missing: checkpoint 2 lists it with {len} bytes");
        assert!(said.contains(&expected), "{said}");
    }
    let mut swapped = files.clone();
    let first = swapped["chk-1-1.state"].clone();
    let second = swapped.insert("chk-2-1.state".into(), first).unwrap();
    swapped.insert("chk-1-1.state".into(), second);
    assert!(complaint(&swapped, &made).unwrap().contains("bytes, and should have"));
}

/// Files of one length: their headers tell them apart, or where those agree their hashes.
#[test]
fn foreign_files_of_the_same_length() {
    let commit = |id: u64, bytes: &[u8]| {
        let disk = SimFs::new();
        let (mut store, _) = open(&disk, 1);
        let mut writing = store.begin(id).unwrap();
        writing.part("a", Slot::Group(0), bytes).unwrap();
        let state = OperatorState { id: "a".into(), files: vec![0], ..OperatorState::default() };
        let files = vec![writing.file()];
        store.commit(writing, Manifest { id, operators: vec![state], files, ..Manifest::default() }).unwrap();
        disk.contents()
    };
    let said = |other: &[u8]| {
        let mut files = commit(1, b"ours");
        files.insert("chk-1-1.state".into(), other.to_vec());
        let (store, newest) = open(&SimFs::with(files), 1);
        read_all(&store, &newest.unwrap()).unwrap_err().to_string()
    };
    let other_id = said(&commit(2, b"ours")["chk-2-1.state"]);
    assert!(other_id.contains("it says that it is the file of checkpoint 2, epoch 1"), "{other_id}");
    let other_bytes = said(&commit(1, b"hers")["chk-1-1.state"]);
    assert!(other_bytes.contains("it is another file: its hash is "), "{other_bytes}");
    assert!(other_bytes.contains("there is no older checkpoint"), "{other_bytes}");
}

/// A manifest that was never renamed is none, however whole it is.
#[test]
fn a_manifest_without_its_name_is_none() {
    let (mut files, _) = whole();
    let newest = files.remove("chk-2-1.manifest").unwrap();
    files.insert("chk-2-1.manifest.tmp".into(), newest);
    let disk = SimFs::with(files);
    let (_, newest) = open(&disk, 2);
    assert_eq!(newest.unwrap().id, 1);
    check_nothing_is_left(&disk);
}

/// An older checkpoint only where it is asked for; then the damaged one is in nobody's way.
#[test]
fn an_older_checkpoint_is_an_explicit_choice() {
    let (mut files, made_second) = whole();
    files.get_mut("chk-2-1.manifest").unwrap()[50] ^= 1;
    let disk = SimFs::with(files.clone());
    assert!(complaint(&files, &made_second).is_some());
    let (mut store, first) = Store::open_at(Arc::new(disk.clone()), "job", 1, 1).unwrap();
    assert_eq!((first.id, store.next_id()), (1, 3));
    assert_eq!(store.collect_garbage().unwrap(), 0, "what it goes on from stays");
    assert!(disk.contents() == files, "and so does what the damaged one may need");
    let base = Made { expected: read_all(&store, &first).unwrap(), manifest: first };
    let third = made(&mut store, 3, Some(&base));
    store.collect_garbage().unwrap();
    check_nothing_is_left(&disk);
    drop(store);
    let (store, newest) = open(&disk, 1);
    check_whole(&store, &newest.unwrap(), &third);
}
