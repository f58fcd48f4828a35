//! The interpreter's count windows: it keeps every element.

use super::function::*;
use super::keyed::{by_key, push};
use super::plan::{Agg, Counts};
use super::port::{El, Port};
use super::windows::aggregate;

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

/// The window of everything, which a trigger fires after so many elements of a key, and which fires at the end.
pub fn fired(input: &Port, after: usize, purging: bool, agg: Agg, instances: usize) -> Option<Port> {
    if !input.single() {
        return None;
    }
    let result = |els: &[El]| {
        let records: Vec<Rec> = els.iter().map(|el| el.rec).collect();
        let (key, rec) = (els[0].key, aggregate(agg, &records)?);
        Some(El { rec: row(key, i64::MIN, i64::MAX, rec), time: i64::MAX, key })
    };
    // Of each key what it has, and how many of them are new.
    let mut keys: Vec<(Vec<El>, usize)> = Vec::new();
    let mut fired = input.each(|el| {
        let at = keys.iter().position(|(els, _)| els[0].key == el.key).unwrap_or_else(|| {
            keys.push((Vec::new(), 0));
            keys.len() - 1
        });
        let (els, new) = &mut keys[at];
        els.push(el);
        *new += 1;
        if *new < after {
            return None;
        }
        let shown = if purging { els.len() - *new } else { 0 };
        *new = 0;
        result(&els[shown..])
    });
    let mut rows = fired.strands.pop().unwrap_or_default();
    for (els, new) in &keys {
        if *new > 0 || !purging {
            push(&mut rows, result(&els[if purging { els.len() - new } else { 0 }..])?);
        }
    }
    Some(by_key(input.timed, instances, vec![rows], false, true))
}
