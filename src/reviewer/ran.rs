//! The commands that a reviewer says that it ran, and whether one of them shows that a command has succeeded.

use std::iter::Peekable;
use std::str::Chars;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::command_line::is_assignment;
use crate::text::plain_line;

/// The most commands of one review that are kept.
const MOST: usize = 100;

/// The most characters of a command that are kept.
const LENGTH: usize = 1_000;

/// The programs that may read what a command prints. The exit code is then theirs, but they show the end of what it says.
const READERS: [&str; 2] = ["tail", "head"];

/// What decides in a shell whether the commands after it run.
const SPECIAL: [&str; 20] = [
    "!", "{", "}", "break", "case", "continue", "do", "done", "elif", "else", "esac", "exec",
    "exit", "fi", "for", "function", "if", "return", "until", "while",
];

/// What a line of a command can end with that goes on in the next one.
const GOES_ON: [char; 5] = ['&', '|', ';', '(', '{'];
const OPENS: [&str; 4] = ["do", "then", "else", "!"];

/// A command that a reviewer says that it ran.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Ran {
    pub command: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<i64>,
}

impl Ran {
    /// Returns what any reviewer of code runs, where none has run.
    pub(crate) fn some() -> Self {
        Self { command: "git diff".to_owned(), exit: Some(0) }
    }

    /// Reads the commands that a reviewer has named. What is no command is not one.
    pub fn read(json: &str) -> Vec<Self> {
        let items: Vec<Json> = serde_json::from_str(json).unwrap_or_default();
        let ran = items.iter().take(MOST).filter_map(|item| {
            let command = one_line(item.get("command")?.as_str()?);
            let exit = item.get("exit").and_then(Json::as_i64);
            (!command.is_empty()).then_some(Self { command, exit })
        });
        ran.collect()
    }

    /// Returns whether it shows that a command has succeeded. What stands around the command must not be able to hide that it
    /// failed: `cd DIR && A=b COMMAND 2>&1 | tail` shows it, and `COMMAND || true` does not.
    pub(super) fn shows(&self, command: &str) -> bool {
        // Nobody knows what a line that was cut ends with.
        let is_whole = self.command.chars().nth(LENGTH).is_none();
        let command = one_line(command);
        let is_same = !self.command.is_empty() && self.command == command;
        let (line, asked) = (Part::all(&self.command), Part::all(&command));
        let is_plain = line.iter().all(Part::is_plain);
        let mut starts = 0..line.len();
        self.exit == Some(0)
            && is_whole
            && !asked.is_empty()
            && (is_same || is_plain && starts.any(|at| has_succeeded(&line[at..], &asked)))
    }
}

/// Returns a command of any number of lines as one that means the same, which is cut after [`LENGTH`] characters.
fn one_line(command: &str) -> String {
    let mut joined = String::new();
    for line in command.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let last = joined.split_whitespace().next_back().unwrap_or_default();
        let goes_on = last.is_empty() || last.ends_with(GOES_ON) || OPENS.contains(&last);
        match joined.strip_suffix('\\').map(str::len) {
            Some(end) => joined.truncate(end),
            None if !goes_on => joined.push(';'),
            None => {}
        }
        joined.push(' ');
        joined.push_str(line);
    }
    plain_line(&joined, LENGTH)
}

/// Returns whether a line that ends with 0 shows that the command succeeded that it goes on with.
fn has_succeeded(line: &[Part], asked: &[Part]) -> bool {
    let Some((found, after)) = line.split_at_checked(asked.len()) else {
        return false;
    };
    let is_start = found[0].is_call_of(&asked[0].words)
        && matches!(found[0].before, Before::Nothing | Before::And | Before::End);
    let mut after = after.iter().skip_while(|part| part.is_reader());
    is_start
        && found[1..] == asked[1..]
        && after.next().is_none_or(|part| part.before == Before::And)
        && after.all(|part| matches!(part.before, Before::And | Before::Pipe))
}

/// What is before a command in a line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Before {
    #[default]
    Nothing,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `|`
    Pipe,
    /// `;`
    End,
    /// `&`, or a parenthesis: what was before, or what comes now, says nothing of itself.
    Other,
}

/// One command of a line as a shell reads it: its words without quotes and without redirections.
#[derive(Debug, Default, PartialEq, Eq)]
struct Part {
    before: Before,
    words: Vec<String>,
}

impl Part {
    /// Reads a line.
    fn all(line: &str) -> Vec<Self> {
        let mut parts = vec![Self::default()];
        let mut signs = line.chars().peekable();
        while let Some(sign) = signs.peek().copied() {
            let mut rest = signs.clone();
            rest.next();
            let is_twice = rest.peek() == Some(&sign);
            match sign {
                _ if sign.is_whitespace() => drop(signs.next()),
                '&' if rest.peek() == Some(&'>') => drop(signs.next()),
                '<' | '>' => {
                    while signs.next_if(|sign| "<>&|".contains(*sign)).is_some() {}
                    while signs.next_if(|sign| sign.is_whitespace()).is_some() {}
                    word(&mut signs);
                }
                '&' | '|' | ';' | '(' | ')' => {
                    signs.next();
                    let before = match (sign, is_twice) {
                        ('&', true) => Before::And,
                        ('|', true) => Before::Or,
                        ('|', false) => Before::Pipe,
                        (';', false) => Before::End,
                        _ => Before::Other,
                    };
                    signs.next_if(|next| is_twice || sign == '|' && *next == '&');
                    parts.push(Self { before, words: Vec::new() });
                }
                _ => {
                    let word = word(&mut signs);
                    // `2>&1`: it says what is redirected.
                    let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
                    let is_redirected = matches!(signs.peek(), Some('<' | '>'));
                    let last = parts.last_mut().filter(|_| !(is_number && is_redirected));
                    last.into_iter().for_each(|part| part.words.push(word.clone()));
                }
            }
        }
        // A `;` or `&` may end a line.
        if parts.last().is_some_and(|part| part.words.is_empty() && part.before == Before::End) {
            parts.pop();
        }
        parts
    }

