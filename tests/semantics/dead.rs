//! Dead letters: elements whose name is `bad` are refused, and the closure panics for those named `worse`.

use crate::case::El;
use crate::pipeline::{Elements, Probe};

/// What goes aside is shown in the late side's place, with why.
pub fn dead(job: &mut flow_core::Job, stream: Elements, probe: &Probe) -> Elements {
    let sides = stream
        .try_map_or_dead(|el| match el.name.as_str() {
            "bad" => Err("refused"),
            "worse" => panic!("broken"),
            _ => Ok(El::clone(el)),
        })
        .tries(2);
    let (good, dead) = sides.roots();
    let dead = dead.map(|letter| {
        let why = letter.message.rsplit(": ").next().unwrap_or_default();
        El { name: format!("{} {why}", letter.value.name), ..letter.value }
    });
    let (end, good) = good.cut();
    job.add(sides.fork((end, dead.sink(probe.late.clone()))));
    good.boxed()
}
