//! Texts taken apart into what is evaluated one after the other, so that each piece can be known by what it looks at.

use std::mem::discriminant;
use std::ops::Range;

use minijinja::machinery::Token;

use super::formula::{Tokens, bytes, choice, tokens};

/// How deeply templates are followed that include others.
const DEPTH: usize = 8;

/// One part of a text that is evaluated.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Piece {
    /// A hole with its braces, or more of a text.
    Hole(String),
    /// A condition, what follows it where it is true, and where it is not.
    If(String, Vec<Piece>, Vec<Piece>),
}

/// Takes a text apart. Each piece begins with the variables that it needs. Where a condition needs one, it is a piece with
/// all that it decides about. A text stays whole if one is needed that is set only on some ways, or if there are blocks
/// that are not known here.
pub(crate) fn pieces(text: &str, template: &dyn Fn(&str) -> Option<String>) -> Vec<Piece> {
    let made = in_pieces(text, template, 0, &mut Vec::new());
    made.unwrap_or_else(|| vec![Piece::Hole(text.to_owned())])
}

/// Leaves out the pieces that can always be made.
pub(crate) fn open_ones(pieces: Vec<Piece>, may_fail: &dyn Fn(&str) -> bool) -> Vec<Piece> {
    let open = pieces.into_iter().filter_map(|piece| match piece {
        Piece::Hole(hole) => may_fail(&hole).then_some(Piece::Hole(hole)),
        Piece::If(test, then, otherwise) => {
            let [then, otherwise] = [then, otherwise].map(|side| open_ones(side, may_fail));
            let is_open = !then.is_empty() || !otherwise.is_empty() || may_fail(&test);
            is_open.then_some(Piece::If(test, then, otherwise))
        }
    });
    open.collect()
}

/// Returns the names of the templates that a text includes; `None` where one is not known before it is rendered.
pub(crate) fn included(text: &str) -> Option<Vec<String>> {
    let tokens = tokens(text, false)?;
    let blocks = tokens.windows(4);
    let blocks = blocks.filter(|block| matches!(block[0].0, Token::BlockStart));
    let named = blocks.filter_map(|block| match (&block[1].0, &block[2].0, &block[3].0) {
        (Token::Ident("include"), Token::Str(name), Token::BlockEnd) => Some(Some(*name)),
        (Token::Ident("include" | "import" | "from" | "extends"), ..) => Some(None),
        _ => None,
    });
    named.map(|name| name.map(str::to_owned)).collect()
}

/// Takes a text apart in which some variables are set, and adds those that it sets.
fn in_pieces(
    text: &str,
    template: &dyn Fn(&str) -> Option<String>,
    depth: usize,
    variables: &mut Vec<Variable>,
) -> Option<Vec<Piece>> {
    let mut reader = Reader {
        text,
        tokens: tokens(text, false)?,
        at: 0,
        template,
        depth,
        variables: std::mem::take(variables),
    };
    let (pieces, end) = reader.body()?;
    *variables = reader.variables;
    end.is_none().then_some(pieces)
}

/// A variable of a text.
#[derive(Clone)]
struct Variable {
    name: String,
    /// What sets it; `None` if it may be set or not.
    source: Option<String>,
}

/// Returns what sets the variables that a text needs; `None` if one of them may be set or not. What is included may
/// need any.
fn needed(text: &str, variables: &[Variable]) -> Option<String> {
    let names_in = |text| -> Option<Vec<String>> {
        let names = tokens(text, false)?.into_iter();
        let names = names.filter_map(|(token, _)| match token {
            Token::Ident(name) => Some(name.to_owned()),
            _ => None,
        });
        Some(names.collect())
    };
    let mut names = names_in(text)?;
    let mut sources = Vec::new();
    for variable in variables.iter().rev() {
        if names.contains(&variable.name) || names.iter().any(|name| name == "include") {
            let source = variable.source.as_deref()?;
            names.extend(names_in(source)?);
            sources.push(source);
        }
    }
    Some(sources.into_iter().rev().collect())
}

