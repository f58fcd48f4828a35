//! A process with sides: even elements are results, the others go to a side, and a timer tells another side that an element has been.

use crate::case::El;
use crate::pipeline::{Elements, Probe};
use flow_core::prelude::*;
use flow_core::process::states::Plain;
use flow_core::process::{First, Second, Side};

/// The second side goes on with the results, as `timer` of the number of elements; the first is the late side's place.
pub fn sides(job: &mut Job, stream: Elements, probe: &Probe) -> Elements {
    let sides = stream
        .key_by(|el| el.key.clone())
        .declare((Plain(|| 0_u32), ()))
        .with_sides::<(El, u32)>()
        .on_event(|(seen, ()), el, ctx| {
            *seen += 1;
            ctx.set_timer(ctx.timestamp() + Millis(10));
            if el.number().is_some_and(|n| n % 2 == 0) {
                ctx.emit(el);
            } else {
                ctx.output(Side::<El, First>::new(), el);
            }
        })
        .on_timer(|(seen, ()), _, ctx| ctx.output(Side::<u32, Second>::new(), *seen))
        .apart();
    let (even, odd, timers) = sides.roots();
    let (even_end, even) = even.cut();
    let (timers_end, timers) = timers.cut();
    job.add(sides.fork((even_end, odd.sink(probe.late.clone()), timers_end)));
    let timers = timers.map(|n| El { key: String::new(), name: format!("timer{n}"), time: 0, window: None });
    even.union(timers).boxed()
}
