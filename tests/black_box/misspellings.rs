//! How many misspellings of the shipped charts `check-chart` notices: one letter of a word is missing, wrong, or swapped
//! with the next one.
//!
//! A word is a key, a name, or a literal that expressions compare. Texts for people, arguments of other programs and
//! comments are not checked by anyone. To measure with a larger sample, and see what is not noticed:
//! `TASKIE_MISSPELLINGS=1000 cargo test --release --test black_box misspellings -- --ignored --nocapture`.

use std::fs;
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use taskie::explore::budget::Caps;
use taskie::expr::templates::Templates;

/// The shipped charts, and the folder of each.
const CHARTS: [(&str, &str); 3] = [
    ("statechart.toml", ""),
    ("plugin/dr-done/statechart.toml", "plugin/dr-done"),
    ("examples/ralph/statechart.toml", "examples/ralph"),
];

/// Keys whose strings are texts or arguments: only what is inside braces is read.
const TEXTS: &[&str] =
    &["about", "argv", "block", "else", "line", "message", "say", "stage", "text", "write"];

/// Keys whose strings are expressions.
const EXPRESSIONS: &[&str] =
    &["always", "each", "eventually", "exit", "guard", "never", "one_of", "reachable", "ready"];

/// A small generator of numbers, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}

/// The words of a chart.
fn words(text: &str) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut at = 0;
    let (mut key, mut header) = (String::new(), String::new());
    while at < text.len() {
        let rest = &text[at..];
        let sign = rest.chars().next().unwrap();
        let quote = ["\"\"\"", "\"", "'"].into_iter().find(|quote| rest.starts_with(quote));
        if sign == '#' {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if sign == '[' && text[..at].ends_with('\n') {
            let end = rest.find(']').unwrap() + usize::from(rest.starts_with("[["));
            header = rest[..end].trim_matches(['[', ']']).to_owned();
            words.extend(words_in(text, at..at + end));
            at += end;
        } else if let Some(quote) = quote {
            let start = at + quote.len();
            let mut end = start;
            while !text[end..].starts_with(quote) {
                end += if text[end..].starts_with('\\') { 2 } else { 1 };
                while !text.is_char_boundary(end) {
                    end += 1;
                }
            }
            let is_in = |table: &str| header == table || header.starts_with(&format!("{table}."));
            if is_in("let") || is_in("prompts") || EXPRESSIONS.contains(&key.as_str()) {
                words.extend(words_of_expression(text, start..end));
            } else {
                let is_text = TEXTS.contains(&key.as_str()) || header.ends_with(".text");
                let mut from = start;
                while let Some(open) = text[from..end].find(['{']).map(|open| from + open) {
                    let Some(close) = ["{{", "{%"]
                        .iter()
                        .zip(["}}", "%}"])
                        .find(|(sign, _)| text[open..].starts_with(**sign))
                        .and_then(|(_, sign)| Some(open + text[open..end].find(sign)?))
                    else {
                        words.extend(words_in(text, from..open + 1).filter(|_| !is_text));
                        from = open + 1;
                        continue;
                    };
                    words.extend(words_in(text, from..open).filter(|_| !is_text));
                    words.extend(words_of_expression(text, open + 2..close));
                    from = close + 2;
                }
                words.extend(words_in(text, from..end).filter(|_| !is_text));
            }
            at = end + quote.len();
        } else if sign.is_ascii_alphabetic() {
            let end = rest.find(|sign: char| !is_of_a_word(sign)).unwrap_or(rest.len());
            if rest[end..].trim_start().starts_with(['=', '.']) {
                key = rest[..end].to_owned();
                words.push(at..at + end);
            }
            at += end;
        } else {
            at += sign.len_utf8();
        }
    }
    words.retain(|word| word.len() > 1);
    words
}

fn is_of_a_word(sign: char) -> bool {
    sign.is_ascii_alphanumeric() || sign == '_' || sign == '-'
}