struct Reader<'t> {
    text: &'t str,
    tokens: Tokens<'t>,
    at: usize,
    template: &'t dyn Fn(&str) -> Option<String>,
    depth: usize,
    variables: Vec<Variable>,
}

/// What ends a part of a text: a keyword, and the condition behind it.
type Closing<'t> = Option<(&'t str, &'t str)>;

impl<'t> Reader<'t> {
    /// Reads up to the end of the text, or to a block that ends a branch.
    fn body(&mut self) -> Option<(Vec<Piece>, Closing<'t>)> {
        let mut pieces = Vec::new();
        while let Some((token, _)) = self.tokens.get(self.at) {
            let start = self.at;
            match token {
                Token::VariableStart => {
                    self.close(&Token::VariableEnd)?;
                    pieces.push(self.value(start)?);
                }
                Token::BlockStart => {
                    let (Token::Ident(keyword), _) = *self.tokens.get(start + 1)? else {
                        return None;
                    };
                    self.close(&Token::BlockEnd)?;
                    let rest = start + 2..self.at - 1;
                    match keyword {
                        "if" => pieces.push(self.conditional(start, self.source(rest)?)?),
                        "for" => {
                            self.skip("for", "endfor")?;
                            pieces.push(Piece::Hole(self.hole(start)?));
                        }
                        "include" => pieces.extend(self.include(start)?),
                        "set" => pieces.push(Piece::Hole(self.variable(start)?)),
                        "elif" => return Some((pieces, Some((keyword, self.source(rest)?)))),
                        "else" | "endif" => return Some((pieces, Some((keyword, "")))),
                        _ => return None,
                    }
                }
                _ => self.at += 1,
            }
        }
        Some((pieces, None))
    }

    /// Returns what `{{ }}` shows: one of two values, or one.
    fn value(&self, start: usize) -> Option<Piece> {
        let Some((test, sides)) = choice(self.source(start + 1..self.at - 1)?) else {
            return Some(Piece::Hole(self.hole(start)?));
        };
        if self.needs_none(test).is_none() {
            return Some(Piece::Hole(self.hole(start)?));
        }
        let [one, other] = sides.map(|side| {
            let needed = needed(&side, &self.variables)?;
            Some(vec![Piece::Hole(needed + &side)])
        });
        Some(Piece::If(test.to_owned(), one?, other?))
    }

    /// Returns nothing if a condition needs a variable.
    fn needs_none(&self, test: &str) -> Option<()> {
        let needed = needed(&format!("{{{{ {test} }}}}"), &self.variables)?;
        needed.is_empty().then_some(())
    }

    /// Reads what a condition decides about: branch by branch, or as one piece.
    fn conditional(&mut self, start: usize, test: &str) -> Option<Piece> {
        let (inside, variables) = (self.at, self.variables.clone());
        if let Some(piece) = self.branches(test) {
            return Some(piece);
        }
        self.at = inside;
        self.variables = variables;
        self.skip("if", "endif")?;
        let hole = self.hole(start)?;
        let blocks = self.tokens[inside..self.at].windows(3);
        for block in blocks.filter(|block| matches!(block[0].0, Token::BlockStart)) {
            match (&block[1].0, &block[2].0) {
                // It may be set behind this, or not.
                (Token::Ident("set"), Token::Ident(name)) => {
                    self.variables.push(Variable { name: (*name).to_owned(), source: None })
                }
                (Token::Ident("if" | "elif" | "else" | "endif" | "for" | "endfor"), _) => {}
                _ => return None,
            }
        }
        Some(Piece::Hole(hole))
    }

    /// Reads the branches behind a condition.
    fn branches(&mut self, test: &str) -> Option<Piece> {
        self.needs_none(test)?;
        let known = self.variables.len();
        let (then, end) = self.body()?;
        self.leave(known);
        let otherwise = match end? {
            ("elif", test) => vec![self.branches(test)?],
            ("else", _) => {
                let (otherwise, end) = self.body()?;
                (end?.0 == "endif").then_some(otherwise)?
            }
            _ => Vec::new(),
        };
        self.leave(known);
        Some(Piece::If(test.to_owned(), then, otherwise))
    }

