//! `flight_weather` against its oracle.

use crate::run::{self, Order, Scratch, example, oracle, same_lines, succeed};
use crate::sample;
use std::path::{Path, PathBuf};

/// The result equals the oracle's, at every parallelism; its order is free.
pub fn check(flights: &Path, weather: &Path) {
    let scratch = Scratch::new("flight_weather");
    let Some(oracle_script) = oracle("flight_weather.py") else { return };
    let expected = succeed(oracle_script().args([flights, weather]));
    for parallelism in ["1", "2", "4"] {
        let rows = scratch.path("rows");
        succeed(
            example("flight_weather").args([flights, weather]).args(["-p", parallelism, "-o"]).arg(&rows),
        );
        let case = format!("flight_weather of {} at -p {parallelism}", flights.display());
        same_lines(&case, &run::read(&rows), &expected.stdout, Order::HeaderThenAny);
    }
}

#[test]
fn flight_weather_of_the_sample() {
    check(&sample("flights.csv"), &sample("weather.csv"));
    let outcome = succeed(&mut example("flight_weather"));
    let missing = outcome.stdout.lines().filter(|line| line.ends_with(",,,")).count();
    assert!(missing > 0, "hours without weather are in the sample");
}

/// Several rows of weather for one hour, an hour of another airport, a flight that was cancelled.
#[test]
fn flight_weather_of_odd_rows() {
    let scratch = Scratch::new("odd_weather");
    let write = |name: &str, text: &str| -> PathBuf {
        let path = scratch.path(name);
        std::fs::write(&path, text).expect("the scratch folder is writable");
        path
    };
    let flights = write(
        "flights",
        "time_hour,carrier,flight,origin,minute,dep_delay\n\
         2013-03-01T05:00:00Z,UA,1,JFK,15,-3\n\
         2013-03-01T05:00:00Z,UA,2,JFK,59,NA\n\
         2013-03-01T06:00:00Z,B6,3,JFK,0,12\n\
         2013-03-01T05:00:00Z,DL,4,LGA,1,0\n",
    );
    let weather = write(
        "weather",
        "origin,temp,wind_speed,precip,time_hour\n\
         JFK,39.02,NA,0,2013-03-01T05:00:00Z\n\
         JFK,40,8.05546,NA,2013-03-01T05:00:00Z\n\
         EWR,1,2,3,2013-03-01T06:00:00Z\n",
    );
    check(&flights, &weather);
    let nothing = write("nothing", "origin,temp,wind_speed,precip,time_hour\n");
    check(&flights, &nothing);
}
