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
/// Room for the curves of arrows, and for the tip behind a label.
const CURVES: usize = 40;
pub(super) const TIP: usize = 10;
/// From one arrow into a box to the next: a label lies between.
const ENTRY: usize = LINE + 4;

pub(super) struct Layout {
    /// The boxes, and behind them the places where an arrow passes a rank.
    pub boxes: Vec<Placed>,
    pub arrows: Vec<Arrow>,
    pub width: usize,
    pub height: usize,
}

/// One box: the stream's name above its operators. One without a line is a place for an arrow to pass.
#[derive(Default)]
pub(super) struct Placed {
    pub title: String,
    pub lines: Vec<String>,
    pub x: usize,
    pub y: usize,
    pub width: usize,
    pub height: usize,
    /// How far before it arrows go straight: as far as a label is long.
    pub straight: usize,
}

/// From box to box, over the places it passes in between.
pub(super) struct Arrow {
    pub way: Vec<usize>,
    pub label: Option<&'static str>,
    /// The height at which it reaches its box: each has its own, so that labels do not meet.
    pub entry: usize,
}

impl Arrow {
    fn to(&self) -> usize {
        self.way[self.way.len() - 1]
    }
}

pub(super) fn layout(picture: &Picture) -> Layout {
    let box_of = boxes_of(picture);
    let mut boxes = fill(picture, &box_of);
    let mut arrows = arrows(picture, &box_of);
    let mut ranks = ranks(boxes.len(), &arrows);
    make_room(&mut boxes, &arrows);
    make_way(&mut boxes, &mut arrows, &mut ranks);
    place(&mut boxes, &arrows, &ranks);
    enter(&boxes, &mut arrows);
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
            None => boxes.push(Placed { title: node.stream.clone(), lines: vec![line], ..Placed::default() }),
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
    let arrow = |from, to, kind| Arrow { way: vec![from, to], label: label(kind), entry: 0 };
    between.map(|edge| arrow(box_of[edge.from], box_of[edge.to], edge.kind)).collect()
}

/// The longest way from a source, for each box; a graph with a cycle, which is an error, ends the search too.
fn ranks(count: usize, arrows: &[Arrow]) -> Vec<usize> {
    let mut ranks = vec![0; count];
    for _ in 0..count {
        for arrow in arrows {
            let (from, to) = (arrow.way[0], arrow.way[1]);
            ranks[to] = ranks[to].max((ranks[from] + 1).min(count));
        }
    }
    ranks
}

/// A box is as high as the arrows into it need.
fn make_room(boxes: &mut [Placed], arrows: &[Arrow]) {
    for (index, one) in boxes.iter_mut().enumerate() {
        let entries = arrows.iter().filter(|arrow| arrow.to() == index).count();
        one.height = one.height.max((entries + 1) * ENTRY);
    }
}

/// The arrows into a box reach it one below the other, in the order of what they come from.
fn enter(boxes: &[Placed], arrows: &mut [Arrow]) {
    for (index, one) in boxes.iter().enumerate() {
        let mut entries: Vec<&mut Arrow> = arrows.iter_mut().filter(|arrow| arrow.to() == index).collect();
        entries.sort_by_key(|arrow| middle(&boxes[arrow.way[arrow.way.len() - 2]]));
        let parts = entries.len() + 1;
        for (place, arrow) in entries.into_iter().enumerate() {
            arrow.entry = one.y + one.height * (place + 1) / parts;
        }
    }
}

fn middle(one: &Placed) -> usize {
    one.y + one.height / 2
}

/// An arrow over several ranks gets a place in each of them, so that it crosses no box.
fn make_way(boxes: &mut Vec<Placed>, arrows: &mut [Arrow], ranks: &mut Vec<usize>) {
    for arrow in arrows {
        let (from, to) = (arrow.way[0], arrow.way[1]);
        let mut way = vec![from];
        for rank in ranks[from] + 1..ranks[to] {
            way.push(boxes.len());
            boxes.push(Placed::default());
            ranks.push(rank);
        }
        way.push(to);
        arrow.way = way;
    }
}

/// Ranks from left to right, each as wide as its widest box; between two there is room for curves and the widest label. In a
/// rank boxes come in the order of what they come from, and ranks are centred, so that arrows are short.
fn place(boxes: &mut [Placed], arrows: &[Arrow], ranks: &[usize]) {
    let last = ranks.iter().copied().max().unwrap_or(0);
    let members: Vec<Vec<usize>> =
        (0..=last).map(|rank| (0..boxes.len()).filter(|index| ranks[*index] == rank).collect()).collect();
    let height_of = |boxes: &[Placed], members: &[usize]| {
        members.iter().map(|index| boxes[*index].height + GAP_Y).sum::<usize>().saturating_sub(GAP_Y)
    };
    let tallest = members.iter().map(|members| height_of(boxes, members)).max().unwrap_or(0);
    let (mut x, mut straight) = (1, 0);
    for (rank, mut members) in members.into_iter().enumerate() {
        members.sort_by_key(|index| middle_of_sources(*index, boxes, arrows));
        let mut y = 1 + (tallest - height_of(boxes, &members)) / 2;
        let widest = members.iter().map(|index| boxes[*index].width).max().unwrap_or(0);
        for index in members {
            boxes[index].x = x;
            boxes[index].y = y;
            boxes[index].straight = straight;
            y += boxes[index].height + GAP_Y;
            if boxes[index].lines.is_empty() {
                boxes[index].width = widest;
            }
        }
        let into_next = arrows.iter().filter(|arrow| ranks[arrow.to()] == rank + 1);
        let labels = into_next.filter_map(|arrow| arrow.label);
        straight = labels.map(|label| label.len() * CHAR + TIP).max().unwrap_or(0);
        x += widest + straight + CURVES;
    }
}

/// The mean height of what a box comes from; 0 for a source, which keeps its place in the text.
fn middle_of_sources(index: usize, boxes: &[Placed], arrows: &[Arrow]) -> usize {
    let steps = arrows.iter().flat_map(|arrow| arrow.way.windows(2)).filter(|step| step[1] == index);
    let middles: Vec<usize> = steps.map(|step| middle(&boxes[step[0]])).collect();
    middles.iter().sum::<usize>() / middles.len().max(1)
}