    /// Variables that were set from here on need not be set behind it.
    fn leave(&mut self, known: usize) {
        for variable in &mut self.variables[known..] {
            variable.source = None;
        }
    }

    fn include(&mut self, start: usize) -> Option<Vec<Piece>> {
        let name = match &self.tokens[start + 2..self.at - 1] {
            [(Token::Str(name), _)] => (*name).to_owned(),
            [(Token::String(name), _)] => name.to_string(),
            _ => return Some(vec![Piece::Hole(self.hole(start)?)]),
        };
        if self.depth >= DEPTH {
            return None;
        }
        let text = (self.template)(&name)?;
        let known = self.variables.len();
        let pieces = in_pieces(&text, self.template, self.depth + 1, &mut self.variables)?;
        self.leave(known);
        Some(pieces)
    }

    /// Reads what sets a variable: `{% set a = b %}`, or a block.
    fn variable(&mut self, start: usize) -> Option<String> {
        let (name, is_block) = match &self.tokens[start + 2..self.at - 1] {
            [(Token::Ident(name), _), (Token::Assign, _), ..] => (*name, false),
            [(Token::Ident(name), _)] => (*name, true),
            _ => return None,
        };
        if is_block {
            self.skip("set", "endset")?;
        }
        let piece = self.hole(start)?;
        self.variables.push(Variable {
            name: name.to_owned(),
            source: Some(self.source(start..self.at)?.to_owned()),
        });
        Some(piece)
    }

