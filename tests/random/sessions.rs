//! The interpreter's sessions: it keeps every element and makes the sessions anew each time.

use super::function::*;
use super::interpret::Outcome;
use super::keyed::push;
use super::plan::Window;
use super::port::{El, Event, Port, Strand};
use super::windows::{aggregate, judged, shown};

/// Results and late elements of sessions over a keyed stream.
pub fn sessions(input: &Port, window: &Window, p: usize) -> Option<Outcome> {
    let single = input.single();
    if !input.timed || !single && !input.punctual() {
        return None;
    }
    let (results, late) = (Strand::new(), Strand::new());
    let mut run = Run { window, kept: vec![], arrived: 0, now: i64::MIN.into(), results, late };
    // More than one sender, nobody late: as if nothing fired before the end.
    let strand = if single { input.strands.first().cloned().unwrap_or_default() } else { input.heap() };
    for event in strand {
        match event {
            Event::El(el) => run.element(el)?,
            Event::Watermark(w) => run.watermark(w)?,
        }
    }
    run.fire(i128::MAX)?;
    Some(judged(window, p, (single, !single), run.results, run.late))
}

/// An element that is in a session, and its number.
type Kept = (usize, El);

/// Sessions at work: the elements of all that are kept.
struct Run<'a> {
    window: &'a Window,
    kept: Vec<Kept>,
    arrived: usize,
    now: i128,
    results: Strand,
    late: Strand,
}

impl Run<'_> {
    /// All sessions: elements by key and time, as long as each is in reach of the one before it.
    fn sessions(&self) -> Vec<Vec<Kept>> {
        let mut els = self.kept.clone();
        els.sort_by_key(|(n, el)| (el.key, el.time, *n));
        let gap = i128::from(self.window.size);
        let together =
            |(_, a): &Kept, (_, b): &Kept| a.key == b.key && i128::from(b.time) - i128::from(a.time) <= gap;
        els.chunk_by(together).map(<[Kept]>::to_vec).collect()
    }

    fn end(&self, session: &[Kept]) -> i128 {
        i128::from(session[session.len() - 1].1.time) + i128::from(self.window.size)
    }

    fn element(&mut self, el: El) -> Option<()> {
        let number = self.arrived;
        self.arrived += 1;
        self.kept.push((number, el));
        let its = self.sessions().into_iter().find(|s| s.iter().any(|(n, _)| *n == number))?;
        let until = self.end(&its) + i128::from(self.window.lateness);
        if until <= self.now {
            self.kept.pop();
            let late_by = i64::try_from(self.now - until).ok()?;
            push(&mut self.late, El { rec: late_row(el.rec, el.time, late_by), ..el });
        } else if self.end(&its) <= self.now {
            self.emit(&its)?;
        }
        Some(())
    }

    fn emit(&mut self, session: &[Kept]) -> Option<()> {
        let (start, end, key) = (session[0].1.time, shown(self.end(session)), session[0].1.key);
        let records: Vec<Rec> = session.iter().map(|(_, el)| el.rec).collect();
        let rec = row(key, start, end, aggregate(self.window.agg, &records)?);
        push(&mut self.results, El { rec, time: end, key });
        Some(())
    }

    fn watermark(&mut self, w: i64) -> Option<()> {
        self.fire(w.into())?;
        self.results.push(Event::Watermark(w));
        self.late.push(Event::Watermark(w));
        Some(())
    }

    /// All sessions that `w` has come to the end of, by their ends and then by their first arrivals.
    fn fire(&mut self, w: i128) -> Option<()> {
        let mut due = self.sessions();
        due.retain(|s| self.end(s) > self.now && self.end(s) <= w);
        due.sort_by_key(|s| (self.end(s), s.iter().map(|(n, _)| *n).min()));
        due.iter().try_for_each(|s| self.emit(s))?;
        self.now = w;
        let keeps = |s: &Vec<Kept>| w < self.end(s) + i128::from(self.window.lateness);
        self.kept = self.sessions().into_iter().filter(keeps).flatten().collect();
        Some(())
    }
}
