//! What the macro writes for a text: small pipelines, one rule each, pretty-printed. The paths of the facade
//! (`::flow_core::__rt::…`) are left out.

use super::{Part, expanded};
use expect_test::{Expect, expect};

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&expanded(text, Part::Pipeline));
}

#[test]
fn the_item_form() {
    check(
        r#"
        /// Mean departure delay per airport and hour.
        pub fn delays_by_hour(flights: PathBuf, report: PathBuf) {
            let departures = source(csv::<Flight>(flights))
                .filter(|f| f.dep_delay.is_some())
                .event_time(|f| f.scheduled(), disorder = 15min);

            let (hourly, late) = departures
                .key_by(|f| f.origin)
                .window(tumbling(1h, offset = -5min), late = side, lateness = 10min)
                .aggregate(|a| (a.count(), a.mean(|f| f.dep_delay)));

            hourly.sink(csv_file(report));
            late.for_each(|f| eprintln!("late: {f:?}"));
        }
        "#,
        expect![[r#"
            /// Mean departure delay per airport and hour.
            pub fn delays_by_hour(flights: PathBuf, report: PathBuf) -> ::flow_core::Job {
                let mut __job = begin("delays_by_hour");
                scope("departures");
                let departures = source(csv::<Flight>(flights))
                    .filter(move |f| f.dep_delay.is_some())
                    .event_time(move |f| f.scheduled())
                    .disorder(Millis(900000));
                scope("hourly");
                let __hourly_and_sides = departures
                    .key_by(|f| f.origin)
                    .window(
                        tumbling(Millis(3600000))
                            .offset(-Millis(300000)),
                    )
                    .lateness(Millis(600000))
                    .late(side)
                    .aggregate(|a| (a.count(), a.mean(|f| f.dep_delay)));
                let (hourly, late) = __hourly_and_sides.roots();
                scope("hourly");
                let __end_1 = hourly.sink(csv_file(report));
                scope("late");
                let __end_2 = late.for_each(move |f| eprintln!("late: {f:?}"));
                let __end_3 = __hourly_and_sides.fork((__end_1, __end_2));
                __job.add(__end_3);
                __job
            }
        "#]],
    );
}

#[test]
fn a_checkpointed_pipeline() {
    check(
        r#"
        #[checkpointed]
        pub fn p(rides: PathBuf, out: PathBuf) {
            let rides = source(csv::<Ride>(rides));
            #[was(per_city)]
            let counts = rides.key_by(|r| r.city).count();
            counts.sink(csv_files(out));
        }
        #[checkpointed(at_least_once)]
        fn q() {
            source(lines(path)).for_each(print);
        }
        #[batch]
        #[checkpointed]
        fn r() {
            source(lines(path)).for_each(print);
        }
        #[batch(exported)]
        fn s() {
            source(lines(path)).for_each(print);
        }
        "#,
        expect![[r#"
            pub fn p(rides: PathBuf, out: PathBuf) -> ::flow_core::Job {
                let mut __job = begin("p");
                scope("rides");
                let rides = source(csv::<Ride>(rides)).durable();
                scope("counts");
                let counts = rides.key_by(|r| r.city).kept_key().count();
                scope("counts");
                let __end_1 = counts.sink(csv_files(out));
                __job.was("counts", "per_city");
                __job.add(__end_1);
                __job
            }
            fn q() -> ::flow_core::Job {
                let mut __job = begin("q");
                scope("q");
                let __end_1 = source(lines(path)).at_least_once().for_each(print);
                __job.add(__end_1);
                __job
            }
            fn r() -> ::flow_core::Job {
                let mut __job = begin("r");
                scope("r");
                let __end_1 = source(lines(path)).durable().batch().for_each(print);
                __job.add(__end_1);
                __job
            }
            fn s() -> ::flow_core::Job {
                let mut __job = begin("s");
                scope("s");
                let __end_1 = source(lines(path)).exported().for_each(print);
                __job.add(__end_1);
                __job
            }
        "#]],
    );
}

#[test]
fn the_expression_form_captures_its_surroundings() {
    check(
        r#"{
            let lines = source(from_vec(text)).filter(|line| keep(line) && line.len() > least);
            lines.for_each(|line| println!("{prefix}: {line}"));
        }"#,
        expect![[r#"
            fn expression() {
                let mut __job = begin("dataflow");
                scope("lines");
                let lines = source(from_vec(text))
                    .filter({
                        let least = capture(&least);
                        move |line| keep(line) && line.len() > least
                    });
                scope("lines");
                let __end_1 = lines
                    .for_each({
                        let prefix = capture(&prefix);
                        move |line| println!("{prefix}: {line}")
                    });
                __job.add(__end_1);
                __job
            }
        "#]],
    );
}

#[test]
fn a_name_used_twice_is_a_tee() {
    check(
        "let a = source(numbers);
         let b = a.map(|x| x + 1);
         b.for_each(f);
         b.for_each(g);
         a.for_each(h);",
        expect![[r#"
            fn expression() {
                let mut __job = begin("dataflow");
                scope("a");
                let a = source(numbers);
                scope("b");
                let b = a.root().map(move |x| x + 1);
                scope("b");
                let __end_1 = b.root().for_each(f);
                scope("b");
                let __end_2 = b.root().for_each(g);
                scope("a");
                let __end_3 = a.root().for_each(h);
                let __b_and_uses = b.tee(|__o| __o.both(__end_1, __end_2));
                let __a_and_uses = a.tee(|__o| __o.both(__b_and_uses, __end_3));
                __job.add(__a_and_uses);
                __job
            }
        "#]],
    );
}

#[test]
fn sides_hang_on_what_they_come_from() {
    check(
        "let (even, _odd) = source(numbers).partition(|x| x % 2 == 0);
         even.for_each(f);
         let (_, c, d) = even.split(|x| sides(x));
         c.for_each(f);
         d.for_each(f);",
        expect![[r#"
            fn expression() {
                let mut __job = begin("dataflow");
                scope("even");
                let __even_and_sides = source(numbers).partition(move |x| x % 2 == 0);
                let (even, _odd) = __even_and_sides.roots();
                scope("even");
                let __end_1 = even.root().for_each(f);
                scope("c");
                let __side_0_and_sides = even.root().split(move |x| sides(x));
                let (__side_0, c, d) = __side_0_and_sides.roots();
                scope("c");
                let __end_2 = c.for_each(f);
                scope("d");
                let __end_3 = d.for_each(f);
                let __end_4 = __side_0_and_sides
                    .fork((ignore(&__side_0), __end_2, __end_3));
                let __even_and_uses = even.tee(|__o| __o.both(__end_1, __end_4));
                let __end_5 = __even_and_sides
                    .fork((__even_and_uses, ignore(&_odd)));
                __job.add(__end_5);
                __job
            }
        "#]],
    );
}

#[test]
fn a_union_begins_a_stream_of_its_own() {
    check(
        "let a = source(numbers);
         let b = source(numbers).union(a.map(|x| -x), a);
         b.take(5).union(a).for_each(f);",
        expect![[r#"
            fn expression() {
                let mut __job = begin("dataflow");
                scope("a");
                let a = source(numbers);
                scope("b");
                let __s1 = a.root().map(move |x| -x);
                let (__end_1, __end_2, __s2) = source(numbers).union_ends(__s1);
                let (__end_3, __end_4, b) = __s2.union_ends(a.root());
                scope("b");
                let (__end_5, __end_6, __s4) = b.take(5).union_ends(a.root());
                let __end_7 = __s4.for_each(f);
                let __a_and_uses = a.tee(|__o| __o.both(__end_2, __o.both(__end_4, __end_6)));
                __job.add(__a_and_uses);
                __job.add(__end_1);
                __job.add(__end_3);
                __job.add(__end_5);
                __job.add(__end_7);
                __job
            }
        "#]],
    );
}

#[test]
fn functions_of_streams() {
    check(
        "let a = clean(source(numbers), 5s);
         let b = merge(a, source(numbers).shuffle(seed = 5));
         let c = merger.merge(b, 5).apply(Double::new(|x| x * 2));
         report(c);",
        expect![[r#"
            fn expression() {
                let mut __job = begin("dataflow");
                scope("a");
                let __s0 = source(numbers);
                let a = clean(__s0, Millis(5000));
                scope("b");
                let (__end_1, __s2) = a.cut();
                let __s3 = source(numbers).shuffle(5);
                let (__end_2, __s4) = __s3.cut();
                let b = merge(__s2, __s4);
                scope("c");
                let c = merger.merge(b, 5).apply(Double::new(move |x| x * 2));
                scope("c");
                let __end_3 = report(c);
                __job.add(__end_1);
                __job.add(__end_2);
                __job.add(__end_3);
                __job
            }
        "#]],
    );
}

#[test]
fn a_closure_owns_a_clone_of_each_outer_name() {
    check(
        r#"pub fn p(names: Vec<String>, limit: usize, out: PathBuf) {
            let least = limit / 2;
            let a = source(from_vec(names)).filter(|x| x.len() > least && names.contains(x));
            a.map_init(|ctx| open(&out, ctx), |file, x| { let limit = x.len(); file.write(x, limit) })
                .flat_map(move |x| x.split(' ').map(|w| w.len() + limit).collect::<Vec<_>>())
                .through(|s| s.filter(|x| *x > limit))
                .for_each(|x| if let Some(out) = x.get(limit) { println!("{out} {limit:>5} {{least}}") });
        }"#,
        expect![[r#"
            pub fn p(names: Vec<String>, limit: usize, out: PathBuf) -> ::flow_core::Job {
                let mut __job = begin("p");
                let least = limit / 2;
                scope("a");
                let a = source(from_vec(capture(&names)))
                    .filter({
                        let least = capture(&least);
                        let names = capture(&names);
                        move |x| x.len() > least && names.contains(x)
                    });
                scope("a");
                let __end_1 = a
                    .map_init(
                        {
                            let out = capture(&out);
                            move |ctx| open(&out, ctx)
                        },
                        move |file, x| {
                            let limit = x.len();
                            file.write(x, limit)
                        },
                    )
                    .flat_map({
                        let limit = capture(&limit);
                        move |x| x.split(' ').map(|w| w.len() + limit).collect::<Vec<_>>()
                    })
                    .through(|s| {
                        s
                            .filter({
                                let limit = capture(&limit);
                                move |x| *x > limit
                            })
                    })
                    .for_each({
                        let limit = capture(&limit);
                        move |x| {
                            if let Some(out) = x.get(limit) {
                                println!("{out} {limit:>5} {{least}}")
                            }
                        }
                    });
                __job.add(__end_1);
                __job
            }
        "#]],
    );
}

#[test]
fn a_value_that_is_mentioned_once_moves() {
    check(
        r#"pub fn p(lines: Vec<String>, out: PathBuf, both: PathBuf) {
            let lines = source(from_vec(lines));
            lines.filter(|line| line.len() > 1).sink(text_file(out));
            lines.filter(|line| line.len() > 2).sink(text_file(both));
            lines.sink(csv_file(both));
        }"#,
        expect![[r#"
            pub fn p(lines: Vec<String>, out: PathBuf, both: PathBuf) -> ::flow_core::Job {
                let mut __job = begin("p");
                scope("lines");
                let lines = source(from_vec(lines));
                scope("lines");
                let __end_1 = lines.root().filter(move |line| line.len() > 1).sink(text_file(out));
                scope("lines");
                let __end_2 = lines
                    .root()
                    .filter(move |line| line.len() > 2)
                    .sink(text_file(capture(&both)));
                scope("lines");
                let __end_3 = lines.root().sink(csv_file(capture(&both)));
                let __lines_and_uses = lines
                    .tee(|__o| __o.both(__end_1, __o.both(__end_2, __end_3)));
                __job.add(__lines_and_uses);
                __job
            }
        "#]],
    );
}

#[test]
fn a_shadowed_stream_that_is_closed_later_is_renamed() {
    check(
        "let a = source(numbers);
         a.for_each(f);
         let a = a.map(|x| x + 1);
         a.for_each(g);",
        expect![[r#"
            fn expression() {
                let mut __job = begin("dataflow");
                scope("a");
                let __a_0 = source(numbers);
                scope("a");
                let __end_1 = __a_0.root().for_each(f);
                scope("a");
                let a = __a_0.root().map(move |x| x + 1);
                scope("a");
                let __end_2 = a.for_each(g);
                let __a_0_and_uses = __a_0.tee(|__o| __o.both(__end_1, __end_2));
                __job.add(__a_0_and_uses);
                __job
            }
        "#]],
    );
}

#[test]
fn an_annotation_forces_a_stream() {
    check(
        "let a: Stream<u64> = if fast { quick() } else { slow() };
         let b: Stream<u64> = make(5).map(|x| x + 1).named(\"plus\");
         a.for_each(f);
         b.for_each(f);",
        expect![[r#"
            fn expression() {
                let mut __job = begin("dataflow");
                scope("a");
                let a: Stream<u64, _, _> = if fast { quick() } else { slow() };
                scope("b");
                let b: Stream<u64, _, _> = make(5).map(move |x| x + 1).named("plus");
                scope("a");
                let __end_1 = a.for_each(f);
                scope("b");
                let __end_2 = b.for_each(f);
                __job.add(__end_1);
                __job.add(__end_2);
                __job
            }
        "#]],
    );
}

#[test]
fn plain_rust_passes_through() {
    check(
        r#"use std::fmt::Write;
         let (tx, rx) = channel(16);
         if verbose { println!("begin"); }
         source(rx).try_for_each(|x| sent(x));
         tx.send(1)"#,
        expect![[r#"
            fn expression() {
                let mut __job = begin("dataflow");
                use std::fmt::Write;
                let (tx, rx) = channel(16);
                if verbose {
                    println!("begin");
                }
                scope("dataflow");
                let __end_1 = source(rx).try_for_each(move |x| sent(x));
                tx.send(1);
                __job.add(__end_1);
                __job
            }
        "#]],
    );
}

#[test]
fn long_chains_are_boxed() {
    let maps = ".map(f)".repeat(30);
    let text = expanded(
        &format!("let a = source(n){maps}; a{maps}.key_by(k).count(){maps}.sink(s);"),
        Part::Pipeline,
    );
    let runs: Vec<usize> = text
        .split(".boxed()")
        .flat_map(|run| run.split(".key_by("))
        .map(|run| run.matches(".map(").count())
        .collect();
    assert_eq!(runs, [24, 24, 12, 23, 7], "{text}");
}

#[test]
fn half_typed_text_keeps_its_tokens() {
    let text = "pub fn p() { let a = source(n).event_time(f, disorder = 0s); a.key_by(|e| e.).window(tumbling(1h)).count().for_each(|w| w.); }";
    let tokens = crate::expand(text.parse().expect("tokens")).to_string();
    assert!(
        tokens.contains(
            "a . key_by (move | e | e .) . window (tumbling (:: flow_core :: __rt :: Millis (3600000)))"
        ),
        "{tokens}"
    );
    assert!(!tokens.contains("__hole"), "{tokens}");
    expect![[r#"
        ::core::compile_error! {
            "something is missing after this `.`\nhelp: write an operator, or remove the `.`"
        }
        ::core::compile_error! {
            "something is missing after this `.`\nhelp: write an operator, or remove the `.`"
        }
        #[allow(unused, reason = "a stub for a pipeline with mistakes")]
        pub fn p() -> ::flow_core::Job {
            stub()
        }
    "#]]
    .assert_eq(&expanded(text, Part::Stub));
}
