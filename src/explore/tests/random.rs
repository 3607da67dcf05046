//! Charts, files and values made at random, the same for the same seed.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde_json::Value as Json;

use crate::chart::{Chart, RowShape, load};
use crate::engine::check;
use crate::engine::context::Context;
use crate::expr::templates::Templates;
use crate::files::pattern::HoleKind;
use crate::hash::IndexMap;

/// The ways to write each part of a chart.
type Grammar = HashMap<&'static str, Vec<String>>;

fn grammar() -> Grammar {
    let mut grammar = Grammar::new();
    let (mut part, mut is_whole) = ("", false);
    let source = include_str!("charts.txt");
    for line in source.lines().filter(|line| !line.starts_with('#')) {
        if let Some((mark @ ("=" | "=="), name)) = line.split_once(' ') {
            (part, is_whole) = (name, mark == "==");
            continue;
        }
        let ways = grammar.entry(part).or_default();
        match ways.last_mut().filter(|_| is_whole) {
            Some(whole) => *whole += &format!("\n{line}"),
            None if line.is_empty() => {}
            None => ways.push(line.replace("\\n", "\n")),
        }
    }
    grammar
}

/// Numbers and texts at random, the same for the same seed.
pub(super) struct Random {
    state: u64,
    grammar: Grammar,
    has_cycle: bool,
    in_command: bool,
}

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        let mut random = Self {
            state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            grammar: grammar(),
            has_cycle: false,
            in_command: false,
        };
        random.below(7);
        random.has_cycle = random.chance(40);
        random
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        usize::try_from(self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33).unwrap() % end
    }

    pub(super) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(super) fn pick<T: Clone>(&mut self, pool: &[T]) -> T {
        pool[self.below(pool.len())].clone()
    }

    /// One way to write a part.
    pub(super) fn way(&mut self, part: &str) -> String {
        let variants = [
            (self.in_command, format!("{part}.command"), 30),
            (self.has_cycle, format!("{part}.cycle"), 20),
        ];
        let is_plain = self.grammar.contains_key(part);
        for (is_on, name, percent) in variants {
            if is_on
                && let Some(ways) = self.grammar.get(name.as_str()).cloned()
                && (!is_plain || self.chance(percent))
            {
                return self.pick(&ways);
            }
        }
        let ways = self.grammar.get(part).cloned();
        ways.map(|ways| self.pick(&ways)).unwrap_or_default()
    }

    /// Writes a part.
    pub(super) fn write(&mut self, part: &str) -> String {
        let was_in_command = self.in_command;
        self.in_command |= part == "command";
        let way = self.way(part);
        let (mut text, mut rest) = (String::new(), way.as_str());
        while let Some((before, behind)) = rest.split_once('<') {
            text += before;
            let inside = behind.split_once('>');
            let is_part = |name: &&str| name.starts_with(|sign: char| sign.is_ascii_lowercase());
            match inside.filter(|(name, _)| is_part(name)) {
                Some((name, more)) => {
                    let (name, percent) = name.split_once(':').unwrap_or((name, "100"));
                    if self.chance(percent.parse().unwrap()) {
                        text += &self.write(name);
                    }
                    rest = more;
                }
                None => {
                    text.push('<');
                    rest = behind;
                }
            }
        }
        self.in_command = was_in_command;
        text + rest
    }
}

pub(super) fn made(seed: u64) -> Option<(Arc<Chart>, String)> {
    let text = Random::new(seed).write("chart");
    let chart = match load::from_text("made.toml", &text, Templates::folders(Vec::new())) {
        Ok(chart) => chart,
        Err(error) => panic!("{error}\n{text}"),
    };
    let is_sound = check::inspect(&chart, &text).flaws.is_empty();
    is_sound.then(|| (Arc::new(chart), text))
}

/// Texts of all kinds, which the charts know something of and something not.
pub(super) fn text_of(random: &mut Random) -> String {
    random.write("text")
}

fn slug_of(random: &mut Random) -> String {
    random.write("slug")
}

pub(super) fn one_of<V>(random: &mut Random, named: &IndexMap<String, V>) -> String {
    named.keys().nth(random.below(named.len())).unwrap().clone()
}

