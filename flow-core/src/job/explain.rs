//! What a job is going to do: its operators, stages and exchanges, and why.

use super::Job;
use crate::error::Result;
use crate::stage::Topology;
use std::fmt::Write;

impl Job {
    /// The complete graph as Mermaid text: every operator, grouped by stage, with the kinds of the edges between stages.
    ///
    /// # Errors
    /// When the job could not start either.
    pub fn graph(&self) -> Result<String> {
        Ok(mermaid(&self.topology(None)?))
    }

    /// What was decided: what is fused, where the exchanges are, what each operator does and why.
    ///
    /// ```
    /// use flow_core::prelude::*;
    /// let job = Job::build("counts", |job| {
    ///     let words = source(from_vec(vec!["a", "b"])).map(str::to_uppercase);
    ///     job.add(words.key_by(|w| w.clone()).count().for_each(|_| ()));
    /// });
    /// let text = job.explain().unwrap();
    /// assert!(text.contains("stage from_vec (1 instance): from_vec → map"), "{text}");
    /// assert!(text.contains("key_by"), "{text}");
    /// ```
    ///
    /// # Errors
    /// When the job could not start either.
    pub fn explain(&self) -> Result<String> {
        Ok(explain(&self.name, &self.topology(None)?))
    }
}

fn mermaid(topology: &Topology) -> String {
    let mut text = String::from("flowchart LR\n");
    for (s, stage) in topology.stages.iter().enumerate() {
        let _ = writeln!(text, "  subgraph s{s}[\"{} ×{}\"]", stage.name, stage.count);
        for (n, node) in topology.nodes.iter().enumerate().filter(|(_, n)| n.stage == stage.name) {
            let _ = writeln!(text, "    n{n}[\"{}\"]", node.id);
        }
        text.push_str("  end\n");
    }
    for (from, to, kind) in &topology.links {
        let label = kind.map_or(String::new(), |kind| format!("|{}|", kind.name()));
        let _ = writeln!(text, "  n{from} -->{label} n{to}");
    }
    text
}

fn explain(name: &str, topology: &Topology) -> String {
    let mut text = format!("job `{name}`\n");
    for stage in &topology.stages {
        // Nodes are described from the end: the other way round they read as the pipeline does.
        let nodes: Vec<_> = topology.nodes.iter().rev().filter(|n| n.stage == stage.name).collect();
        let ids: Vec<_> = nodes.iter().map(|n| n.id.as_str()).collect();
        let plural = if stage.count == 1 { "" } else { "s" };
        let _ =
            writeln!(text, "stage {} ({} instance{plural}): {}", stage.name, stage.count, ids.join(" → "));
        for node in nodes.iter().filter(|n| !n.note.is_empty()) {
            let _ = writeln!(text, "  {}: {}", node.id, node.note);
        }
        for id in &stage.outputs {
            if let Some(edge) = topology.edges.get(id) {
                let _ = writeln!(text, "  → {} by {}", topology.stages[edge.to].name, edge.kind.name());
            }
        }
    }
    text
}
