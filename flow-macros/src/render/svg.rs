//! The picture in rustdoc: one line of SVG in the colours of the page around it.

use super::layout::{Arrow, CHAR, LINE, Layout, Placed, TIP, layout};
use crate::plan::picture::Picture;
use std::fmt::Write;

/// On one line: in Markdown a blank line would end the picture.
pub(crate) fn svg(picture: &Picture) -> String {
    let Layout { boxes, arrows, width, height } = layout(picture);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" viewBox=\"0 0 {width} {height}\" \
         style=\"max-width:100%;height:auto\" font-family=\"monospace\" font-size=\"11\" fill=\"currentColor\" \
         role=\"img\" aria-label=\"the graph of {}\">",
        escaped(&picture.name)
    );
    for arrow in &arrows {
        draw_arrow(&mut out, arrow, &boxes);
    }
    for one in boxes.iter().filter(|one| !one.lines.is_empty()) {
        draw_box(&mut out, one);
    }
    out + "</svg>"
}

fn draw_box(out: &mut String, one: &Placed) {
    let Placed { x, y, width, height, .. } = one;
    // writing to a string cannot fail
    let _ = write!(
        out,
        "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"5\" fill=\"none\" stroke=\"currentColor\"/>"
    );
    let (left, mut base) = (x + 8, y + LINE - 2);
    let _ =
        write!(out, "<text x=\"{left}\" y=\"{base}\" font-weight=\"bold\">{}</text>", escaped(&one.title));
    for line in &one.lines {
        base += LINE;
        let _ = write!(out, "<text x=\"{left}\" y=\"{base}\">{}</text>", escaped(line));
    }
}

/// A curve from the right side of one box towards another, straight through the places between and at its end, where its label
/// stands on it.
fn draw_arrow(out: &mut String, arrow: &Arrow, boxes: &[Placed]) {
    let weight = if arrow.label.is_some() { 2 } else { 1 };
    let (mut path, mut x, mut y) = (String::new(), 0, 0);
    for (number, step) in arrow.way.windows(2).enumerate() {
        let (from, to) = (&boxes[step[0]], &boxes[step[1]]);
        let (x1, y1) = (from.x + from.width, from.y + from.height / 2);
        (x, y) = (to.x, if number + 2 == arrow.way.len() { arrow.entry } else { to.y + to.height / 2 });
        let x2 = x - to.straight;
        let (begin, bend) = (if number == 0 { 'M' } else { 'L' }, (x1 + x2) / 2);
        // writing to a string cannot fail
        let _ = write!(path, "{begin}{x1} {y1}C{bend} {y1} {bend} {y} {x2} {y}H{x}");
    }
    let _ = write!(
        out,
        "<path d=\"{path}\" fill=\"none\" stroke=\"currentColor\" stroke-width=\"{weight}\"/>\
         <path d=\"M{x} {y}l-7 -4v8z\"/>"
    );
    if let Some(label) = arrow.label {
        let (x, y) = (x - label.len() * CHAR - TIP, y.saturating_sub(5));
        let _ = write!(out, "<text x=\"{x}\" y=\"{y}\">{label}</text>");
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
