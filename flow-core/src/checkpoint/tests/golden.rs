//! The format on the disk: files of version 1 are what they were, and are read. The bytes were made by another program, in Python, from
//! what the heads of `state_file.rs` and `manifest_file.rs` say.

use super::*;
use crate::time::Timestamp;

/// Header, two blocks; of the index operators, number of slots, the slots; trailer.
const STATE: &str = "
    464c4f575354415401000000050000000000000001000000000000009bb1ca2b
    00000000070000000000000000000000050000001cee0f4b7374617465
    0000000001000000010000000000000006000000e9f5467d6f6666736574
    0100000005000000636f756e74
    02000000
    000000000700000000000000010000002000000000000000050000001cee0f4b
    000000000100000001000000010000003d0000000000000006000000e9f5467d
    51000000000000000e9ec1f3454e4453
";

/// Header; key groups and hash; job to flags; operators; staged; files.
const MANIFEST: &str = "
    464c4f574d414e4901000000a2000000000000005051abe0
    0001000001000000
    030000006a6f620500000000000000010000000000000013e50bd69a01000001
    0100000005000000636f756e7407000000726f6c6c696e67020000000103000807060504030201030000007536340100000000000000
    01000000030000006f75740100000005000000000000000400000070617274
    010000000d00000063686b2d352d312e7374617465bc000000000000001b0e0f3da4ac276b
";

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.chars().filter_map(|c| c.to_digit(16)).map(|digit| digit as u8).collect();
    digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// A checkpoint with something in every field.
fn manifest(file: StateFile) -> Manifest {
    let count = OperatorState {
        id: "count".into(),
        what: "rolling".into(),
        instances: 2,
        finished: true,
        version: 3,
        fingerprint: 0x0102_0304_0506_0708,
        schema: "u64".into(),
        files: vec![0],
    };
    let staged = StagedOutput { sink: "out".into(), instance: 1, checkpoint: 5, bytes: b"part".to_vec() };
    Manifest {
        job: "job".into(),
        id: 5,
        epoch: 1,
        taken: Timestamp(1_764_527_695_123),
        savepoint: true,
        finished: false,
        history: false,
        operators: vec![count],
        staged: vec![staged],
        files: vec![file],
    }
}

#[test]
fn files_are_written_as_they_always_were() {
    let disk = SimFs::new();
    let (mut store, _) = open(&disk, 1);
    let mut writing = store.begin(5).unwrap();
    writing.part("count", Slot::Instance(1), b"offset").unwrap();
    writing.part("count", Slot::Group(7), b"state").unwrap();
    let file = writing.file();
    store.commit(writing, manifest(file)).unwrap();
    let files = disk.contents();
    let found = (hex(&files["chk-5-1.state"]), hex(&files["chk-5-1.manifest"]));
    assert_eq!(found, (hex(&bytes(STATE)), hex(&bytes(MANIFEST))));
}

#[test]
fn files_of_version_1_are_read() {
    let files = [("chk-5-1.state", STATE), ("chk-5-1.manifest", MANIFEST)];
    let disk = SimFs::with(files.map(|(name, hex)| (name.to_owned(), bytes(hex))).into());
    let (store, newest) = open(&disk, 1);
    let newest = newest.unwrap();
    assert_eq!(newest, manifest(newest.files[0].clone()));
    let parts = store.parts(&newest, "count").unwrap();
    assert_eq!(parts.slots(), [Slot::Group(7), Slot::Instance(1)]);
    assert_eq!(parts.read(Slot::Group(7)).unwrap(), [b"state"]);
    assert_eq!(parts.read(Slot::Instance(1)).unwrap(), [b"offset"]);
}
