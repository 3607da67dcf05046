//! A picture as SVG: a box for each phase and cycle, one below the other. Forward transitions run down on the right, and
//! backward ones run up on the left, so that no line crosses a box. The fonts are those of the machine that shows it.

use serde::Serialize;
use textwrap::core::display_width;

use super::picture::{Edge, Kind, Mark, Node, Picture};
use crate::expr::markup::fill;
use crate::text::markup;

/// Pixels: the height of a line of text, and of a title.
const LINE: usize = 18;
/// Around a box's text, and around everything.
const PAD: usize = 12;
const MARGIN: usize = 20;
/// Between two boxes, and between two lines at the side.
const GAP: usize = 30;
const LANE: usize = 14;
/// How far below the top of a box lines arrive.
const ARRIVAL: usize = 15;

/// A box.
struct Placed<'p> {
    node: &'p Node,
    top: usize,
    height: usize,
    /// The edges that start at a line of their own, with its position.
    ports: Vec<(usize, usize)>,
}

/// A line at the side: the edges to one box, on the way down or up.
struct Lane {
    to: usize,
    is_down: bool,
    span: (usize, usize),
    /// Its distance from the boxes: 0 is next to them.
    slot: usize,
}

/// Returns the picture, with its title or without.
pub(super) fn write(picture: &Picture, is_titled: bool) -> String {
    let mut titles: Vec<Line> = Vec::new();
    if is_titled {
        let y = |index: usize| MARGIN + index * LINE + 8;
        titles.push(Line::new("name", MARGIN, y(0), &picture.title));
        let caption = picture.caption.iter();
        titles.extend(caption.map(|caption| Line::new("note", MARGIN, y(1), caption)));
    }
    let below = if is_titled { PAD } else { 0 };
    let (boxes, bottom) = place(picture, MARGIN + titles.len() * LINE + below);
    let lanes = lanes(picture, &boxes);
    let slots = |is_down| {
        let side = lanes.iter().filter(|lane| lane.is_down == is_down);
        side.map(|lane| lane.slot + 1).max().unwrap_or(0)
    };
    let left = MARGIN + slots(false) * LANE + LANE;
    let widest = boxes.iter().map(|placed| content(picture, placed));
    let right = left + widest.max().unwrap_or(0) + 2 * PAD;
    let room = titles.iter().map(|line| MARGIN * 2 + pixels(&line.text));
    let width = room.chain([right + slots(true) * LANE + LANE + MARGIN]).max().unwrap_or(0);
    // The path that was taken is drawn last, on top of the rest.
    let mut edges: Vec<(usize, &Edge)> = picture.edges.iter().enumerate().collect();
    edges.sort_by_key(|(_, edge)| edge.is_taken);
    let edges = edges.into_iter().map(|(number, edge)| {
        let (from, to) = (&boxes[edge.from], &boxes[edge.to]);
        let port = from.ports.iter().find(|(port, _)| *port == number);
        let is_down = goes_down(edge);
        let mut lanes = lanes.iter();
        let lane = lanes.find(|lane| (lane.to, lane.is_down) == (edge.to, is_down));
        let way = match (port, lane) {
            (Some((_, y)), Some(lane)) => {
                let (side, x) = match is_down {
                    true => (right, right + LANE + lane.slot * LANE),
                    false => (left, left.saturating_sub(LANE + lane.slot * LANE)),
                };
                around(side, *y, x, to.top + ARRIVAL)
            }
            _ => {
                let middle = left + 2 * PAD;
                format!("M{middle} {}V{}", from.top + from.height, to.top)
            }
        };
        (way, edge.is_taken)
    });
    let values = Values {
        title: &picture.title,
        width,
        height: bottom,
        titles,
        edges: edges.collect(),
        boxes: boxes.iter().map(|placed| drawn(picture, placed, left, right)).collect(),
    };
    fill(include_str!("picture.svg"), values, markup)
}

/// What the template draws.
#[derive(Serialize)]
struct Values<'p> {
    title: &'p str,
    width: usize,
    height: usize,
    titles: Vec<Line>,
    /// Paths, and whether they were taken.
    edges: Vec<(String, bool)>,
    boxes: Vec<Drawn>,
}

/// A line of text.
#[derive(Serialize)]
struct Line {
    class: &'static str,
    x: usize,
    y: usize,
    text: String,
}

/// A box with its text.
#[derive(Serialize)]
struct Drawn {
    kind: Kind,
    mark: Mark,
    /// The left upper corner and the size of each frame, and how round its corners are.
    frames: Vec<[usize; 5]>,
    /// The stage, at the right end of the first line.
    stage: Option<Line>,
    lines: Vec<Line>,
}

impl Line {
    fn new(class: &'static str, x: usize, middle: usize, text: &str) -> Self {
        Self { class, x, y: middle + 4, text: text.to_owned() }
    }
}

/// Returns how wide the text of a box is.
fn content(picture: &Picture, placed: &Placed<'_>) -> usize {
    let stage = placed.node.stage.as_deref().unwrap_or_default();
    let head = format!("{}  {stage}", head(placed.node));
    let rows = placed.ports.iter();
    let rows = rows.map(|(edge, _)| row(picture, &picture.edges[*edge]));
    let lines = placed.node.notes.iter().cloned().chain(rows);
    let lines = lines.map(|line| pixels(&line));
    lines.max().unwrap_or(0).max(pixels(&head))
}

