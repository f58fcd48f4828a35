//! The interpreter's count windows: it keeps every element.

use crate::function::*;
use crate::keyed::{by_key, push};
use crate::plan::Counts;
use crate::port::{El, Port};
use crate::windows::aggregate;

/// Results of count windows over a keyed stream whose whole order is known.
pub fn counted(input: &Port, counts: &Counts, p: usize) -> Option<Port> {
    if !input.single() {
        return None;
    }
    let size = counts.size as usize;
    let every = counts.every.map_or(size, |every| every as usize);
    let result = |els: &[El]| {
        let (first, last) = (els.first()?, *els.last()?);
        let records: Vec<Rec> = els.iter().map(|el| el.rec).collect();
        let bounds = if input.timed { (first.time, last.time) } else { (i64::MIN, i64::MAX) };
        let rec = row(last.key, bounds.0, bounds.1, aggregate(counts.agg, &records)?);
        Some(El { rec, ..last })
    };
    let mut keys: Vec<Vec<El>> = Vec::new();
    let mut filled = input.each(|el| {
        let at = keys.iter().position(|els| els[0].key == el.key).unwrap_or_else(|| {
            keys.push(Vec::new());
            keys.len() - 1
        });
        let els = &mut keys[at];
        els.push(el);
        let full = els.len() >= size && (els.len() - size).is_multiple_of(every);
        if full { result(&els[els.len() - size..]) } else { None }
    });
    let mut rows = filled.strands.pop().unwrap_or_default();
    for els in keys.iter().filter(|_| !counts.exact) {
        let next = (size..).step_by(every).find(|full| *full > els.len())?;
        let shown = if next > size { next - every } else { 0 };
        if els.len() > shown && els.len() > next - size {
            push(&mut rows, result(&els[next - size..])?);
        }
    }
    let instances = if counts.form.is_some() { p } else { 1 };
    Some(by_key(input.timed, instances, vec![rows], false, true))
}
