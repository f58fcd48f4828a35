//! How long each aircraft was in service at a stretch: sessions of its departures.

use flow_core::prelude::*;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::process::ExitCode;

const HELP: &str = "
aircraft_days [INPUT] [-o FILE] [--gap DUR] [--disorder DUR] [-p N]

Flights and miles of each aircraft in each of its days, as CSV. A day is a session: departures that are at most the gap apart.

  INPUT           flights as CSV, `-` for standard input; a part of the repository's data unless given
  -o FILE         where the result goes, instead of standard output
  --gap DUR       the longest pause within a day (500ms, 5s, 15min, 1h, 1d); 6h unless given
  --disorder DUR  how far out of order flights may be; 1d unless given
  -p N            instances behind an exchange; 1 unless given

Event time is `time_hour` (UTC) plus `minute` minutes. Flights that were cancelled (`dep_delay` is NA) or have no `tailnum` are
skipped; those too late for their day are counted. The report of the job goes to standard error.
";

#[derive(Clone, Debug, Deserialize)]
struct Flight {
    // Naming a function makes the column itself required, though its fields may be empty.
    #[serde(deserialize_with = "Option::deserialize")]
    tailnum: Option<ShortString>,
    #[serde(deserialize_with = "Option::deserialize")]
    dep_delay: Option<i64>,
    distance: u64,
    minute: i64,
    #[serde(deserialize_with = "flow_examples::utc_ms")]
    time_hour: i64,
}

/// A flight that left.
#[derive(Clone, Debug)]
struct Departure {
    tailnum: ShortString,
    scheduled: Timestamp,
    distance: u64,
}

impl Flight {
    fn departure(self) -> Option<Departure> {
        self.dep_delay?;
        let scheduled = Timestamp(self.time_hour + self.minute * 60_000);
        Some(Departure { tailnum: self.tailnum?, scheduled, distance: self.distance })
    }
}

#[derive(Serialize)]
struct Day {
    tailnum: ShortString,
    start: Timestamp,
    end: Timestamp,
    flights: u64,
    distance: u64,
}

dataflow! {
    /// The days of each aircraft go to `days`; a day ends `gap` behind its last departure.
    pub fn aircraft_days(flights: PathBuf, gap: Millis, disorder: Millis, days: PathBuf) {
        let departures = source(csv::<Flight>(flights).null("NA"))
            .filter_map(|flight| flight.departure())
            .event_time(|d| d.scheduled, disorder = disorder);

        departures
            .key_by_ref(|d| &d.tailnum)
            .window(session(gap), late = drop)
            .aggregate(|a| (a.count(), a.sum(|d| d.distance)))
            .map(|w| Day {
                tailnum: w.key,
                start: w.start,
                end: w.end,
                flights: w.value.0,
                distance: w.value.1,
            })
            .sink(csv_file(days).header(&["tailnum", "start", "end", "flights", "distance"]));
    }
}

fn main() -> ExitCode {
    flow_examples::main(HELP, |mut args| {
        let parallelism = args.parallelism()?;
        let gap = args.duration("--gap", "6h")?;
        let disorder = args.duration("--disorder", "1d")?;
        let days = args.output("-o", "-")?;
        let flights = args.input("flights.csv")?;

        let job = aircraft_days(flights, gap.into(), disorder.into(), days);
        flow_examples::tell(&job.parallelism(parallelism).run()?);
        Ok(())
    })
}