/// Places the boxes below `top`, and returns the lower end of the picture.
fn place(picture: &Picture, mut top: usize) -> (Vec<Placed<'_>>, usize) {
    let mut boxes = Vec::new();
    for (number, node) in picture.nodes.iter().enumerate() {
        let mut y = top + PAD + (1 + node.notes.len()) * LINE;
        let mut ports = Vec::new();
        for (edge, _) in picture.edges_from(number).filter(|(_, edge)| !is_straight(edge)) {
            ports.push((edge, y + LINE / 2));
            y += LINE;
        }
        let height = y + PAD - 4 - top;
        boxes.push(Placed { node, top, height, ports });
        top += height + GAP;
    }
    (boxes, top - GAP.min(top) + MARGIN)
}

/// Returns whether an edge needs no words and leads to the next box.
fn is_straight(edge: &Edge) -> bool {
    edge.label.is_empty() && edge.to == edge.from + 1
}

fn goes_down(edge: &Edge) -> bool {
    edge.to >= edge.from
}

/// Returns the lines at the sides, the short ones next to the boxes. All edges to one box share one.
fn lanes(picture: &Picture, boxes: &[Placed<'_>]) -> Vec<Lane> {
    let mut lanes: Vec<Lane> = Vec::new();
    for placed in boxes {
        for (edge, y) in &placed.ports {
            let edge = &picture.edges[*edge];
            let arrival = boxes[edge.to].top + ARRIVAL;
            let span = (arrival.min(*y), arrival.max(*y));
            let (to, is_down) = (edge.to, goes_down(edge));
            match lanes.iter_mut().find(|lane| (lane.to, lane.is_down) == (to, is_down)) {
                Some(lane) => lane.span = (lane.span.0.min(span.0), lane.span.1.max(span.1)),
                None => lanes.push(Lane { to, is_down, span, slot: 0 }),
            }
        }
    }
    lanes.sort_by_key(|lane| lane.span.1 - lane.span.0);
    for index in 0..lanes.len() {
        let (placed, rest) = lanes.split_at_mut(index);
        let Some(lane) = rest.first_mut() else { break };
        let overlaps = |other: &Lane, slot: usize| {
            other.is_down == lane.is_down
                && other.slot == slot
                && other.span.0 <= lane.span.1
                && lane.span.0 <= other.span.1
        };
        let mut slot = 0;
        while placed.iter().any(|other| overlaps(other, slot)) {
            slot += 1;
        }
        lane.slot = slot;
    }
    lanes
}

/// Returns the path from (`side`, `from`) out to `x`, along `x`, and back to the side at `to`, with rounded corners.
fn around(side: usize, from: usize, x: usize, to: usize) -> String {
    let radius = 6.min(from.abs_diff(to) / 2);
    let inner = if x > side { x - radius } else { x + radius };
    let (leave, arrive) = match to > from {
        true => (from + radius, to - radius),
        false => (from - radius, to + radius),
    };
    format!("M{side} {from}H{inner}Q{x} {from} {x} {leave}V{arrive}Q{x} {to} {inner} {to}H{side}")
}

fn drawn(picture: &Picture, placed: &Placed<'_>, left: usize, right: usize) -> Drawn {
    let (node, top) = (placed.node, placed.top);
    let width = right - left;
    let frame = |inset: usize| {
        let (width, height) = (width - 2 * inset, placed.height - 2 * inset);
        [left + inset, top + inset, width, height, 8 - inset]
    };
    let (x, first) = (left + PAD, top + PAD + LINE / 2);
    let mut lines = vec![Line::new("name", x, first, &head(node))];
    let notes = node.notes.iter().enumerate();
    lines.extend(notes.map(|(at, note)| Line::new("note", x, first + (at + 1) * LINE, note)));
    let rows = placed.ports.iter();
    lines.extend(rows.map(|(edge, port)| {
        let row = row(picture, &picture.edges[*edge]);
        Line::new("", x, *port, &row)
    }));
    let stage = node.stage.as_ref();
    Drawn {
        kind: node.kind,
        mark: node.mark,
        frames: match node.kind {
            Kind::Final => vec![frame(0), frame(3)],
            Kind::Phase | Kind::Cycle => vec![frame(0)],
        },
        stage: stage.map(|stage| Line::new("note", right - PAD, first, stage)),
        lines,
    }
}

fn head(node: &Node) -> String {
    match node.is_initial {
        true => format!("● {}", node.name),
        false => node.name.clone(),
    }
}

/// Returns the words of an edge, as a line of the box that it leaves.
fn row(picture: &Picture, edge: &Edge) -> String {
    let name = &picture.nodes[edge.to].name;
    match edge.label.as_str() {
        "" => format!("→ {name}"),
        label => format!("→ {name}: {label}"),
    }
}

/// Returns how wide a text is: a character of a monospaced font is about 0.61 times as wide as it is high.
fn pixels(text: &str) -> usize {
    display_width(text) * 8
}