pub(super) fn table_of(random: &mut Random, headings: &[&str]) -> String {
    let mut text = String::new();
    if random.chance(20) {
        text += "# Rows\n\n";
    }
    if random.chance(85) {
        text +=
            &format!("| {} |\n|{}|\n", headings.join(" | "), vec!["---"; headings.len()].join("|"));
        for _ in 0..random.below(5) {
            let cells: Vec<String> = headings
                .iter()
                .map(|heading| if *heading == "Id" { slug_of(random) } else { text_of(random) })
                .collect();
            text += &format!("| {} |\n", cells.join(" | "));
        }
    }
    // What a person leaves behind who edits it by hand.
    if random.chance(25) {
        text += random.pick(&[
            "| no slug | done |\n",
            "| x |\n",
            "|  |  |\n",
            "| x | done | more |\n",
            "| x \\| y | done |\n",
            "x | done\n",
            "\n| Other |\n|---|\n| x |\n",
            "\n| Status | Id |\n|---|---|\n| done | beta |\n",
        ]);
    }
    for _ in 0..random.below(7) * usize::from(random.chance(40)) {
        text += "\n";
    }
    text
}

pub(super) fn files_of(
    random: &mut Random,
    chart: &Chart,
    context: &Context,
) -> BTreeMap<String, (String, u64)> {
    let mut files = BTreeMap::new();
    let mut put = |random: &mut Random, name: String, text: String| {
        if !name.is_empty() && !name.starts_with('/') {
            files.insert(name, (text, random.below(5) as u64));
        }
    };
    for set in chart.files.values() {
        for pattern in &set.with {
            if random.chance(45) {
                continue;
            }
            for _ in 0..1 + random.below(3) {
                let name = pattern.render(|hole| {
                    let words = pattern.holes().find_map(|(name, kind)| match kind {
                        HoleKind::OneOf(words) if name == hole => Some(words.to_vec()),
                        _ => None,
                    });
                    Ok::<_, ()>(match words {
                        Some(words) => random.pick(&words),
                        None if hole == "i" || hole == "n" => random.below(12).to_string(),
                        None => slug_of(random),
                    })
                });
                let name = name.unwrap().replace("**/", "").replace('*', &slug_of(random));
                let lines = (0..random.below(3))
                    .map(|_| format!("- {}: {}\n", random.write("word"), random.below(3)));
                let text = lines.collect();
                put(random, name, text);
            }
        }
    }
    for table in chart.tables.values() {
        let file = table.file.render(|hole| match context.get(hole) {
            Some(Json::String(text)) => Ok(text.clone()),
            _ => Err(()),
        });
        if let (Ok(file), true) = (file, random.chance(75)) {
            let text = match &table.rows {
                RowShape::Columns(columns) => {
                    let headings: Vec<&str> = columns
                        .values()
                        .filter_map(|names| names.first())
                        .map(String::as_str)
                        .collect();
                    table_of(random, &headings)
                }
                RowShape::Line(line) => {
                    let lines = (0..random.below(60)).map(|_| {
                        line.render(|_| {
                            Ok::<_, ()>(
                                (random.pick(&["Overview", "done", "alpha", "pending"])).to_owned(),
                            )
                        })
                        .unwrap()
                            + "\n"
                    });
                    lines.collect()
                }
            };
            put(random, file, text);
        }
    }
    for cycle in chart.cycles.values() {
        for pattern in [&cycle.review, &cycle.answer] {
            let n = context.get(&cycle.count).and_then(Json::as_i64).unwrap_or(0);
            let field = |hole: &str| match context.get(hole) {
                Some(Json::String(text)) => Ok(text.clone()),
                _ => Err(()),
            };
            let name = pattern.render(|hole| match hole {
                "base" => cycle.base.render(field),
                "n" => Ok(n.to_string()),
                other => field(other),
            });
            if let (Ok(name), true) = (name, random.chance(70)) {
                put(random, name, String::new());
            }
        }
    }
    for name in ["text.md", "plan.md", "a.done.md", "list.txt", "deep/er.md"] {
        if random.chance(25) {
            put(random, name.to_owned(), "- alpha: 1\n- x: 2\n".to_owned());
        }
    }
    files
}
