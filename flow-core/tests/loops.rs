//! Loops in supersteps.

#![allow(clippy::unwrap_used, reason = "a test that unwraps fails where it should")]

use flow_core::host::HostKind;
use flow_core::op::fork::Either;
use flow_core::prelude::*;

/// Runs the job of `build` everywhere, and gives what it collects, sorted.
fn everywhere<T: Ord + Clone + std::fmt::Debug + Send + 'static>(
    build: impl Fn(&mut Job, &Collected<T>),
) -> Vec<T> {
    let mut first = None;
    for p in [1, 2, 4] {
        for host in [None, Some(HostKind::Threads), Some(HostKind::Workers(2))] {
            let out = Collected::new();
            for seed in 0..if host.is_some() { 1 } else { 10 } {
                let job = Job::build("loop", |job| build(job, &out)).parallelism(p);
                match host {
                    None => job.simulate(seed).expect("the job runs"),
                    Some(host) => job.host(host).run().expect("the job runs"),
                };
                let mut rows = out.take();
                rows.sort();
                assert_eq!(first.get_or_insert_with(|| rows.clone()), &rows, "{p} {host:?} {seed}");
            }
        }
    }
    first.expect("there are runs")
}

#[test]
fn the_result_is_what_the_last_superstep_gave() {
    let doubled = everywhere(|job, out| {
        job.add(source(from_iter(0..100u64)).iterate(5, |n| n.map(|n| n * 2)).collect(out));
    });
    assert_eq!(doubled, (0..100).map(|n| n * 32).collect::<Vec<_>>());
}

#[test]
fn a_superstep_is_a_batch() {
    // Halves the distance to the sum of all of a key: each superstep sees one row of each key.
    let sums = everywhere(|job, out| {
        let numbers = source(from_iter(0..1000u64)).map(|n| (n % 7, n));
        let summed = numbers.iterate(3, |n| n.key_by(|n| n.0).fold(0, |sum, n| *sum += n.1 + 1));
        job.add(summed.collect(out));
    });
    let expected: Vec<(u64, u64)> =
        (0..7).map(|key| (key, (0..1000).filter(|n| n % 7 == key).map(|n| n + 1).sum::<u64>() + 2)).collect();
    assert_eq!(sums, expected);
}

#[test]
fn a_loop_over_nothing_is_over() {
    let out = Collected::new();
    let job = Job::build("nothing", |job| {
        job.add(source(from_iter(0..0u64)).iterate(5, |n| n.map(|n| n * 2)).collect(&out));
    });
    let report = job.parallelism(2).run().unwrap();
    assert_eq!((out.take(), report.counter("iterate.supersteps")), (vec![], 0));
    assert_eq!(report.counter("iterate.at_bound"), 0);
}

/// Labels spread over edges: the right side of a lookup is read once.
#[test]
fn labels_spread() {
    let edges = [(1u64, 2u64), (2, 3), (5, 6), (6, 5), (7, 7)];
    let labels = everywhere(|job, out| {
        let both: Vec<(u64, u64)> = edges.iter().flat_map(|(a, b)| [(*a, *b), (*b, *a)]).collect();
        let edges = source(from_vec(both)).key_by(|e| e.0);
        let vertices = source(from_iter(1..8u64)).map(|v| (v, v));
        let spread = vertices.iterate(8, |labels| {
            let reached = labels.key_by(|l| l.0).left_join(edges).lookup();
            reached
                .flat_map(|(v, ((_, label), edge))| {
                    [(v, label)].into_iter().chain(edge.map(|e| (e.1, label)))
                })
                .key_by(|l| l.0)
                .min(|l| l.1)
        });
        job.add(spread.collect(out));
    });
    assert_eq!(labels, [(1, 1), (2, 1), (3, 1), (4, 4), (5, 5), (6, 5), (7, 7)]);
}

/// Worksets are many batches, so that there is no room now and then.
#[test]
fn large_worksets() {
    let sums = everywhere(|job, out| {
        let numbers = source(from_iter(0..40_000u64)).map(|n| (n, 1u64));
        let known = source(from_iter(0..40_000u64)).batch().key_by(|n| *n);
        let summed = numbers.iterate(4, |n| {
            n.key_by(|n| n.0)
                .left_join(known)
                .lookup()
                .flat_map(|(n, ((_, sum), _))| [(n, sum), ((n + 1) % 40_000, sum)])
                .key_by(|n| n.0)
                .sum(|n| n.1)
        });
        job.add(summed.filter(|n| n.0 % 1000 == 0).collect(out));
    });
    assert_eq!(sums, (0..40).map(|n| (n * 1000, 16)).collect::<Vec<_>>());
}

