//! The programs that are compiled, and how one closure of each is edited.

use std::fmt::Write;

/// A program whose text has one place that an edit changes.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// The folder it is written to.
    pub name: &'static str,
    /// What stands under `[dependencies]`; `{flow_core}` is the path of the library.
    pub dependencies: &'static str,
    text: &'static str,
}

/// Flow's word count.
pub const FLOW: Program = Program {
    name: "word-count-flow",
    dependencies: "flow-core = { path = '{flow_core}' }",
    text: include_str!("programs/word_count_flow.rs"),
};

/// Timely's word count.
pub const TIMELY: Program = Program {
    name: "word-count-timely",
    dependencies: "timely = '0.32'",
    text: include_str!("programs/word_count_timely.rs"),
};

/// In both texts, within the closure of the filter.
const EDITED: &str = "word.len() > 0";

impl Program {
    /// The text after edit number `edit`; each number gives another text.
    pub fn text(&self, edit: u32) -> String {
        assert!(self.text.contains(EDITED), "{} has the place that is edited", self.name);
        self.text.replace(EDITED, &format!("word.len() > {edit}"))
    }
}

/// A pipeline of `operators` maps and filters, one a `let`.
pub fn chain(operators: usize, edit: u32) -> String {
    let mut text = String::from(
        "use flow_core::prelude::*;\n\ndataflow! {\n    fn chain() {\n        let s0 = source(from_iter(0..100u64));\n",
    );
    for k in 1..=operators {
        let before = k - 1;
        let operator = if k % 2 == 0 { "filter(|x| *x !=" } else { "map(|x| x ^" };
        let constant = edit as usize * 1000 + k;
        writeln!(text, "        let s{k} = s{before}.{operator} {constant});").expect("a string takes it");
    }
    write!(
        text,
        "        s{operators}.for_each(|x| println!(\"{{x}}\"));\n    }}\n}}\n\n\
         fn main() -> flow_core::Result<()> {{\n    chain().run().map(drop)\n}}\n"
    )
    .expect("a string takes it");
    text
}
