use flow_core::prelude::*;

#[derive(Clone, Debug)]
struct Ride {
    id: u64,
    at: i64,
    fare: f64,
    city: String,
}

fn rides() -> Vec<Ride> {
    Vec::new()
}

dataflow! {
    pub fn p() {
        let rides = source(from_vec(rides())).event_time(|r| r.at, disordr = 5s);
        let fares = source(from_vec(self::rides())).fliter(|r| r.fare > 0.0);
        let cities = source(from_vec(self::rides())).event_time(|r| r.at, disorder = 5);
        let hourly = cities.window(tumbling(0s)).count();
        hourly.for_each(|w| println!("{w:?}"));
        fares.for_each(|r| println!("{r:?}"));
        rides.key_by(|r| r.id).cuont().for_each(|r| println!("{r:?}"));
    }
}

fn main() {}