fn smaller(label: &mut u64, came: u64) -> bool {
    let less = came < *label;
    *label = came.min(*label);
    less
}

#[test]
fn a_delta_loop_ends_at_its_bound() {
    let far = everywhere(|job, out| {
        let start = source(from_vec(vec![(0u64, 0u64)]));
        let far = start.iterate_delta(smaller, |changed| changed.map(|(v, d)| (v + 1, d + 1))).rounds(4);
        job.add(far.collect(out));
    });
    assert_eq!(far, [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4)]);
}

/// A bound is that of the stream behind which it stands, and not of its clones.
#[test]
fn clones_have_bounds_of_their_own() {
    let out = Collected::new();
    let job = Job::build("clones", |job| {
        let start = source(from_vec(vec![(0u64, 0u64)]));
        let far = start.iterate_delta(smaller, |changed| changed.map(|(v, d)| (v + 1, d + 1))).rounds(4);
        drop(far.clone().rounds(2));
        job.add(far.collect(&out));
    });
    job.run().unwrap();
    assert_eq!(out.take().len(), 5);
}

#[test]
fn only_what_changes_is_worked_on() {
    let out = Collected::new();
    let job = Job::build("chain", |job| {
        let edges = source(from_iter(1..100u64)).flat_map(|v| [(v - 1, v), (v, v - 1)]).key_by(|e| e.0);
        let labels = source(from_iter(0..100u64)).map(|v| (v, v));
        let labels = labels.iterate_delta(smaller, |changed| {
            let counted = changed.map_init(
                |cx| cx.counter("worked"),
                |n, c| {
                    n.add(1);
                    c
                },
            );
            counted.key_by(|c| c.0).join(edges).lookup().map(|(_, ((_, label), edge))| (edge.1, label))
        });
        job.add(labels.collect(&out));
    });
    let report = job.run().unwrap();
    assert_eq!(
        (report.counter("iterate_delta.supersteps"), report.counter("iterate_delta.at_bound")),
        (100, 0)
    );
    assert_eq!(report.counter("worked"), 100 + 99 * 100 / 2, "all, and then one less each time");
    assert_eq!(out.take(), (0..100).map(|v| (v, 0)).collect::<Vec<_>>());
}

/// Case I1, and what leaves before the others.
#[test]
fn what_is_done_leaves_at_once() {
    let out = Collected::new();
    let job = Job::build("exits", |job| {
        let numbers = source(from_vec(vec![1u64]));
        let grown =
            numbers.iterate(10, |n| n.map(|n| if n + 1 < 4 { Either::A(n + 1) } else { Either::B(n + 1) }));
        job.add(grown.collect(&out));
    });
    let report = job.run().unwrap();
    assert_eq!((out.take(), report.counter("iterate.supersteps")), (vec![4], 3));
    let left = everywhere(|job, out| {
        let numbers = source(from_iter(0..50u64)).map(|n| (n, 0u64));
        let counted = numbers.iterate(100, |n| {
            n.superstep()
                .map(|(step, (n, _))| if step <= n { Either::A((n, step)) } else { Either::B((n, step)) })
        });
        job.add(counted.collect(out));
    });
    assert_eq!(left, (0..50).map(|n| (n, n + 1)).collect::<Vec<_>>());
}

#[test]
fn what_is_not_done_at_the_bound_is_counted() {
    let out = Collected::new();
    let job = Job::build("bound", |job| {
        let numbers = source(from_iter(0..9u64));
        let left = numbers.iterate(3, |n| n.map(|n| if n == 5 { Either::B("five") } else { Either::A(n) }));
        job.add(left.collect(&out));
    });
    let report = job.parallelism(2).run().unwrap();
    assert_eq!((out.take(), report.counter("iterated.unfinished")), (vec!["five"], 8));
}

#[test]
fn a_condition_ends_it() {
    for p in [1, 2, 4] {
        let out = Collected::new();
        let job = Job::build("halves", |job| {
            let numbers = source(from_iter(0..100u64)).map(|n| (n, 1000u64));
            let halves = numbers.iterate(1_000, |n| n.map(|(n, x)| (n, x / 2)));
            job.add(halves.until(|a| a.max(|n| n.1), |most| *most < 100).collect(&out));
        });
        let report = job.parallelism(p).run().unwrap();
        assert_eq!((report.counter("iterate.supersteps"), report.counter("iterate.at_bound")), (4, 0));
        let mut rows = out.take();
        rows.sort_unstable();
        assert_eq!(rows, (0..100).map(|n| (n, 62)).collect::<Vec<_>>());
    }
}