    /// Returns the text of some tokens.
    fn source(&self, tokens: Range<usize>) -> Option<&'t str> {
        self.text.get(bytes(&self.tokens[tokens])?)
    }

    /// Returns the text from a token on up to where it is read, behind what sets the variables that it needs.
    fn hole(&self, start: usize) -> Option<String> {
        let source = self.source(start..self.at)?;
        Some(needed(source, &self.variables)? + source)
    }

    /// Goes behind the end of this block; what a loop sets ends with it.
    fn skip(&mut self, block: &str, end: &str) -> Option<()> {
        let mut open = 1;
        while open > 0 {
            self.close(&Token::BlockStart)?;
            match self.tokens.get(self.at)? {
                (Token::Ident(keyword), _) if *keyword == block => open += 1,
                (Token::Ident(keyword), _) if *keyword == end => open -= 1,
                _ => {}
            }
            self.close(&Token::BlockEnd)?;
        }
        Some(())
    }

    /// Goes behind the next token of this kind.
    fn close(&mut self, wanted: &Token<'_>) -> Option<()> {
        let rest = self.tokens.get(self.at..)?;
        let is_wanted = |token: &Token<'_>| discriminant(token) == discriminant(wanted);
        let index = rest.iter().position(|(token, _)| is_wanted(token))?;
        self.at += index + 1;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_text_includes_is_known_where_it_is_named() {
        let known: &[(&str, &[&str])] = &[
            ("a {{ 'include' }} {% if include == 'a.md' %}b{% endif %}", &[]),
            ("{%- include 'a.md' -%}{% include \"b.md\" %}", &["a.md", "b.md"]),
        ];
        for (text, names) in known {
            let names = names.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(included(text), Some(names), "{text}");
        }
        for text in [
            "{% include name %}",
            "{% include 'a' ~ '.md' %}",
            "{% include 'a.md' ignore missing %}",
            "{% extends 'a.md' %}",
        ] {
            assert_eq!(included(text), None, "{text}");
        }
    }

    #[test]
    fn a_text_is_taken_apart() {
        let template = |name: &str| match name {
            "a.md" => Some("A {{ a }}".to_owned()),
            "c.md" => Some("{% set c = a %}".to_owned()),
            _ => None,
        };
        let shown = |text: &str| {
            fn show(pieces: &[Piece]) -> String {
                let one = |piece: &Piece| match piece {
                    Piece::Hole(hole) => hole.clone(),
                    Piece::If(test, then, otherwise) => {
                        format!("[{test}? {} : {}]", show(then), show(otherwise))
                    }
                };
                pieces.iter().map(one).collect::<Vec<_>>().join(" ")
            }
            show(&pieces(text, &template))
        };
        let cases = [
            ("a {{ b | join('}}') }} {{- c -}} d", "{{ b | join('}}') }} {{- c -}}"),
            (
                "{% if a -%} {{ b }} {%- elif c == '%}' %}{{ d }}{% else %}{{ e }}{% endif %}{{ f }}",
                "[a? {{ b }} : [c == '%}'? {{ d }} : {{ e }}]] {{ f }}",
            ),
            ("{% if a %}x{% endif %}", "[a?  : ]"),
            (
                "{{- a if b else c -}}{% set d = a %}{{ d if c else e }}",
                "[b? {{ a }} : {{ c }}] {% set d = a %} [c? {% set d = a %}{{ d }} : {{ e }}]",
            ),
            ("{% include 'a.md' %} {{ b }}", "{{ a }} {{ b }}"),
            ("{% include 'b.md' %} {{ b }}", "{% include 'b.md' %} {{ b }}"),
            ("{% include 'a' ~ '.md' %}{{ b }}", "{% include 'a' ~ '.md' %} {{ b }}"),
            // What needs a variable, directly or by another one, in what it includes or in a block.
            ("{% set a = b %}{{ c }}{{ a }}", "{% set a = b %} {{ c }} {% set a = b %}{{ a }}"),
            (
                "{% set a = b %}{% set c = a %}{{ c }}",
                "{% set a = b %} {% set a = b %}{% set c = a %} {% set a = b %}{% set c = a %}{{ c }}",
            ),
            (
                "{% set a %}{{ b }}{% endset %}{% include 'a.md' %}",
                "{% set a %}{{ b }}{% endset %} {% set a %}{{ b }}{% endset %}{{ a }}",
            ),
            (
                "{% set a = b %}{% for c in d %}{% include 'a.md' %}{% endfor %}",
                "{% set a = b %} {% set a = b %}{% for c in d %}{% include 'a.md' %}{% endfor %}",
            ),
            (
                "{% if a %}{% set b = c %}{{ b }}{% endif %}{{ d }}",
                "[a? {% set b = c %} {% set b = c %}{{ b }} : ] {{ d }}",
            ),
            // What is set only on some ways, or in what is included, and what a condition needs.
            (
                "{% if a %}{% set b = c %}{% endif %}{{ b }}",
                "{% if a %}{% set b = c %}{% endif %}{{ b }}",
            ),
            ("{% include 'c.md' %}{{ c }}", "{% include 'c.md' %}{{ c }}"),
            (
                "{% set a = b %}{% if a %}{{ c }}{% endif %}{{ d }}",
                "{% set a = b %} {% set a = b %}{% if a %}{{ c }}{% endif %} {{ d }}",
            ),
            (
                "{% set a = b %}{% if c %}{{ d if a else e }}{% elif a %}{{ f }}{% endif %}{{ g }}",
                "{% set a = b %} {% set a = b %}{% if c %}{{ d if a else e }}{% elif a %}{{ f }}{% endif %} {{ g }}",
            ),
            (
                "{% set a = b %}{% if c %}{{ d if a else e }}{% endif %}",
                "{% set a = b %} [c? {% set a = b %}{{ d if a else e }} : ]",
            ),
            (
                "{% set a = b %}{% if a %}{% set c = d %}{% endif %}{{ c }}",
                "{% set a = b %}{% if a %}{% set c = d %}{% endif %}{{ c }}",
            ),
            // Several at once.
            ("{% set a, b = c %}{{ d }}", "{% set a, b = c %}{{ d }}"),
            (
                "{% for a in b %}{% for c in a %}{{ c }}{% endfor %}{% else %}{{ d }}{% endfor %}{{ e }}",
                "{% for a in b %}{% for c in a %}{{ c }}{% endfor %}{% else %}{{ d }}{% endfor %} {{ e }}",
            ),
            ("{% macro a() %}{% endmacro %}{{ b }}", "{% macro a() %}{% endmacro %}{{ b }}"),
            ("{% raw %}{{ a }}{% endraw %}{{ b }}", "{{ b }}"),
        ];
        for (text, apart) in cases {
            assert_eq!(shown(text), apart, "{text}");
        }
    }
}
