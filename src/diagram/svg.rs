//! A picture as SVG: a box for each phase and cycle, one below the other. Forward transitions run down on the right, and
//! backward ones run up on the left, so that no line crosses a box. The fonts are those of the machine that shows it.

use textwrap::core::display_width;

use super::picture::{Edge, Kind, Mark, Node, Picture};
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

const STYLE: &str = "\
.chart { --text: #1f2328; --muted: #59636e; --ground: #ffffff; --box: #f6f8fa; --line: #59636e; --cycle: #ddf4ff; \
--ring: #0969da; --taken: #bc4c00; --here: #fff1e5 }
@media (prefers-color-scheme: dark) { .chart { --text: #e6edf3; --muted: #9ea7b0; --ground: #0d1117; --box: #161b22; \
--line: #8b949e; --cycle: #10233f; --ring: #4493f8; --taken: #f0883e; --here: #3d2a17 } }
.chart text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, \"DejaVu Sans Mono\", monospace; \
fill: var(--text); white-space: pre }
.chart .name { font-weight: bold } .chart .note { fill: var(--muted) }
.chart .ground { fill: var(--ground) } .chart .head { fill: var(--line) } .chart .head-taken { fill: var(--taken) }
.chart .box { fill: var(--box); stroke: var(--line) } .chart .cycle { fill: var(--cycle); stroke: var(--ring) }
.chart .visited { stroke: var(--taken); stroke-width: 2 }
.chart .current { fill: var(--here); stroke: var(--taken); stroke-width: 3 }
.chart .edge { fill: none; stroke: var(--line); stroke-width: 1.5 } .chart .taken { stroke: var(--taken); stroke-width: 2.5 }
";

/// A box with its text.
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
    let mut titles = Vec::new();
    if is_titled {
        titles.push(("name", picture.title.clone()));
        titles.extend(
            picture
                .caption
                .iter()
                .map(|caption| ("note", caption.clone())),
        );
    }
    let below = if is_titled { PAD } else { 0 };
    let (boxes, bottom) = place(picture, MARGIN + titles.len() * LINE + below);
    let lanes = lanes(picture, &boxes);
    let slots = |is_down| {
        let side = lanes.iter().filter(|lane| lane.is_down == is_down);
        side.map(|lane| lane.slot + 1).max().unwrap_or(0)
    };
    let widest = picture.nodes.iter().enumerate().map(|(number, node)| {
        let stage = node.stage.as_deref().unwrap_or_default();
        let top = format!("{}  {stage}", head(node));
        let own = std::iter::once(top).chain(node.notes.iter().cloned());
        let rows = boxes[number].ports.iter();
        let rows = rows.map(|(edge, _)| row(picture, &picture.edges[*edge]));
        own.chain(rows).map(|text| pixels(&text)).max().unwrap_or(0)
    });
    let left = MARGIN + slots(false) * LANE + LANE;
    let right = left + widest.max().unwrap_or(0) + 2 * PAD;
    let room = titles.iter().map(|(_, text)| MARGIN * 2 + pixels(text));
    let width = room
        .chain([right + slots(true) * LANE + LANE + MARGIN])
        .max()
        .unwrap_or(0);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" width=\"{width}\" height=\"{bottom}\" \
         viewBox=\"0 0 {width} {bottom}\" role=\"img\">\n<title>{}</title>\n<style>\n{STYLE}</style>\n<defs>\n",
        markup(&format!("The chart {}", picture.title)),
    );
    for class in ["head", "head-taken"] {
        text.push_str(&format!(
            "<marker id=\"{class}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
             markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"{class}\" d=\"M0 0L8 4L0 8z\"/></marker>\n"
        ));
    }
    text.push_str("</defs>\n<rect class=\"ground\" width=\"100%\" height=\"100%\" rx=\"8\"/>\n");
    for (index, (class, title)) in titles.iter().enumerate() {
        text.push_str(&line(class, MARGIN, MARGIN + index * LINE + 8, title));
    }
    // The path that was taken is drawn last, on top of the rest.
    let mut edges: Vec<(usize, &Edge)> = picture.edges.iter().enumerate().collect();
    edges.sort_by_key(|(_, edge)| edge.is_taken);
    for (number, edge) in edges {
        let (from, to) = (&boxes[edge.from], &boxes[edge.to]);
        let port = from.ports.iter().find(|(port, _)| *port == number);
        let is_down = goes_down(edge);
        let lane = lanes
            .iter()
            .find(|lane| (lane.to, lane.is_down) == (edge.to, is_down));
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
        let (class, marker) = match edge.is_taken {
            true => ("edge taken", "head-taken"),
            false => ("edge", "head"),
        };
        text.push_str(&format!(
            "<path class=\"{class}\" d=\"{way}\" marker-end=\"url(#{marker})\"/>\n"
        ));
    }
    for placed in &boxes {
        text.push_str(&drawn(picture, placed, left, right));
    }
    text.push_str("</svg>\n");
    text
}