#[test]
fn a_loop_of_no_supersteps_is_refused() {
    let out = Collected::new();
    let job = Job::build("none", |job| {
        job.add(source(from_iter(0..3u64)).iterate(0, |n| n.map(|n| n)).collect(&out));
    });
    let error = job.run().unwrap_err().to_string();
    assert!(error.contains("a loop of 0 supersteps") && error.contains("loops.rs"), "{error}");
}

/// Worksets beyond the memory go to the disk and come back.
#[test]
fn worksets_beyond_the_memory() {
    for p in [1, 2] {
        let out = Collected::new();
        let job = Job::build("large", |job| {
            let numbers = source(from_iter(0..600_000u64));
            job.add(numbers.iterate(3, |n| n.map(|n| n + 1)).count().collect(&out));
        });
        let report = job.memory(0).parallelism(p).run().unwrap();
        assert_eq!(out.take(), [600_000]);
        let spilled = report.counter("iterated.spilled");
        assert!(spilled > 600_000, "{spilled} of 1.8 million");
    }
}

#[test]
fn what_ends_the_body_ends_the_job() {
    let out = Collected::new();
    let job = Job::build("taken", |job| {
        job.add(source(from_iter(0..9u64)).iterate(3, |n| n.take(5)).collect(&out));
    });
    let error = job.run().unwrap_err().to_string();
    assert!(
        error.contains("the body of the loop has ended before the loop") && error.contains("loops.rs"),
        "{error}"
    );
}

/// Runs a job that is to end soon, on threads.
fn soon(job: Job, drains: bool) -> Result<Report> {
    let handle = job.start()?;
    let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while !handle.is_finished() {
        assert!(std::time::Instant::now() < until, "it hangs");
        std::thread::sleep(std::time::Duration::from_millis(5));
        if drains {
            handle.drain();
        }
    }
    handle.join()
}

/// Nobody wants more of it, and it would go on for ever: it ends, on every host.
#[test]
fn a_loop_ends_when_nobody_wants_more() {
    for (p, host) in [1, 2, 4].into_iter().flat_map(|p| [(p, HostKind::Threads), (p, HostKind::Workers(2))]) {
        let out = Collected::new();
        let job = Job::build("one", |job| {
            let left = source(from_iter(0..10u64))
                .iterate(u64::MAX, |n| n.map(|n| if n == 0 { Either::B(n) } else { Either::A(n) }));
            job.add(left.take(1).collect(&out));
        });
        soon(job.host(host).parallelism(p), false).unwrap();
        assert_eq!(out.take(), [0], "{p} {host:?}");
        // What leaves at the end, too, and what goes through stages.
        let job = Job::build("some", |job| {
            let numbers = source(from_iter(0..10_000u64)).map(|n| (n, n));
            let summed = numbers.iterate(3, |n| n.key_by(|n| n.0).sum(|n| n.1));
            job.add(summed.take(3).map(|_| 7).collect(&out));
        });
        soon(job.host(host).parallelism(p), false).unwrap();
        assert_eq!(out.take(), [7, 7, 7], "{p} {host:?}");
        let job = Job::build("none", |job| {
            let start = source(from_iter(0..5u64)).map(|n| (n, 0u64));
            let far = start.iterate_delta(smaller, |changed| changed.map(|(v, d)| (v + 5, d + 1)));
            job.add(far.take(0).map(|_| 7).collect(&out));
        });
        soon(job.host(host).parallelism(p), false).unwrap();
        assert!(out.take().is_empty(), "{p} {host:?}");
    }
    for seed in 0..30 {
        let out = Collected::new();
        let job = Job::build("one", |job| {
            let left = source(from_iter(0..10u64)).iterate(u64::MAX, |n| {
                n.key_by(|n| *n).sum(|n| *n).map(|n| if n.0 == 0 { Either::B(n.0) } else { Either::A(n.0) })
            });
            job.add(left.take(1).collect(&out));
        });
        job.parallelism(1 + seed as usize % 4).simulate(seed).unwrap();
        assert_eq!(out.take(), [0]);
    }
}

