//! Word count on the repository's sample text, beside the same loop over a hash table.

use std::hint::black_box;
use std::path::{Path, PathBuf};

use criterion::{Criterion, criterion_group, criterion_main};
use flow_core::prelude::*;
use hashbrown::HashMap;

dataflow! {
    fn counts(text: PathBuf, counted: Collected<Windowed<String, u64>>) {
        let words = source(lines(text))
            .flat_map(|line| line.split_ascii_whitespace().map(str::to_ascii_lowercase).collect::<Vec<_>>());
        words.key_by_ref(|word| word.as_str()).window(global()).count().collect(&counted);
    }
}

fn flow(text: &Path) -> Vec<(String, u64)> {
    let counted = Collected::new();
    counts(text.to_owned(), counted.clone()).run().expect("the job ends well");
    counted.take().into_iter().map(|count| (count.key, count.value)).collect()
}

fn by_hand(text: &Path) -> Vec<(String, u64)> {
    let text = std::fs::read(text).expect("the text can be read");
    let mut counts: HashMap<Vec<u8>, u64, foldhash::fast::FixedState> = HashMap::default();
    let mut word = Vec::new();
    for token in text.split(u8::is_ascii_whitespace).filter(|token| !token.is_empty()) {
        word.clear();
        word.extend(token.iter().map(u8::to_ascii_lowercase));
        *counts.entry_ref(&word[..]).or_insert(0) += 1;
    }
    counts
        .into_iter()
        .map(|(word, count)| (String::from_utf8(word).expect("the text is UTF-8"), count))
        .collect()
}

fn sorted(mut counts: Vec<(String, u64)>) -> Vec<(String, u64)> {
    counts.sort_unstable();
    counts
}

fn word_count(c: &mut Criterion) {
    let text = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/data/kjv.txt");
    assert_eq!(sorted(flow(&text)), sorted(by_hand(&text)), "flow and the loop agree");
    let mut group = c.benchmark_group("word_count");
    group.sample_size(20);
    group.bench_function("hand", |b| b.iter(|| by_hand(black_box(&text))));
    group.bench_function("flow", |b| b.iter(|| flow(black_box(&text))));
    group.finish();
}

criterion_group!(benches, word_count);
criterion_main!(benches);