fn words_in(text: &str, range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    for (at, sign) in text[range.clone()].char_indices() {
        let at = range.start + at;
        match words.last_mut() {
            Some(word) if is_of_a_word(sign) && word.end == at => word.end += 1,
            _ if sign.is_ascii_alphabetic() => words.push(at..at + 1),
            _ => {}
        }
    }
    words.into_iter()
}

/// Names, and literals of one word.
fn words_of_expression(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut from = range.start;
    let mut is_literal = false;
    for part in text[range].split('\'') {
        let here = from..from + part.len();
        if !is_literal || part.chars().all(is_of_a_word) {
            words.extend(words_in(text, here));
        }
        from += part.len() + 1;
        is_literal = !is_literal;
    }
    words
}

/// The word with one slip.
fn misspelled(word: &str, numbers: &mut Numbers) -> String {
    loop {
        let mut letters: Vec<char> = word.chars().collect();
        let at = numbers.below(letters.len());
        match numbers.below(3) {
            0 => {
                letters.remove(at);
            }
            1 if at + 1 < letters.len() => letters.swap(at, at + 1),
            _ => letters[at] = char::from(b'a' + u8::try_from(numbers.below(26)).unwrap()),
        }
        let slip: String = letters.into_iter().collect();
        if slip != word {
            return slip;
        }
    }
}

/// The lines of the findings in a chart; those of a template are 0.
fn lines(text: &str, folder: &str, caps: Option<&Caps>) -> Vec<usize> {
    let templates = |folders: &[String]| {
        let folders = folders.iter().map(|name| Path::new(folder).join(name));
        Templates::folders(folders.collect())
    };
    let linted = taskie::lint::run("chart.toml", text, templates, caps);
    let line = |flaw: &taskie::diagnostic::flaw::Flaw| match flaw.file {
        Some(_) => 0,
        None => flaw.position(text).0,
    };
    linted.flaws.iter().map(line).collect()
}

#[test]
#[expect(clippy::print_stdout, reason = "these are the figures")]
#[ignore = "explores many charts; see above"]
fn misspellings_are_noticed_at_their_line() {
    let count = std::env::var("TASKIE_MISSPELLINGS").map_or(300, |count| count.parse().unwrap());
    let caps = Caps { time: Duration::from_secs(20), ..Caps::default() };
    let (mut noticed, mut placed, mut alone) = (0, 0, 0);
    for (chart, folder) in CHARTS {
        let text = fs::read_to_string(chart).unwrap().replacen("default = 8", "default = 2", 1);
        let words = words(&text);
        let mut numbers = Numbers(7);
        let (mut noticed_here, mut placed_here, mut alone_here) = (0, 0, 0);
        for _ in 0..count {
            let word = words[numbers.below(words.len())].clone();
            let slip = misspelled(&text[word.clone()], &mut numbers);
            let line = text[..word.start].matches('\n').count() + 1;
            let edited = format!("{}{slip}{}", &text[..word.start], &text[word.end..]);
            let mut found = lines(&edited, folder, None);
            let stage = if found.is_empty() { "explored" } else { "read" };
            if found.is_empty() {
                found = lines(&edited, folder, Some(&caps));
            }
            noticed_here += usize::from(!found.is_empty());
            placed_here += usize::from(found.contains(&line));
            alone_here += usize::from(!found.is_empty() && found.iter().all(|at| *at == line));
            if found.is_empty() || !found.iter().all(|at| *at == line) {
                let shown = edited.lines().nth(line - 1).unwrap().trim();
                println!("{chart}:{line} {} -> {slip} ({stage}): {found:?} {shown}", &text[word]);
            }
        }
        println!(
            "{chart}: {} words; of {count} misspellings {noticed_here} noticed, {placed_here} at their line, {alone_here} nowhere else",
            words.len()
        );
        noticed += noticed_here;
        placed += placed_here;
        alone += alone_here;
    }
    let all = count * CHARTS.len();
    let percent = |part: usize| 100 * part / all;
    println!(
        "{all}: {}% noticed, {}% at their line, {}% nowhere else",
        percent(noticed),
        percent(placed),
        percent(alone)
    );
    assert!(percent(noticed) >= 95 && percent(placed) >= 90);
}
