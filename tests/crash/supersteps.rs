//! Loops whose process is killed at a random place of a random superstep: in the end the answer is that of a run that nobody has killed, and no
//! superstep that was over at the last checkpoint is run again.
//!
//! What was run says each process itself, in a file to which it adds a line as it comes to a superstep; where the newest checkpoint stands is read from it.

use super::kills::{Random, kills, until_progress};
use super::runner::{Case, End};
use flow_core::checkpoint::read;
use flow_tests::crashing::Pipeline;
use std::fs;
use std::ops::RangeInclusive;
use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};

const VERTICES: u64 = 48_000;
/// How long a child lives at most, since it has come to its first superstep or has begun.
const LIFE_MS: u64 = 900;
/// Records a second that an instance has, so that a superstep takes some tenths of a second.
const BULK_RATE: u64 = 800_000;
const DELTA_RATE: u64 = 35_000;

#[test]
fn f_k26_random_kills_in_a_loop() {
    killed(Pipeline::Loop, BULK_RATE, of_loops());
}

#[test]
fn f_k26_random_kills_in_a_delta_loop() {
    killed(Pipeline::Delta, DELTA_RATE, of_loops().div_ceil(2));
}

/// A life here takes a second, ten times as long as in other pipelines.
fn of_loops() -> u64 {
    kills().min(20).max(kills() / 10)
}

/// What a process has noted: the supersteps that it has come to, and the newest complete checkpoint at the beginning of each.
type Noted = Vec<(u64, u64)>;

/// Where the loop stands in the newest checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stands {
    /// There is no checkpoint.
    Nowhere,
    /// All before this superstep is over.
    At(u64),
    Over,
}

impl Stands {
    /// The first superstep of which anything may be run.
    fn first(self, rounds: u64) -> u64 {
        match self {
            Stands::Nowhere | Stands::At(0) => 1,
            Stands::At(superstep) => superstep,
            Stands::Over => rounds + 1,
        }
    }
}

/// A loop that is killed until it comes to its end.
struct Run {
    case: Case,
    /// How many supersteps there are if nobody kills it.
    rounds: u64,
    /// How many have been begun by all processes, and how many of them may be begun again: those since the last checkpoint of each process that has died.
    begun: u64,
    again: u64,
    /// Where those have died.
    deaths: Vec<u64>,
}

fn killed(pipeline: Pipeline, rate: u64, kills: u64) {
    let clock = Instant::now();
    let mut whole = Case::new(pipeline, VERTICES, 1_000_000_000);
    let rounds = supersteps(whole.run(2, None));
    whole.check("not killed");
    let noted = noted(&whole, None);
    assert_eq!((noted.len() as u64, noted.last().map(|n| n.0)), (rounds, Some(rounds)), "each once");
    let (mut random, mut deaths, mut runs, mut begun, mut again) = (Random(5), Vec::new(), 0, 0, 0);
    while (deaths.len() as u64) < kills {
        whole = Case::new(pipeline, VERTICES, rate);
        let mut run = Run { case: whole, rounds, begun: 0, again: 0, deaths };
        run.lives_and_dies(&mut random, kills);
        (runs, begun, again, deaths) = (runs + 1, begun + run.begun, again + run.again, run.deaths);
    }
    let mut places = deaths.clone();
    places.sort_unstable();
    places.dedup();
    println!(
        "{pipeline:?}: {} kills in {:?}, in supersteps {places:?}; {runs} runs of {rounds} supersteps began {begun}, of those {again} might be begun again",
        deaths.len(),
        clock.elapsed()
    );
    assert!(places.len() > 4, "in few supersteps: {deaths:?}");
}

impl Run {
    fn lives_and_dies(&mut self, random: &mut Random, kills: u64) {
        let mut progress = vec![0];
        loop {
            let dies = (self.deaths.len() as u64) < kills;
            if !dies {
                // The rest as fast as it goes.
                self.case.rate = 1_000_000_000;
            }
            let (before, newest) = (stands(&self.case), self.case.newest());
            let mut child = self.case.start(1 + random.below(4) as usize, None);
            let process = child.id();
            if dies {
                if let [.., a, _, b] = progress[..]
                    && a == b
                {
                    until_progress(&self.case, &mut child, b);
                } else if random.below(4) > 0 {
                    until_superstep(&self.case, &mut child);
                }
                sleep(Duration::from_millis(random.below(LIFE_MS)));
                // It may have come to its end.
                drop(child.kill());
            }
            let ended = self.case.end(child);
            let ran = noted(&self.case, Some(process));
            self.check_beginning(before, &ran);
            if !ended.is_killed() {
                self.ends(before, &ran, supersteps(ended));
                return;
            }
            progress.push(self.case.newest());
            self.dies(before, newest, &ran);
        }
    }

