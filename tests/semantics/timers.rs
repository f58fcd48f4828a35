//! A process that does what the names of its elements say, and shows its timers.

use crate::case::El;
use crate::pipeline::Elements;
use flow_core::op::operator::OpError;
use flow_core::prelude::*;
use std::result::Result;

/// `t10` sets a timer, `t10:15:20` one that sets another when it fires, and that again one; `d10` deletes a timer, `i5` sets an
/// interval, `e5` ends it. `f1` clears the state, which counts the elements. A timer shows its time, and the number of elements
/// where that is not 1; and the watermark, where that is not at the timer.
pub fn timers(stream: Elements) -> Elements {
    stream.key_by(|el| el.key.clone()).process(Told).boxed()
}

#[derive(Clone)]
struct Told;

/// How many elements have come, and which timers set which.
type State = (u32, Vec<(i64, Vec<i64>)>);

/// The kind of a command and its numbers.
pub fn command(name: &str) -> (&str, Vec<i64>) {
    let (kind, numbers) = name.split_at(1);
    (kind, numbers.split(':').map(crate::case::number).collect())
}

impl Process<String, El> for Told {
    type State = State;
    type Out = El;
    type Timers = EventTimers;

    fn state(&self) -> State {
        (0, Vec::new())
    }

    fn event(
        &mut self,
        el: El,
        (seen, then): &mut State,
        ctx: &mut ProcessContext<'_, String, El>,
    ) -> Result<(), OpError> {
        *seen += 1;
        let (kind, numbers) = command(&el.name);
        let first = numbers[0];
        match kind {
            "t" => {
                then.push((first, numbers[1..].to_vec()));
                ctx.set_timer(Timestamp(first));
            }
            "d" => ctx.delete_timer(Timestamp(first)),
            "i" => ctx.set_interval(Millis(first)),
            "e" => ctx.delete_interval(Millis(first)),
            "f" => ctx.clear(),
            other => return Err(format!("`{other}` is no command").into()),
        }
        Ok(())
    }

    fn timer(
        &mut self,
        at: Timestamp,
        (seen, then): &mut State,
        ctx: &mut ProcessContext<'_, String, El>,
    ) -> Result<(), OpError> {
        let elements = if *seen == 1 { String::new() } else { format!("#{seen}") };
        let w = ctx.watermark().millis();
        let w = if w == at.millis() { String::new() } else { format!("w{w}") };
        let name = format!("{}{elements}{w}", crate::case::instant(at.millis()));
        ctx.emit(El { key: ctx.key().clone(), name, time: at.millis(), window: None });
        // What several elements have set is done once.
        if let Some(place) = then.iter().position(|(of, _)| *of == at.millis()) {
            let (_, next) = then.remove(place);
            then.retain(|(of, _)| *of != at.millis());
            if let Some((first, rest)) = next.split_first() {
                then.push((*first, rest.to_vec()));
                ctx.set_timer(Timestamp(*first));
            }
        }
        Ok(())
    }
}
