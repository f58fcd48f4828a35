//! What fires a window before its end: the typed handle, and what it makes.

use crate::error::{Error, ErrorKind, Result};
use crate::op::Kind;
use crate::op::kind::HasEventTime;
use crate::time::{IntoMillis, Millis};
use std::marker::PhantomData;

/// When a window fires before its end: what the closure of `.trigger(|t| …)` is given, and gives back with conditions. Each of them
/// fires the window by itself, and at its end it fires anyway.
pub struct Trigger<T, G = Silent, B = AnyTime> {
    pub(in crate::window) rules: Rules,
    pub(in crate::window) when: G,
    types: PhantomData<fn(T) -> B>,
}

/// The conditions that are no closures.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rules {
    /// At each multiple of this event time.
    pub early: Option<Millis>,
    /// At each multiple of this processing time.
    pub clock: Option<Millis>,
    /// At so many elements that have not been shown.
    pub count: Option<u64>,
    /// Whether what has been shown is forgotten.
    pub purging: bool,
    /// Nobody looks before the end: the windows are those of a batch.
    pub(in crate::window) whole: bool,
    /// Something was said twice.
    twice: Option<&'static str>,
}

/// No condition goes by event time.
#[derive(Debug, Clone, Copy)]
pub struct AnyTime;
/// One does.
#[derive(Debug, Clone, Copy)]
pub struct ByEventTime;

/// A trigger that can be used on streams of kind `K`.
#[diagnostic::on_unimplemented(
    message = "`early` fires windows as event time goes on, but this stream has no event time",
    label = "needs event time",
    note = "write `.trigger(|t| t.early_by_clock(10s))` to go by the clock, or say upstream when an event happened: `.event_time(|x| x.time, disorder = 5s)`; in a function of streams ask for `K: flow_core::op::kind::HasEventTime`"
)]
pub trait FiresOn<K> {}
impl<K: Kind> FiresOn<K> for AnyTime {}
#[diagnostic::do_not_recommend]
impl<K: HasEventTime> FiresOn<K> for ByEventTime {}

impl<T> Trigger<T> {
    pub(crate) fn new() -> Self {
        Trigger { rules: Rules::default(), when: Silent, types: PhantomData }
    }
}

impl<T, G, B> Trigger<T, G, B> {
    fn with<C>(self, rules: Rules) -> Trigger<T, G, C> {
        Trigger { rules, when: self.when, types: PhantomData }
    }

    /// Fires at each multiple of `every`, counted from the epoch, once the watermark has come to it.
    pub fn early(self, every: impl IntoMillis) -> Trigger<T, G, ByEventTime> {
        let twice = self.rules.early.map(|_| "early").or(self.rules.twice);
        let rules = Rules { early: Some(every.into_millis()), twice, ..self.rules };
        self.with(rules)
    }

    /// Fires at each multiple of `every` on the clock.
    #[must_use]
    pub fn early_by_clock(self, every: impl IntoMillis) -> Self {
        let twice = self.rules.clock.map(|_| "early_by_clock").or(self.rules.twice);
        let rules = Rules { clock: Some(every.into_millis()), twice, ..self.rules };
        self.with(rules)
    }

    /// Fires when so many elements of the window have come that have not been shown.
    #[must_use]
    pub fn count(self, elements: u64) -> Self {
        let twice = self.rules.count.map(|_| "count").or(self.rules.twice);
        let rules = Rules { count: Some(elements), twice, ..self.rules };
        self.with(rules)
    }

    /// Fires at each element of which the closure says so.
    pub fn when<F: Fn(&T) -> bool + Clone + Send + 'static>(self, f: F) -> Trigger<T, Or<G, F>, B> {
        Trigger { rules: self.rules, when: Or(self.when, f), types: PhantomData }
    }

    /// Each firing shows what has come since the one before; without this word it shows the whole window.
    #[must_use]
    pub fn purging(self) -> Self {
        let rules = Rules { purging: true, ..self.rules };
        self.with(rules)
    }
}

impl Rules {
    /// Whether they make sense; `asks` says whether there is a closure too.
    pub fn check(&self, asks: bool) -> Result<()> {
        let refuse = |what: String| Err(Error::new(ErrorKind::Plan, what));
        let Rules { early, clock, count, twice, .. } = self;
        if let Some(twice) = twice {
            return refuse(format!("a trigger with `{twice}` twice: say it once"));
        }
        if let Some(every) = early.iter().chain(clock).find(|every| every.0 <= 0) {
            return refuse(format!("a trigger each {every}: the time has to be positive"));
        }
        if *count == Some(0) {
            return refuse("a trigger at 0 elements: it has to be at least one".to_owned());
        }
        if early.is_none() && clock.is_none() && count.is_none() && !asks {
            return refuse(
                "a trigger without a condition: say `early`, `early_by_clock`, `count` or `when`".to_owned(),
            );
        }
        if self.whole && self.purging {
            return refuse(
                "a purging trigger shows a window in parts, and in a batch there is one result for each window: remove `purging()`, \
                 or write `count(n)` windows"
                    .to_owned(),
            );
        }
        Ok(())
    }

    /// What is left of them: in a batch a window has its last row only.
    pub(in crate::window) fn in_effect(self) -> Rules {
        if self.whole { Rules { early: None, clock: None, count: None, ..self } } else { self }
    }

    /// As they are written.
    pub fn describe(&self, asks: bool) -> String {
        let parts = [
            self.early.map(|every| format!("each {every} of event time")),
            self.clock.map(|every| format!("each {every} of processing time")),
            self.count.map(|n| format!("at {n} elements")),
            asks.then(|| "at elements that say so".to_owned()),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if self.whole {
            return "in a batch it fires at its end, with the whole window".to_owned();
        }
        let how = if self.purging { "what is new" } else { "the whole window" };
        format!("fires {} and at its end, with {how}", parts.join(", "))
    }
}

/// What an element says of itself.
pub trait When<T>: Clone + Send + 'static {
    /// Whether it says anything at all.
    const ASKS: bool;
    /// Whether the window of the element is to fire.
    fn says(&self, record: &T) -> bool;
}

/// Nothing.
#[derive(Debug, Clone, Copy)]
pub struct Silent;

impl<T> When<T> for Silent {
    const ASKS: bool = false;
    #[inline(always)]
    fn says(&self, _: &T) -> bool {
        false
    }
}

/// What the first says, or the closure.
#[derive(Clone)]
pub struct Or<G, F>(G, F);

impl<T, G: When<T>, F: Fn(&T) -> bool + Clone + Send + 'static> When<T> for Or<G, F> {
    const ASKS: bool = true;
    #[inline]
    fn says(&self, record: &T) -> bool {
        // Both, so that a closure sees every element.
        self.0.says(record) | (self.1)(record)
    }
}
