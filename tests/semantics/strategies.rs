//! Watermarks from timestamps instead of the script's.

use crate::case::{Case, El, number};
use crate::pipeline::Elements;
use flow_core::op::event_time::WatermarkStrategy;
use flow_core::op::operator::OpError;
use flow_core::prelude::*;

/// The steps that say how the watermark rises.
pub const STRATEGIES: [&str; 4] = ["disorder", "monotonic", "punctuated", "thirds"];

/// `disorder d`, `monotonic`, `punctuated` (an element named `w5` carries the watermark 5), `thirds` (a strategy of our own); behind
/// it `max_ahead a`, and `idle i`: then the last input of a union may fall silent.
pub fn timed(stream: Elements, case: &Case, last: bool) -> Elements {
    let strategy = case.steps.iter().find(|words| STRATEGIES.contains(&words[0].as_str()));
    let Some(words) = strategy else { return stream };
    let option = |name: &str| {
        let at = words.iter().position(|word| word == name);
        at.map(|at| Millis(number(&words[at + 1])))
    };
    let idle = option("idle").filter(|_| last);
    let timed = stream.event_time(|el| el.time);
    match words[0].as_str() {
        "punctuated" => {
            let timed = timed.punctuated(carried);
            if let Some(idle) = idle { timed.idle(idle).boxed() } else { timed.boxed() }
        }
        "thirds" => {
            let timed = timed.watermarks(Thirds::default());
            if let Some(idle) = idle { timed.idle(idle).boxed() } else { timed.boxed() }
        }
        name => {
            let timed = if name == "monotonic" {
                timed.monotonic()
            } else {
                timed.disorder(Millis(number(&words[1])))
            };
            let timed = if let Some(ahead) = option("max_ahead") { timed.max_ahead(ahead) } else { timed };
            if let Some(idle) = idle { timed.idle(idle).boxed() } else { timed.boxed() }
        }
    }
}

/// The watermark that an element carries.
pub fn carried(el: &El) -> Option<i64> {
    el.name.strip_prefix('w').map(number)
}

/// Behind each third element: the highest timestamp until then, less one. It goes back in between, which means nothing.
#[derive(Clone, Default)]
struct Thirds {
    seen: usize,
    highest: Option<i64>,
}

impl WatermarkStrategy<El> for Thirds {
    fn on_event(&mut self, el: &El, time: Timestamp) {
        assert_eq!(el.time, time.0);
        self.seen += 1;
        self.highest = self.highest.max(Some(time.0));
    }

    fn watermark(&self) -> Timestamp {
        match self.highest {
            Some(highest) if self.seen.is_multiple_of(3) => Timestamp(highest - 1),
            _ => Timestamp::MIN,
        }
    }

    fn save(&self, out: &mut Vec<u8>) {
        let highest = self.highest.map_or(String::new(), |highest| highest.to_string());
        out.extend(format!("{} {highest}", self.seen).into_bytes());
    }

    fn restore(&mut self, state: &[u8]) -> std::result::Result<(), OpError> {
        let (seen, highest) =
            std::str::from_utf8(state)?.split_once(' ').ok_or("no strategy has written it")?;
        (self.seen, self.highest) = (seen.parse()?, highest.parse().ok());
        Ok(())
    }
}
