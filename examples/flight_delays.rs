//! Flights, mean and largest departure delay per airport and hour of event time: the main job of the README.

use arrayvec::ArrayString;
use flow_core::prelude::*;
use serde::{Deserialize, Serialize, Serializer};
use std::path::PathBuf;
use std::process::ExitCode;

const HELP: &str = "
flight_delays [INPUT] [-o FILE] [--late FILE] [--disorder DUR] [-p N]

Flights, mean and largest departure delay per airport and hour, as CSV.

  INPUT           flights as CSV, `-` for standard input; a part of the repository's data unless given
  -o FILE         where the result goes, instead of standard output
  --late FILE     where flights go that came too late for their hour, as CSV; they are counted in any case
  --disorder DUR  how far out of order flights may be (500ms, 5s, 15min, 1h, 1d); 1d unless given
  -p N            instances behind an exchange; 1 unless given

Event time is `time_hour` (UTC) plus `minute` minutes. Cancelled flights (`dep_delay` is NA) are skipped.
The report of the job goes to standard error.
";

/// Short texts without allocation.
type Code = ArrayString<15>;

#[derive(Clone, Debug, Deserialize)]
struct Flight {
    origin: Code,
    carrier: Code,
    flight: u32,
    // Naming a function makes the column itself required, though its fields may be empty.
    #[serde(deserialize_with = "Option::deserialize")]
    dep_delay: Option<i64>,
    minute: i64,
    #[serde(deserialize_with = "flow_examples::utc_ms")]
    time_hour: i64,
}

impl Flight {
    fn scheduled(&self) -> Timestamp {
        Timestamp(self.time_hour + self.minute * 60_000)
    }
}

#[derive(Serialize)]
struct Hour {
    origin: Code,
    window_start: i64,
    window_end: i64,
    flights: u64,
    #[serde(serialize_with = "three_decimals")]
    mean_delay: Option<f64>,
    max_delay: Option<i64>,
}

dataflow! {
    /// Departure delays per airport and hour go to `report`, flights too late for their hour to `missed`.
    pub fn flight_delays(flights: PathBuf, disorder: Millis, report: PathBuf, missed: PathBuf) {
        let departures = source(csv::<Flight>(flights).null("NA"))
            .filter(|f| f.dep_delay.is_some())
            .event_time(|f| f.scheduled(), disorder = disorder);

        let (hourly, late) = departures
            .key_by(|f| f.origin)
            .window(tumbling(1h), late = side)
            .aggregate(|a| (a.count(), a.mean(|f| f.dep_delay), a.max(|f| f.dep_delay)));

        hourly
            .map(|w| Hour {
                origin: w.key,
                window_start: w.start.0,
                window_end: w.end.0,
                flights: w.value.0,
                mean_delay: w.value.1,
                max_delay: w.value.2,
            })
            .sink(csv_file(report).header(&[
                "origin", "window_start", "window_end", "flights", "mean_delay", "max_delay",
            ]));

        late.map(|f| (f.origin, f.timestamp.0, f.carrier, f.flight))
            .sink(csv_file(missed).header(&["origin", "event_time", "carrier", "flight"]));
    }
}

fn main() -> ExitCode {
    flow_examples::main(HELP, |mut args| {
        let parallelism = args.parallelism()?;
        let disorder = args.duration("--disorder", "1d")?;
        let report = args.output("-o", "-")?;
        let missed = args.output("--late", "/dev/null")?;
        let flights = args.input("flights.csv")?;

        let job = flight_delays(flights, disorder.into(), report, missed);
        flow_examples::tell(&job.parallelism(parallelism).run()?);
        Ok(())
    })
}

fn three_decimals<S: Serializer>(number: &Option<f64>, field: S) -> Result<S::Ok, S::Error> {
    match number {
        Some(number) => field.collect_str(&format_args!("{number:.3}")),
        None => field.serialize_none(),
    }
}
