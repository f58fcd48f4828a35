//! What a user reads when a pipeline is wrong: one mistake a file under `ui/`, by topic, with the compiler's whole answer
//! beside it. `TRYBUILD=overwrite cargo test -p flow-tests --test ui` writes the answers anew; read them before you
//! commit them.

#[test]
fn mistakes_are_told_in_the_users_words() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("ui/*/*.rs");
}
