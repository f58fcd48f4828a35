//! Random kills, uniform in time, over one long input.

use super::runner::{Case, End, all};
use flow_tests::crashing::{PIPELINES, Pipeline};
use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long a child lives at most.
const LIFE_MS: u64 = 500;

/// How many, in one test.
pub fn kills() -> u64 {
    std::env::var("FLOW_KILLS").map_or(20, |text| text.parse().expect("FLOW_KILLS is a number"))
}

/// Numbers that look random, the same in every run.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

#[test]
fn f_k26_random_kills() {
    let chosen = if all() { &PIPELINES[..] } else { &[Pipeline::Windows] };
    for pipeline in chosen {
        // The others need seconds to come back, and every third life lasts until there is a checkpoint.
        let kills = if *pipeline == Pipeline::Windows { kills() } else { kills().div_ceil(10) };
        killed(*pipeline, kills);
    }
}

fn killed(pipeline: Pipeline, kills: u64) {
    // At this rate it takes twice as long as all the children live.
    let count = (kills * 10_000).max(500_000);
    let mut case = Case::new(pipeline, count, count * 1000 / (kills * LIFE_MS));
    let (mut random, mut done, mut progress) = (Random(26), 0, vec![0]);
    let begun = Instant::now();
    while done < kills {
        let parallelism = 1 + random.below(4) as usize;
        let mut child = case.start(parallelism, None);
        if let [.., a, _, b] = progress[..]
            && a == b
        {
            // Two have died without a checkpoint: the third lives until there is one.
            until_progress(&case, &mut child, b);
        }
        sleep(Duration::from_millis(random.below(LIFE_MS)));
        if child.try_wait().unwrap().is_some() {
            assert!(!case.end(child).is_killed());
            break;
        }
        child.kill().unwrap();
        assert!(case.end(child).is_killed());
        done += 1;
        progress.push(case.newest());
    }
    // The rest as fast as it goes.
    case.rate = 1_000_000_000;
    let ended = case.run(2, None);
    assert!(matches!(ended, End::Done(_)), "{ended:?}");
    case.check("random kills");
    println!(
        "{pipeline:?}: {done} kills in {:?}, {count} records, {} checkpoints",
        begun.elapsed(),
        case.newest()
    );
    assert_eq!(done, kills, "it came to its end before");
    let stuck = progress.windows(4).find(|four| four[3] <= four[0]);
    assert_eq!(stuck, None, "a checkpoint between any three kills");
}

/// Waits until there is a checkpoint after `before`.
pub fn until_progress(case: &Case, child: &mut Child, before: u64) {
    let begun = Instant::now();
    while case.newest() <= before && child.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < Duration::from_secs(300), "no checkpoint after {before}");
        sleep(Duration::from_millis(1));
    }
}