/// What ends the body of a delta loop.
#[test]
fn what_ends_the_body_of_a_delta_loop_ends_the_job() {
    for p in [1, 2] {
        let out = Collected::new();
        let job = Job::build("taken", |job| {
            let start = source(from_iter(0..9u64)).map(|n| (n, 0u64));
            let far = start.iterate_delta(smaller, |changed| changed.map(|(v, d)| (v + 9, d)).take(5));
            job.add(far.collect(&out));
        });
        let error = soon(job.parallelism(p), false).unwrap_err().to_string();
        assert!(error.contains("the body of the loop has ended before the loop"), "{error}");
    }
}

/// Asked to end, it does, after the superstep that is under way; what came back last is the result.
#[test]
fn an_endless_loop_ends_when_the_job_is_to() {
    for (p, host) in [1, 2].into_iter().flat_map(|p| [(p, HostKind::Threads), (p, HostKind::Workers(2))]) {
        let out = Collected::new();
        let job = Job::build("endless", |job| {
            let numbers = source(from_iter(0..10u64)).iterate(u64::MAX, |n| n.map(|n| n));
            job.add(numbers.count().collect(&out));
        });
        soon(job.host(host).parallelism(p), true).unwrap();
        let kept = out.take();
        assert!(kept[0] <= 10 && kept.len() == 1, "{kept:?}");
    }
}

/// A condition is about what a superstep has changed, and the input has been changed by none.
#[test]
fn a_condition_of_a_delta_loop_counts_from_the_first_superstep() {
    let far = everywhere(|job, out| {
        let there = (1..=20u64).flat_map(|n| [(0, n), (n, 20 + n)]).chain([(21, 100), (100, 101)]);
        let roads = source(from_vec(there.collect::<Vec<_>>())).key_by(|road| road.0);
        let start = source(from_vec(vec![(0u64, 0u64)]));
        let distances = start.iterate_delta(smaller, |changed| {
            changed.key_by(|c| c.0).join(roads).lookup().map(|(_, ((_, d), road))| (road.1, d + 1))
        });
        job.add(distances.until(|a| a.count(), |n| *n < 10).collect(out));
    });
    let one = |n: u64| (n, u64::from(n > 0) + u64::from(n > 20) + u64::from(n > 40));
    assert_eq!(far, (0..=40).chain([100]).map(one).collect::<Vec<_>>());
}

/// What gives its records by time is refused in a body, before anything is read.
#[test]
fn operators_of_time_are_refused_in_a_body() {
    let out = Collected::new();
    let timed = Job::build("timed", |job| {
        let numbers = source(from_iter(1..9i64));
        job.add(numbers.iterate(3, |n| n.event_time(|n| *n).disorder(Millis(0))).collect(&out));
    });
    let limited = Job::build("limited", |job| {
        job.add(source(from_iter(1..9i64)).iterate(3, |n| n.rate_limit(1_000)).collect(&out));
    });
    let asked = Job::build("asked", |job| {
        let asked = |n: i64| async move { n };
        job.add(source(from_iter(1..9i64)).iterate(3, |n| n.async_map(asked, Millis(900))).collect(&out));
    });
    // A window of two supersteps.
    let counted = Job::build("counted", |job| {
        let counts = source(from_iter(0..10u64)).iterate(2, |n| n.window(count(4)).count().map(|w| w.value));
        job.add(counts.collect(&Collected::new()));
    });
    let keyed = Job::build("keyed", |job| {
        let counts = source(from_iter(0..10u64))
            .iterate(2, |n| n.key_by(|n| *n).window(count(4)).count().map(|w| w.value));
        job.add(counts.collect(&Collected::new()));
    });
    // Whose timers fire in whatever superstep is under way.
    let waits = Job::build("waits", |job| {
        let waits = source(from_iter(0..10u64)).iterate(2, |n| {
            let process = n.key_by(|n| *n).declare(()).on_the_clock();
            let process =
                process.on_event::<u64, _, _>(|(), _, ctx| ctx.set_processing_timer(ctx.now() + Millis(5)));
            process.on_processing_timer(|(), _, ctx| ctx.emit(*ctx.key())).done()
        });
        job.add(waits.collect(&Collected::new()));
    });
    for (job, op) in [
        (waits, "process"),
        (timed, "event_time"),
        (limited, "rate_limit"),
        (asked, "async_map"),
        (counted, "count"),
        (keyed, "count"),
    ] {
        let error = soon(job, false).unwrap_err().to_string();
        let told =
            error.contains("in the body of a loop") && error.contains(op) && error.contains("loops.rs");
        assert!(told, "{error}");
    }
}

