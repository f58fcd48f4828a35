//! Counts the words of a text.

use std::path::PathBuf;

use flow_core::prelude::*;

dataflow! {
    fn word_count(input: PathBuf) {
        let words = source(lines(input))
            .flat_map(|line| line.split_ascii_whitespace().map(str::to_lowercase).collect::<Vec<_>>())
            .filter(|word| word.len() > 0);
        let counts = words.key_by_ref(|word| word.as_str()).window(global()).count();
        counts.for_each(|count| println!("{} {}", count.key, count.value));
    }
}

fn main() -> flow_core::Result<()> {
    let input = std::env::args_os().nth(1).unwrap_or("text.txt".into());
    word_count(input.into()).run()?;
    Ok(())
}
