//! The picture in rustdoc: one line of SVG in the colours of the page around it.

use super::layout::{Arrow, CHAR, LINE, Layout, Placed, layout};
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

/// A curve from the right side of one box to the left side of another, straight through the places between; its
/// label stands before the tip, on the side the curve does not come from.
fn draw_arrow(out: &mut String, arrow: &Arrow, boxes: &[Placed]) {
    let weight = if arrow.label.is_some() { 2 } else { 1 };
    let (mut path, mut above, mut tip) = (String::new(), true, (0, 0));
    for step in arrow.way.windows(2) {
        let (from, to) = (&boxes[step[0]], &boxes[step[1]]);
        let (x1, y1) = (from.x + from.width, from.y + from.height / 2);
        let (x2, y2) = (to.x, to.y + to.height / 2);
        let bend = (x1 + x2) / 2;
        let begin = if path.is_empty() { 'M' } else { 'L' };
        // writing to a string cannot fail
        let _ = write!(path, "{begin}{x1} {y1}C{bend} {y1} {bend} {y2} {x2} {y2}");
        (above, tip) = (y1 >= y2, (x2, y2));
    }
    let (x, y) = tip;
    let _ = write!(
        out,
        "<path d=\"{path}\" fill=\"none\" stroke=\"currentColor\" stroke-width=\"{weight}\"/>\
         <path d=\"M{x} {y}l-7 -4v8z\"/>"
    );
    if let Some(label) = arrow.label {
        let (x, y) =
            (x.saturating_sub(label.len() * CHAR + 10), if above { y.saturating_sub(6) } else { y + 14 });
        let _ = write!(out, "<text x=\"{x}\" y=\"{y}\">{label}</text>");
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