/// Both count their supersteps; an outer superstep in which nothing comes to the inner loop has none of it.
#[test]
fn loops_in_loops_count() {
    let out = Collected::new();
    let job = Job::build("counted", |job| {
        let numbers = source(from_iter(0..100u64));
        let left = numbers.iterate(4, |n| {
            n.iterate(3, |n| n.map(|n| n + 1))
                .named("inner")
                .superstep()
                .flat_map(|(step, n)| (step < 3).then_some(n))
        });
        job.add(left.collect(&out));
    });
    let report = job.parallelism(2).run().unwrap();
    println!("{report}");
    assert_eq!(out.take(), [0; 0]);
    let counted: Vec<i64> = report
        .stages
        .iter()
        .flat_map(|stage| &stage.counters)
        .filter(|counter| counter.0.ends_with("supersteps"))
        .map(|counter| counter.1)
        .collect();
    assert_eq!(counted.iter().sum::<i64>(), 3 + 9, "{report}");
}

/// Whatever ends one of them ends both: nobody wants more, the job is to end, an operator in a body.
#[test]
fn loops_in_loops_end() {
    for (p, host) in [1, 2, 4].into_iter().flat_map(|p| [(p, HostKind::Threads), (p, HostKind::Workers(2))]) {
        let out = Collected::new();
        let job = Job::build("one", |job| {
            let left = source(from_iter(0..10u64)).iterate(u64::MAX, |n| {
                let same = n.iterate(2, |n| n.key_by(|n| *n).sum(|n| *n).map(|n| n.1));
                same.map(|n| if n == 0 { Either::B(n) } else { Either::A(n) })
            });
            job.add(left.take(1).collect(&out));
        });
        soon(job.host(host).parallelism(p), false).unwrap();
        assert_eq!(out.take(), [0], "{p} {host:?}");
        let job = Job::build("endless", |job| {
            let numbers =
                source(from_iter(0..10u64)).iterate(u64::MAX, |n| n.iterate(u64::MAX, |n| n.map(|n| n)));
            job.add(numbers.count().collect(&out));
        });
        soon(job.host(host).parallelism(p), true).unwrap();
        assert_eq!(out.take().len(), 1, "{p} {host:?}");
        let job = Job::build("delta", |job| {
            let start = source(from_iter(0..9u64)).map(|n| (n, 0u64));
            let far = start.iterate_delta(smaller, |changed| {
                changed.iterate_delta(smaller, |changed| changed.map(|(v, d)| (v + 9, d))).rounds(2)
            });
            job.add(far.map(|_| 7).collect(&out));
        });
        soon(job.host(host).parallelism(p), true).unwrap();
        out.take();
        let job = Job::build("taken", |job| {
            let numbers = source(from_iter(0..9u64)).iterate(3, |n| n.iterate(3, |n| n.take(5)));
            job.add(numbers.collect(&out));
        });
        let error = soon(job.host(host).parallelism(p), false).unwrap_err().to_string();
        assert!(error.contains("the body of the loop has ended before the loop"), "{error}");
        let job = Job::build("taken outside", |job| {
            let numbers = source(from_iter(0..9u64)).iterate(3, |n| n.iterate(3, |n| n.map(|n| n)).take(5));
            job.add(numbers.collect(&out));
        });
        let error = soon(job.host(host).parallelism(p), false).unwrap_err().to_string();
        assert!(error.contains("the body of the loop has ended before the loop"), "{error}");
    }
}

/// Worksets of both go to the disk.
#[test]
fn worksets_of_loops_in_loops_beyond_the_memory() {
    let out = Collected::new();
    let job = Job::build("large", |job| {
        let numbers = source(from_iter(0..600_000u64));
        let grown = numbers.iterate(2, |n| n.iterate(2, |n| n.map(|n| n + 1)).map(|n| n + 1));
        job.add(grown.sum(|n| *n).collect(&out));
    });
    let report = job.memory(0).parallelism(2).run().unwrap();
    assert_eq!(out.take(), [(0..600_000u64).map(|n| n + 6).sum::<u64>()]);
    let spilled = report.stages.iter().flat_map(|stage| &stage.counters).filter(|c| c.0.ends_with("spilled"));
    assert!(spilled.map(|c| c.1).sum::<i64>() > 600_000, "{report}");
}