    /// A process begins where the checkpoint stands, and runs each superstep once.
    fn check_beginning(&mut self, before: Stands, ran: &Noted) {
        let Some((first, _)) = ran.first() else { return };
        let least = before.first(self.rounds);
        // All that this superstep has to do here may have been done before.
        assert!((least..=least + 1).contains(first), "{before:?}, and it begins with {ran:?}");
        assert!(ran.iter().map(|at| at.0).eq(*first..first + ran.len() as u64), "one by one: {ran:?}");
        self.begun += ran.len() as u64;
    }

    /// A process has died, which began from checkpoint `newest`: where the last one stands lies between the supersteps that it was in as that was taken.
    fn dies(&mut self, before: Stands, newest: u64, ran: &Noted) {
        let (after, last) = (stands(&self.case), ran.last().map(|at| at.0));
        if self.case.newest() > newest {
            let (first, before) = (after.first(self.rounds), (before.first(self.rounds), newest));
            assert!(between(before, self.case.newest(), ran).contains(&first), "{after:?} after {ran:?}");
        }
        // Of what it has run, what is not over at its last checkpoint.
        self.again += last.map_or(0, |last| (last + 1).saturating_sub(after.first(self.rounds)));
        self.deaths.push(last.unwrap_or(0));
    }

    fn ends(&self, before: Stands, ran: &Noted, counted: u64) {
        let what = format!("from {before:?} it ran {ran:?}");
        // Exactly those that were not over.
        assert_eq!(counted, self.rounds + 1 - before.first(self.rounds), "the report counts, {what}");
        assert!(self.begun <= self.rounds + self.again, "{} + {} < {}", self.rounds, self.again, self.begun);
        self.case.check(&what);
    }
}

/// In which supersteps the barrier of checkpoint `newest` can have passed in a process that began in superstep `before.0`, from checkpoint `before.1`: it was asked for when the one before was
/// complete, and it was complete before it was seen to be so.
fn between(before: (u64, u64), newest: u64, ran: &Noted) -> RangeInclusive<u64> {
    let last_one = ran.iter().map(|at| at.1).filter(|at| (before.1 + 1..newest).contains(at)).max();
    let least = ran.iter().rev().find(|at| last_one.is_some_and(|one| at.1 < one));
    let most = ran.iter().rev().find(|at| at.1 < newest);
    // It may have passed in a superstep before the first record of it came to where that is noted.
    least.map_or(before.0, |at| at.0)..=most.map_or(before.0, |at| at.0) + 1
}

/// What a process has noted, or all have.
fn noted(case: &Case, process: Option<u32>) -> Noted {
    let text = fs::read_to_string(case.path("supersteps")).unwrap_or_default();
    let lines = text.lines().map(|line| {
        let numbers: Vec<u64> = line.split(' ').map(|number| number.parse().unwrap()).collect();
        (numbers[0], (numbers[1], numbers[2]))
    });
    lines.filter(|line| process.is_none_or(|id| u64::from(id) == line.0)).map(|line| line.1).collect()
}

/// Where the loop stands in the newest checkpoint: all its instances say so.
fn stands(case: &Case) -> Stands {
    if case.newest() == 0 {
        return Stands::Nowhere;
    }
    let mut lines = Vec::new();
    read(case.path("state")).unwrap().newest().unwrap().export(&mut lines).unwrap();
    let mut found: Vec<u64> = String::from_utf8(lines).unwrap().lines().filter_map(turn).collect();
    found.dedup();
    assert!(found.len() <= 1, "instances in several supersteps: {found:?}");
    found.first().map_or(Stands::Over, |superstep| Stands::At(*superstep))
}

/// The superstep in which an instance of the entry or of the exit says that it is.
fn turn(line: &str) -> Option<u64> {
    let (operator, bytes) = line.split_once("(turn)\",\"instance\":")?;
    let bytes = bytes.split_once("\"bytes\":\"")?.1;
    // An entry says before whether the input has come.
    let number =
        if operator.contains("iterated") || operator.contains("solution") { bytes } else { &bytes[2..] };
    let little = |at: usize| u64::from_str_radix(&number[2 * at..2 * at + 2], 16).unwrap();
    Some((0..8).rev().fold(0, |number, at| number << 8 | little(at)))
}

/// Waits until a child has come to a superstep.
fn until_superstep(case: &Case, child: &mut Child) {
    let begun = Instant::now();
    while noted(case, Some(child.id())).is_empty() && child.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < Duration::from_secs(300), "it comes to no superstep");
        sleep(Duration::from_millis(2));
    }
}

fn supersteps(ended: End) -> u64 {
    let End::Done(told) = ended else { panic!("{ended:?}") };
    told.supersteps
}
