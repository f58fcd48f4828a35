//! What the macro writes for the block of a process.

use super::{Part, expanded};
use expect_test::{Expect, expect};

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&expanded(text, Part::Pipeline));
}

#[test]
fn a_process_with_sides() {
    check(
        r#"
        fn payments(path: PathBuf) {
            let (alerts, small) = source(csv::<Payment>(path)).key_by(|p| p.account).process({
                #[ttl(1h)]
                let mut largest: ReducingState<u64> = ReducingState::new(|a, b| a.max(b));
                let small: Side<Small> = side();
                on_event(|p, ctx| {
                    largest.add(p.amount);
                    ctx.output(small, Small(p));
                });
            });
            alerts.for_each(f);
            small.for_each(g);
        }
        "#,
        expect![[r#"
            fn payments(path: PathBuf) -> ::flow_core::Job {
                let mut __job = begin("payments");
                scope("alerts");
                let __alerts_and_sides = source(csv::<Payment>(path))
                    .key_by(|p| p.account)
                    .declare((
                        Named(
                            "largest",
                            WithFunction(
                                TimedEntries::new(
                                    move || -> ReducingState<u64> {
                                        ReducingState::new(|a, b| a.max(b))
                                    },
                                    Ttl::new(Millis(3600000)),
                                ),
                            ),
                        ),
                        (),
                    ))
                    .with_sides::<(Small,)>()
                    .on_event::<
                        EmitsNothing,
                        _,
                        _,
                    >(move |(largest, ()), p, ctx| {
                        let _ = &largest;
                        let small = Side::<
                            Small,
                            First,
                        >::new();
                        let _ = small;
                        largest.add(p.amount);
                        ctx.output(small, Small(p));
                    })
                    .apart();
                let (alerts, small) = __alerts_and_sides.roots();
                scope("alerts");
                let __end_1 = alerts.for_each(f);
                scope("small");
                let __end_2 = small.for_each(g);
                let __end_3 = __alerts_and_sides.fork((__end_1, __end_2));
                __job.add(__end_3);
                __job
            }
        "#]],
    );
}