/// Places the boxes below `top`, and returns the lower end of the picture.
fn place(picture: &Picture, mut top: usize) -> (Vec<Placed<'_>>, usize) {
    let mut boxes = Vec::new();
    for (number, node) in picture.nodes.iter().enumerate() {
        let mut y = top + PAD + (1 + node.notes.len()) * LINE;
        let mut ports = Vec::new();
        for (edge, _) in picture
            .edges_from(number)
            .filter(|(_, edge)| !is_straight(edge))
        {
            ports.push((edge, y + LINE / 2));
            y += LINE;
        }
        let height = y + PAD - 4 - top;
        boxes.push(Placed {
            node,
            top,
            height,
            ports,
        });
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
            match lanes
                .iter_mut()
                .find(|lane| (lane.to, lane.is_down) == (to, is_down))
            {
                Some(lane) => lane.span = (lane.span.0.min(span.0), lane.span.1.max(span.1)),
                None => lanes.push(Lane {
                    to,
                    is_down,
                    span,
                    slot: 0,
                }),
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

fn drawn(picture: &Picture, placed: &Placed<'_>, left: usize, right: usize) -> String {
    let Placed {
        node, top, height, ..
    } = placed;
    let kind = match node.kind {
        Kind::Cycle => "box cycle",
        Kind::Phase | Kind::Final => "box",
    };
    let mark = match node.mark {
        Mark::None => "",
        Mark::Visited => " visited",
        Mark::Current => " current",
    };
    let width = right - left;
    let frame = |inset: usize, class: &str| {
        format!(
            "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\"/>\n",
            left + inset,
            top + inset,
            width - 2 * inset,
            height - 2 * inset,
            8 - inset
        )
    };
    let mut text = frame(0, &format!("{kind}{mark}"));
    if node.kind == Kind::Final {
        text.push_str(&frame(3, &format!("{kind}{mark}")));
    }
    let mut y = top + PAD + LINE / 2;
    let x = left + PAD;
    text.push_str(&line("name", x, y, &head(node)));
    if let Some(stage) = &node.stage {
        text.push_str(&format!(
            "<text class=\"note\" text-anchor=\"end\" x=\"{}\" y=\"{}\">{}</text>\n",
            right - PAD,
            y + 4,
            markup(stage)
        ));
    }
    for note in &node.notes {
        y += LINE;
        text.push_str(&line("note", x, y, note));
    }
    for (edge, port) in &placed.ports {
        text.push_str(&line("", x, *port, &row(picture, &picture.edges[*edge])));
    }
    text
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

fn line(class: &str, x: usize, middle: usize, text: &str) -> String {
    let y = middle + 4;
    let class = match class {
        "" => String::new(),
        class => format!(" class=\"{class}\""),
    };
    format!("<text{class} x=\"{x}\" y=\"{y}\">{}</text>\n", markup(text))
}

/// Returns how wide a text is: a character of a monospaced font is about 0.61 times as wide as it is high.
fn pixels(text: &str) -> usize {
    display_width(text) * 8
}
