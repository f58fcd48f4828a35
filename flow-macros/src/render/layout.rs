//! Where the boxes of the picture stand: runs of fused operators of one stream share a box, boxes stand in ranks
//! from left to right by their longest way from a source.

use super::label;
use crate::ops::EdgeKind;
use crate::plan::picture::Picture;

/// Width of a character of the font, and height of a line.
pub(super) const CHAR: usize = 7;
pub(super) const LINE: usize = 16;
const PADDING: usize = 8;
const GAP_Y: usize = 20;

pub(super) struct Layout {
    pub boxes: Vec<Placed>,
    pub arrows: Vec<Arrow>,
    pub width: usize,
    pub height: usize,
}

/// One box: the stream's name above its operators.
pub(super) struct Placed {
    pub title: String,
    pub lines: Vec<String>,
    pub x: usize,
    pub y: usize,
    pub width: usize,
    pub height: usize,
}

pub(super) struct Arrow {
    pub from: usize,
    pub to: usize,
    pub label: Option<&'static str>,
}

pub(super) fn layout(picture: &Picture) -> Layout {
    let box_of = boxes_of(picture);
    let mut boxes = fill(picture, &box_of);
    let arrows = arrows(picture, &box_of);
    let ranks = ranks(boxes.len(), &arrows);
    place(&mut boxes, &arrows, &ranks);
    let width = boxes.iter().map(|one| one.x + one.width).max().unwrap_or(0) + 1;
    let height = boxes.iter().map(|one| one.y + one.height).max().unwrap_or(0) + 1;
    Layout { boxes, arrows, width, height }
}

/// The box of each node: that of the node before it, where the two are fused, of one stream, and alone with each
/// other.
fn boxes_of(picture: &Picture) -> Vec<usize> {
    let mut box_of: Vec<usize> = Vec::with_capacity(picture.nodes.len());
    let mut count = 0;
    for (index, node) in picture.nodes.iter().enumerate() {
        let mut into = picture.edges.iter().filter(|edge| edge.to == index);
        let joined = match (into.next(), into.next()) {
            (Some(edge), None) if edge.kind == EdgeKind::Fused => {
                let alone = picture.edges.iter().filter(|other| other.from == edge.from).count() == 1;
                let same = picture.nodes[edge.from].stream == node.stream;
                (alone && same).then(|| box_of.get(edge.from).copied()).flatten()
            }
            _ => None,
        };
        box_of.push(joined.unwrap_or_else(|| {
            count += 1;
            count - 1
        }));
    }
    box_of
}

fn fill(picture: &Picture, box_of: &[usize]) -> Vec<Placed> {
    let mut boxes: Vec<Placed> = Vec::new();
    for (node, at) in picture.nodes.iter().zip(box_of) {
        let line = match node.detail() {
            Some(detail) => format!("{} {detail}", node.op),
            None => node.op.clone(),
        };
        match boxes.get_mut(*at) {
            Some(one) => one.lines.push(line),
            None => boxes.push(Placed {
                title: node.stream.clone(),
                lines: vec![line],
                x: 0,
                y: 0,
                width: 0,
                height: 0,
            }),
        }
    }
    for one in &mut boxes {
        let longest =
            one.lines.iter().chain([&one.title]).map(|line| line.chars().count()).max().unwrap_or(0);
        one.width = longest * CHAR + 2 * PADDING;
        one.height = (one.lines.len() + 1) * LINE + PADDING;
    }
    boxes
}

fn arrows(picture: &Picture, box_of: &[usize]) -> Vec<Arrow> {
    let between = picture.edges.iter().filter(|edge| box_of[edge.from] != box_of[edge.to]);
    between
        .map(|edge| Arrow { from: box_of[edge.from], to: box_of[edge.to], label: label(edge.kind) })
        .collect()
}

/// The longest way from a source. Boxes come in the order of the text, so what an arrow leaves is ranked in time.
fn ranks(count: usize, arrows: &[Arrow]) -> Vec<usize> {
    let mut ranks = vec![0; count];
    for _ in 0..count {
        for arrow in arrows.iter().filter(|arrow| arrow.from != arrow.to) {
            ranks[arrow.to] = ranks[arrow.to].max((ranks[arrow.from] + 1).min(count));
        }
    }
    ranks
}

/// Ranks from left to right, each as wide as its widest box; between two there is room for the widest label.
fn place(boxes: &mut [Placed], arrows: &[Arrow], ranks: &[usize]) {
    let mut x = 1;
    for rank in 0..=ranks.iter().copied().max().unwrap_or(0) {
        let members: Vec<usize> = (0..boxes.len()).filter(|index| ranks[*index] == rank).collect();
        let mut y = 1;
        for index in &members {
            boxes[*index].x = x;
            boxes[*index].y = y;
            y += boxes[*index].height + GAP_Y;
        }
        let widest = members.iter().map(|index| boxes[*index].width).max().unwrap_or(0);
        let labels = arrows.iter().filter(|arrow| ranks[arrow.from] == rank).filter_map(|arrow| arrow.label);
        let gap = labels.map(|label| (label.len() + 2) * CHAR).max().unwrap_or(0).max(40);
        x += widest + gap;
    }
}
