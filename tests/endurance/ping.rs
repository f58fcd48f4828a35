//! A single record arrives although its batch is not full.

use super::HOSTS;
use flow_core::prelude::*;
use flow_tests::process::alone;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

/// Generous: what is meant is "not held until the batch is full".
const PROMPT: Duration = Duration::from_secs(1);

/// Through two exchanges, so that three stages have to pass it on.
fn pipeline(job: &mut Job, records: flow_core::source::ChannelSource<u64>, pong: SyncSender<(u64, u64)>) {
    job.add(source(records).rebalance().key_by(|n| n % 3).count().sink(to_channel(pong)));
}

fn ping_pong(sender: &flow_core::source::ChannelSender<u64>, pong: &Receiver<(u64, u64)>) {
    for n in 0..10 {
        sender.send(n).unwrap();
        assert_eq!(pong.recv_timeout(PROMPT).map(|p| p.0), Ok(n % 3));
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_ping_is_answered_on_every_host() {
    let _alone = alone();
    for host in HOSTS {
        let ((sender, records), (answer, pong)) = (channel(16), sync_channel(16));
        let job = Job::build("ping", |job| pipeline(job, records, answer));
        let handle = job.parallelism(2).host(host).start().unwrap();
        ping_pong(&sender, &pong);
        drop(sender);
        assert_eq!(handle.join().unwrap().rescues, 0);
    }
    let ((sender, records), (answer, pong)) = (channel(16), sync_channel(16));
    let job = Job::build("ping", |job| pipeline(job, records, answer));
    let simulation = std::thread::spawn(move || job.parallelism(2).simulate(5));
    ping_pong(&sender, &pong);
    drop(sender);
    simulation.join().unwrap().unwrap();
}

/// The source never waits, and next to nothing passes its filter.
#[test]
fn a_busy_stage_does_not_hold_back_the_little_it_has() {
    let _alone = alone();
    for host in HOSTS {
        let (answer, pong) = sync_channel(16);
        let job = Job::build("busy", |job| {
            let few = source(generate(u64::MAX, |i| i)).filter(|n| *n < 3);
            job.add(few.boundary().sink(to_channel(answer)));
        });
        let handle = job.host(host).max_delay(Millis(20)).start().unwrap();
        for n in 0..3 {
            assert_eq!(pong.recv_timeout(Duration::from_secs(5)), Ok(n), "{host:?}");
        }
        handle.stop();
        assert_eq!(handle.join().unwrap().rescues, 0);
    }
}

/// A late element in silence: a window that has fired shows it at once, although no watermark follows.
#[test]
fn a_late_element_is_answered_in_silence() {
    let _alone = alone();
    for host in HOSTS {
        let ((sender, records), (answer, pong)) = (channel(16), sync_channel(16));
        let job = Job::build("late", |job| {
            let timed = source(records).event_time(|t: &i64| *t);
            let windows = timed.key_by(|_| 0).window(tumbling(Millis(1000))).lateness(Millis(60_000));
            job.add(windows.count().map(|w| (w.start.0, w.value)).sink(to_channel(answer)));
        });
        let handle = job.parallelism(2).host(host).start().unwrap();
        for t in [500, 1500] {
            sender.send(t).unwrap();
        }
        assert_eq!(pong.recv_timeout(PROMPT), Ok((0, 1)), "{host:?}");
        for n in 2..5 {
            sender.send(700).unwrap();
            assert_eq!(pong.recv_timeout(PROMPT), Ok((0, n)), "{host:?}");
        }
        drop(sender);
        assert_eq!(handle.join().unwrap().rescues, 0);
    }
}
