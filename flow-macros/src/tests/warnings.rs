//! What the macro writes for a warning, which has no syntax on a stable compiler.

use super::{Part, expanded};
use expect_test::{Expect, expect};

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&expanded(text, Part::Pipeline));
}

#[test]
fn a_warning_is_a_deprecated_item() {
    check(
        "let t = source(n).event_time(f, disorder = d);
         t.window(tumbling(1h)).count().for_each(g);",
        expect![[r#"
            fn expression() {
                let mut __job = begin("dataflow");
                scope("t");
                let t = source(n).event_time(f).disorder(d);
                scope("t");
                let __end_1 = t
                    .window(tumbling(Millis(3600000)))
                    .count()
                    .for_each(g);
                {
                    #[deprecated(
                        note = "events may come out of order here, but nothing says what becomes of late ones: they are dropped and counted\nhelp: write `late = drop`, `late = side` or `late = fail`"
                    )]
                    #[allow(non_upper_case_globals, reason = "the name is shown in the warning")]
                    const flow_warning: () = ();
                    let () = flow_warning;
                }
                __job.add(__end_1);
                __job
            }
        "#]],
    );
}
