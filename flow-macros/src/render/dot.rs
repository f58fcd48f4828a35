//! DOT, for Graphviz.

use super::label;
use crate::plan::picture::Picture;
use std::fmt::Write;

pub(crate) fn dot(picture: &Picture) -> String {
    let mut out = format!("digraph \"{}\" {{\n  rankdir=LR;\n  node [shape=box];\n", picture.name);
    for (index, node) in picture.nodes.iter().enumerate() {
        let detail = node.detail().map(|text| format!("\\n{}", escaped(text))).unwrap_or_default();
        let peripheries = if node.state { ", peripheries=2" } else { "" };
        // writing to a string cannot fail
        let _ = writeln!(out, "  n{index} [label=\"{}{detail}\"{peripheries}];", escaped(&node.id));
    }
    for edge in &picture.edges {
        let attributes = match label(edge.kind) {
            None => String::new(),
            Some(label) => format!(" [label=\"{label}\", style=bold]"),
        };
        let _ = writeln!(out, "  n{} -> n{}{attributes};", edge.from, edge.to);
    }
    out.push_str("}\n");
    out
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
