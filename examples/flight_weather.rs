//! Each flight that left, with the weather at its airport in the hour for which it was scheduled.

use flow_core::prelude::*;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::process::ExitCode;

const HELP: &str = "
flight_weather [FLIGHTS WEATHER] [-o FILE] [-p N]

Each flight that left, with the weather of its origin and scheduled hour, as CSV.

  FLIGHTS  flights as CSV, `-` for standard input, and
  WEATHER  weather as CSV; parts of the repository's data unless both are given
  -o FILE  where the result goes, instead of standard output
  -p N     instances behind an exchange; 1 unless given

The weather is read whole first, so no flight is late for it. A flight without weather has three empty fields, one with several rows
of weather has a line for each. Values are those of the input. Event time is `time_hour` (UTC) plus `minute` minutes. Cancelled
flights (`dep_delay` is NA) are skipped. The report of the job goes to standard error.
";

#[derive(Clone, Debug, Deserialize)]
struct Flight {
    origin: ShortString,
    carrier: ShortString,
    flight: ShortString,
    dep_delay: ShortString,
    minute: i64,
    #[serde(deserialize_with = "flow_examples::utc_ms")]
    time_hour: i64,
}

impl Flight {
    fn left(&self) -> bool {
        !["NA", ""].contains(&self.dep_delay.as_str())
    }
}

#[derive(Clone, Debug, Deserialize)]
struct Weather {
    origin: ShortString,
    temp: ShortString,
    wind_speed: ShortString,
    precip: ShortString,
    #[serde(deserialize_with = "flow_examples::utc_ms")]
    time_hour: i64,
}

#[derive(Serialize)]
struct Row {
    origin: ShortString,
    event_time: i64,
    carrier: ShortString,
    flight: ShortString,
    dep_delay: ShortString,
    /// Temperature, wind speed and precipitation; empty where there is none.
    weather: [ShortString; 3],
}

dataflow! {
    /// Each flight that left goes to `rows`, with each weather of its airport and hour, or with none.
    pub fn flight_weather(flights: PathBuf, weather: PathBuf, rows: PathBuf) {
        let weather = source(csv::<Weather>(weather));
        let departures = source(csv::<Flight>(flights)).filter(|f| f.left());

        let observed = departures
            .key_by(|f| (f.origin.clone(), f.time_hour))
            .left_join(weather.key_by(|w| (w.origin.clone(), w.time_hour)))
            .lookup();

        observed
            .map(|(_, (f, w))| Row {
                event_time: f.time_hour + f.minute * 60_000,
                origin: f.origin,
                carrier: f.carrier,
                flight: f.flight,
                dep_delay: f.dep_delay,
                weather: w.map(|w| [w.temp, w.wind_speed, w.precip]).unwrap_or_default(),
            })
            .sink(csv_file(rows).header(&[
                "origin", "event_time", "carrier", "flight", "dep_delay", "temp", "wind_speed", "precip",
            ]));
    }
}

fn main() -> ExitCode {
    flow_examples::main(HELP, |mut args| {
        let parallelism = args.parallelism()?;
        let rows = args.output("-o", "-")?;
        let (flights, weather) = args.two_inputs("flights.csv", "weather.csv")?;

        let job = flight_weather(flights, weather, rows);
        flow_examples::tell(&job.parallelism(parallelism).run()?);
        Ok(())
    })
}
