//! In a picture no label is crossed: by no other label, no box and no arrow.

use super::pictures::{TEXT, number, picture_of};
use crate::render;

/// Arrows that come together, from near and far, and some that part.
const CROWDED: &str = r#"pub fn p(numbers: Vec<u32>) {
    let a = source(from_vec(numbers));
    let b = a.rebalance();
    let (c, d) = a.map(f).shuffle(seed = 1).partition(g);
    let all = c.rebalance().union(b, d.key_by(a_rather_long_function).sum(f), a.rebalance(), a.broadcast(), a);
    all.global().for_each(f);
    all.key_by(f).count().union(d.rebalance().map(h)).for_each(f);
}"#;

/// Where a label stands: left, top, right, bottom.
type Label = [f64; 4];

#[test]
fn no_arrow_and_no_label_crosses_a_label() {
    for text in [TEXT, CROWDED] {
        let svg = picture_of(text, render::svg);
        let labels: Vec<Label> = svg.split("z\"/>").filter_map(label).collect();
        assert!(labels.len() >= 3);
        let (curves, boxes): (Vec<_>, Vec<_>) =
            (svg.split("<path").skip(1).collect(), svg.split("<rect").skip(1).collect());
        for (index, [left, top, right, bottom]) in labels.iter().enumerate() {
            let holds = |(x, y): &(f64, f64)| x > left && x < right && y > top && y < bottom;
            for [left2, top2, right2, bottom2] in &labels[index + 1..] {
                assert!(
                    right <= left2 || right2 <= left || bottom <= top2 || bottom2 <= top,
                    "{labels:?}: {svg}"
                );
            }
            for rect in &boxes {
                let [x, y, width, height] =
                    ["x", "y", "width", "height"].map(|name| number(rect, name) as f64);
                assert!(
                    *right <= x || x + width <= *left || *bottom <= y || y + height <= *top,
                    "{rect}: {svg}"
                );
            }
            let crossing = curves.iter().find(|path| points(path).iter().any(holds));
            assert!(crossing.is_none(), "{crossing:?} crosses {:?}: {svg}", labels[index]);
        }
    }
}

/// The label of an arrow, behind whose head it stands.
fn label(behind_head: &str) -> Option<Label> {
    let text = behind_head.strip_prefix("<text")?;
    let words = text.split_once('>')?.1.split('<').next()?;
    let (x, y) = (number(text, "x") as f64, number(text, "y") as f64);
    Some([x, y - 9.0, x + 6.7 * words.len() as f64, y + 2.0])
}

/// Points on a path of curves and horizontal lines.
fn points(path: &str) -> Vec<(f64, f64)> {
    let data = path.split(" d=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a path");
    let mut points = vec![];
    let (mut at, mut rest) = ((0.0, 0.0), data);
    while let Some(command) = rest.chars().next() {
        let end = rest[1..].find(|c: char| c.is_ascii_uppercase()).map_or(rest.len(), |end| end + 1);
        let numbers: Vec<f64> = rest[1..end].split_whitespace().filter_map(|n| n.parse().ok()).collect();
        rest = &rest[end..];
        let to = match (command, &numbers[..]) {
            ('M' | 'L', [x, y]) => (*x, *y),
            ('H', [x]) => (*x, at.1),
            ('C', [x1, y1, x2, y2, x, y]) => {
                let curve = |t: f64, p: [f64; 4]| {
                    let s = 1.0 - t;
                    s * s * s * p[0] + 3.0 * s * s * t * p[1] + 3.0 * s * t * t * p[2] + t * t * t * p[3]
                };
                let steps = (1..50).map(|n| f64::from(n) / 50.0);
                points
                    .extend(steps.map(|t| (curve(t, [at.0, *x1, *x2, *x]), curve(t, [at.1, *y1, *y2, *y]))));
                (*x, *y)
            }
            // The head of an arrow is relative.
            _ => return vec![],
        };
        if command == 'H' || command == 'L' {
            points.extend((0..=20).map(|n| {
                (at.0 + (to.0 - at.0) * f64::from(n) / 20.0, at.1 + (to.1 - at.1) * f64::from(n) / 20.0)
            }));
        }
        at = to;
    }
    points
}
