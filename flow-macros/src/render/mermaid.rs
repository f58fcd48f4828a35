//! Mermaid: `graph LR`, a node an operator; fused edges are thin, the others thick and labelled.

use super::label;
use crate::plan::picture::Picture;
use std::fmt::Write;

pub(crate) fn mermaid(picture: &Picture) -> String {
    let mut out = String::from("graph LR\n");
    for (index, node) in picture.nodes.iter().enumerate() {
        let detail = node.detail().map(|text| format!("<br/>{}", escaped(text))).unwrap_or_default();
        let text = format!("{}{detail}", escaped(&node.id));
        // writing to a string cannot fail
        let _ = if node.state {
            writeln!(out, "  n{index}[(\"{text}\")]")
        } else {
            writeln!(out, "  n{index}[\"{text}\"]")
        };
    }
    for edge in &picture.edges {
        let (from, to) = (edge.from, edge.to);
        let _ = match label(edge.kind) {
            None => writeln!(out, "  n{from} --> n{to}"),
            Some(label) => writeln!(out, "  n{from} ==>|{label}| n{to}"),
        };
    }
    out
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('"', "&quot;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('|', "&#124;")
}
