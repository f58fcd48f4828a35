//! A process beside a stream that every instance reads: the names of the elements of the first input say what it does, those of the
//! second are what every instance keeps, in the order in which they come.

use crate::case::{El, number};
use crate::pipeline::{Elements, Probe};
use flow_core::prelude::*;
use flow_core::process::states::{Plain, Timed};
use flow_core::process::{First, Side, Ttl};

/// `r1` shows the number of elements of its key, what every instance keeps, and the value; `t10` sets a timer, which shows its time
/// before that; `w7` writes the value, which lives for ten on the watermark; `s1` goes to the side; `c1` clears the key. An element
/// that is named `bad` is refused on both inputs.
pub fn beside(job: &mut Job, stream: Elements, all: Elements, probe: &Probe) -> Elements {
    let ttl = Ttl::new(Millis(10)).on_watermark();
    let sides = stream
        .key_by(|el| el.key.clone())
        .connect_broadcast(all.map(|el| el.name))
        .declare_beside((Plain(|| 0_u32), (Timed::new(|| None::<i64>, ttl), ())), Vec::<String>::new)
        .with_sides::<(El,)>()
        .on_event(|((seen, (mut value, ())), all), el: El, ctx| {
            *seen += 1;
            let (kind, n) = el.name.split_at(1);
            match kind {
                "r" => ctx.emit(El { name: shown(*seen, all, *value), ..el }),
                "t" => ctx.set_timer(Timestamp(number(n))),
                "w" => *value = Some(number(n)),
                "s" => ctx.output(Side::<El, First>::new(), el),
                "c" => ctx.clear(),
                _ => return Err(format!("`{}` is no command", el.name)),
            }
            Ok(())
        })
        .on_timer(|((seen, (value, ())), all), t, ctx| {
            let name = format!("{}:{}", t.millis(), shown(*seen, all, *value));
            ctx.emit(El { key: ctx.key().clone(), name, time: t.millis(), window: None });
        })
        .on_broadcast(|all, name: String, _| {
            if name == "bad" {
                return Err(format!("`{name}` is not for all"));
            }
            all.push(name);
            Ok(())
        })
        .apart();
    let (results, side) = sides.roots();
    let (end, results) = results.cut();
    job.add(sides.fork((end, side.sink(probe.late.clone()))));
    results.boxed()
}

fn shown(seen: u32, all: &[String], value: Option<i64>) -> String {
    let all = if all.is_empty() { "-".into() } else { all.join("+") };
    format!("{seen}:{all}:{}", value.map_or("-".into(), |value| value.to_string()))
}
