//! The pictures of a graph: as text, and that the SVG is one line whose boxes do not overlap.

use crate::diag::Diagnostics;
use crate::plan::picture::Picture;
use crate::render;
use expect_test::expect;

pub(super) const TEXT: &str = r#"pub fn p(path: PathBuf) {
    let flights = source(csv::<Flight>(path)).filter(|f| f.dep_delay.is_some()).event_time(at, disorder = 1d);
    let weather = clean(source(csv::<Weather>(path)));
    let (hourly, late) = flights
        .key_by(|f| f.origin)
        .window(tumbling(1h), late = side)
        .aggregate(|a| (a.count(), a.mean(|f| f.dep_delay)))
        .named("delays");
    let all = hourly.map(one).union(weather).rebalance();
    all.sink(csv_file(path));
    all.count().for_each(f);
    late.collect(&late_ones);
}"#;

fn picture<T>(look: impl FnOnce(&Picture) -> T) -> T {
    picture_of(TEXT, look)
}

pub(super) fn picture_of<T>(text: &str, look: impl FnOnce(&Picture) -> T) -> T {
    let source = crate::ast::sources(text.parse().expect("tokens")).remove(0);
    let mut diagnostics = Diagnostics::new();
    let ast = crate::ast::parse(source, &mut diagnostics).expect("a pipeline");
    let graph = crate::graph::build(&ast, &mut diagnostics);
    assert!(diagnostics.finish().errors.is_empty());
    look(&crate::plan::plan(&ast, &graph).picture)
}

#[test]
fn mermaid() {
    expect![[r#"
        graph LR
          n0["flights/csv"]
          n1["flights/filter"]
          n2["flights/event_time"]
          n3["weather/csv"]
          n4["weather/clean"]
          n5["hourly/key_by<br/>&#124;f&#124; f.origin"]
          n6[("hourly/window<br/>tumbling(1h)")]
          n7[("delays/aggregate")]
          n8["all/map"]
          n9["all/union"]
          n10["all/rebalance"]
          n11["all/sink"]
          n12[("all/count")]
          n13["all/for_each"]
          n14["late/collect"]
          n0 --> n1
          n1 --> n2
          n3 --> n4
          n2 --> n5
          n5 ==>|key_by| n6
          n6 --> n7
          n7 --> n8
          n8 --> n9
          n4 --> n9
          n9 --> n10
          n10 ==>|rebalance| n11
          n10 ==>|rebalance| n12
          n12 --> n13
          n7 --> n14
    "#]]
    .assert_eq(&picture(render::mermaid));
}

#[test]
fn dot() {
    expect![[r#"
        digraph "p" {
          rankdir=LR;
          node [shape=box];
          n0 [label="flights/csv"];
          n1 [label="flights/filter"];
          n2 [label="flights/event_time"];
          n3 [label="weather/csv"];
          n4 [label="weather/clean"];
          n5 [label="hourly/key_by\n|f| f.origin"];
          n6 [label="hourly/window\ntumbling(1h)", peripheries=2];
          n7 [label="delays/aggregate", peripheries=2];
          n8 [label="all/map"];
          n9 [label="all/union"];
          n10 [label="all/rebalance"];
          n11 [label="all/sink"];
          n12 [label="all/count", peripheries=2];
          n13 [label="all/for_each"];
          n14 [label="late/collect"];
          n0 -> n1;
          n1 -> n2;
          n3 -> n4;
          n2 -> n5;
          n5 -> n6 [label="key_by", style=bold];
          n6 -> n7;
          n7 -> n8;
          n8 -> n9;
          n4 -> n9;
          n9 -> n10;
          n10 -> n11 [label="rebalance", style=bold];
          n10 -> n12 [label="rebalance", style=bold];
          n12 -> n13;
          n7 -> n14;
        }
    "#]]
    .assert_eq(&picture(render::dot));
}

#[test]
fn the_svg_is_one_line_in_the_colours_of_the_page() {
    let svg = picture(render::svg);
    assert!(!svg.contains('\n') && svg.starts_with("<svg ") && svg.ends_with("</svg>"));
    assert!(svg.contains("currentColor") && !svg.contains("black") && !svg.contains("#000"));
}

pub(super) fn number(text: &str, name: &str) -> usize {
    let from = text.find(&format!(" {name}=\"")).expect("an attribute") + name.len() + 3;
    text[from..].split('"').next().and_then(|number| number.parse().ok()).expect("a number")
}

#[test]
fn no_two_boxes_overlap() {
    let svg = picture(render::svg);
    let boxes: Vec<[usize; 4]> = svg
        .split("<rect")
        .skip(1)
        .map(|rect| [number(rect, "x"), number(rect, "y"), number(rect, "width"), number(rect, "height")])
        .collect();
    assert!(boxes.len() > 6);
    for (index, [x, y, width, height]) in boxes.iter().enumerate() {
        for [x2, y2, width2, height2] in &boxes[index + 1..] {
            let apart = x + width <= *x2 || x2 + width2 <= *x || y + height <= *y2 || y2 + height2 <= *y;
            assert!(apart, "{boxes:?}");
        }
    }
}
