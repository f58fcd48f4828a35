//! The expansion of every `dataflow!` in the examples, for reading: `examples/NAME.expanded`. The paths of the facade
//! (`::flow_core::__rt::…`) are left out.

use super::{Part, expanded_tokens};
use expect_test::expect_file;
use proc_macro2::TokenStream;
use std::path::Path;
use syn::visit::{self, Visit};

#[test]
fn expansions_of_the_examples() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    for entry in std::fs::read_dir(folder).expect("the examples lie beside this crate") {
        let path = entry.expect("a folder's entry is readable").path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("an example is readable");
        let mut found = Pipelines::default();
        found.visit_file(&syn::parse_file(&text).expect("an example is Rust"));
        if found.0.is_empty() {
            continue;
        }
        let expansions: Vec<String> =
            found.0.into_iter().map(|tokens| expanded_tokens(tokens, Part::Pipeline)).collect();
        expect_file![format!("examples/{name}.expanded")].assert_eq(&expansions.join("\n"));
    }
}

#[derive(Default)]
struct Pipelines(Vec<TokenStream>);

impl<'a> Visit<'a> for Pipelines {
    fn visit_macro(&mut self, found: &'a syn::Macro) {
        if found.path.segments.last().is_some_and(|last| last.ident == "dataflow") {
            self.0.push(found.tokens.clone());
        }
        visit::visit_macro(self, found);
    }
}