    /// Returns whether it is a command with these words, perhaps with variables set for it: `A=b make check`.
    fn is_call_of(&self, words: &[String]) -> bool {
        let set = self.words.strip_suffix(words);
        !words.is_empty() && set.is_some_and(|set| set.iter().all(|word| is_assignment(word)))
    }

    /// Returns whether it is a command as it stands: nothing in it is run by itself, skips what follows, or is a comment.
    fn is_plain(&self) -> bool {
        let first = self.words.iter().find(|word| !is_assignment(word));
        let is_special = first.is_some_and(|word| SPECIAL.contains(&word.as_str()));
        let is_odd = |word: &String| word.contains('`') || word.starts_with('#');
        !is_special && !self.words.iter().any(is_odd)
    }

    fn is_reader(&self) -> bool {
        let program = self.words.first().map_or("", String::as_str);
        self.before == Before::Pipe && READERS.contains(&program)
    }
}

/// Reads a word up to its end, without its quotes.
fn word(signs: &mut Peekable<Chars<'_>>) -> String {
    let mut word = String::new();
    let mut quote = None;
    while let Some(sign) = signs.peek().copied() {
        let is_end = sign.is_whitespace() || "&|;<>()".contains(sign);
        if quote.is_none() && is_end {
            break;
        }
        signs.next();
        match (quote, sign) {
            (Some(open), _) if sign == open => quote = None,
            (None, '\'' | '"') => quote = Some(sign),
            (None | Some('"'), '\\') => word.extend(signs.next()),
            _ => word.push(sign),
        }
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_show_that_a_command_succeeded() {
        let long = format!("make {}", "x".repeat(300));
        let cases = [
            ("make check", "make check", true),
            ("make  'check'", "make check", true),
            ("make checks", "make check", false),
            ("make check all", "make check", false),
            ("CI=1 make check", "make check", true),
            ("CI=1 B='a b' make check", "make check", true),
            ("time make check", "make check", false),
            ("make check", "CI=1 make check", false),
            ("cd x && make check", "make check", true),
            ("cd x; make check", "make check", true),
            ("cd x && CI=1 make check 2>&1 | tail -3", "make check", true),
            ("make check >out 2> err < in", "make check", true),
            ("make check &>out", "make check", true),
            ("make check 2>&1 | tail -3 && git diff | cat", "make check", true),
            ("make check | head", "make check", true),
            ("make check && echo ok", "make check", true),
            ("make check;", "make check", true),
            ("make check || true", "make check", false),
            ("make check && x || true", "make check", false),
            ("false || make check", "make check", false),
            ("make check; true", "make check", false),
            ("make check & true", "make check", false),
            ("make check &", "make check", false),
            ("make check | cat", "make check", false),
            ("make check | tail | cat", "make check", false),
            ("yes | make check", "make check", false),
            ("! make check", "make check", false),
            ("(make check)", "make check", false),
            ("(cd x && make check)", "(cd x && make check)", true),
            ("(cd x; false) || make check", "(cd x; false)", false),
            ("grep 'a b' x", "grep 'a  b' x", true),
            ("git diff # && make check", "make check", false),
            ("exit 0; make check", "make check", false),
            ("echo `true; make check && true`", "make check", false),
            ("if false; then :; make check | tail", "make check", false),
            ("echo 'x && make check'", "make check", false),
            ("echo \\; make check", "make check", false),
            ("make 2 check", "make check", false),
            ("make a && make b | tail", "make a && make b", true),
            ("make a; make b", "make a && make b", false),
            ("make a && make b || c", "make a && make b", false),
            (&long, &long, true),
            (&long, &format!("{long}y"), false),
            ("", "", false),
            ("make a\nmake b\n", "make a\nmake b", true),
            ("make a; make b", "make a\n  make b", true),
            ("make a\nmake b", "make b", true),
            ("make a\nmake b", "make a", false),
            ("make a &&\nmake b", "make a && make b", true),
            ("cd x &&\r\n make \\\r\n check", "make check", true),
            ("make a make b", "make a\nmake b", false),
        ];
        for (line, command, expected) in cases {
            let ran = |exit| {
                let named = serde_json::json!([{ "command": line, "exit": exit }]);
                let ran = Ran::read(&named.to_string());
                ran.iter().any(|ran| ran.shows(command))
            };
            assert_eq!(ran(Some(0)), expected, "{line} | {command}");
            assert!(!ran(Some(1)) && !ran(None), "{line}");
        }
        let hidden = format!("make check && {} || true", "x".repeat(LENGTH));
        let read = Ran::read(&serde_json::json!([{ "command": hidden, "exit": 0 }]).to_string());
        assert!(!read[0].shows("make check"), "its end is unknown");
    }
}
