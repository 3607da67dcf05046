//! Texts and conditions taken apart into what is evaluated one after the other, so that each piece can be known by what
//! it looks at.

use std::mem::discriminant;
use std::ops::Range;

use minijinja::machinery::{Span, Token, tokenize};

use crate::expr::single_expression;

/// How deeply templates are followed that include others.
const DEPTH: usize = 8;

/// One part of a text that is evaluated.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Piece {
    /// A hole with its braces, or more of a text.
    Hole(String),
    /// A condition, what follows it where it is true, and where it is not.
    If(Formula, Vec<Piece>, Vec<Piece>),
}

/// A condition, by the conditions that it consists of.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Formula {
    Atom(String),
    Not(Box<Formula>),
    All(Vec<Formula>),
    Any(Vec<Formula>),
}

type Tokens<'t> = Vec<(Token<'t>, Span)>;

fn tokens(source: &str, is_expr: bool) -> Option<Tokens<'_>> {
    tokenize(source, is_expr, Default::default())
        .collect::<Result<_, _>>()
        .ok()
}

/// The bytes of some tokens.
fn bytes(tokens: &[(Token<'_>, Span)]) -> Option<Range<usize>> {
    Some(tokens.first()?.1.start_offset as usize..tokens.last()?.1.end_offset as usize)
}

// ── conditions ──

/// Takes a condition apart at `and`, `or` and `not`.
pub(super) fn formula(source: &str) -> Formula {
    let tokens = tokens(source, true).unwrap_or_default();
    apart(source, &tokens).unwrap_or_else(|| Formula::Atom(source.to_owned()))
}

fn apart(source: &str, tokens: &[(Token<'_>, Span)]) -> Option<Formula> {
    let all = |parts: Vec<&[(Token<'_>, Span)]>| {
        let parts = parts.into_iter().map(|part| apart(source, part));
        parts.collect::<Option<Vec<Formula>>>()
    };
    let atom = || Some(Formula::Atom(source.get(bytes(tokens)?)?.to_owned()));
    if split(tokens, "if").len() > 1 {
        return atom();
    }
    let (any, every) = (split(tokens, "or"), split(tokens, "and"));
    if any.len() > 1 {
        return Some(Formula::Any(all(any)?));
    }
    if every.len() > 1 {
        return Some(Formula::All(all(every)?));
    }
    match tokens {
        [(Token::Ident("not"), _), rest @ ..] => Some(Formula::Not(Box::new(apart(source, rest)?))),
        [(Token::ParenOpen, _), inside @ .., (Token::ParenClose, _)] if is_closed(inside) => {
            apart(source, inside)
        }
        _ => atom(),
    }
}

/// How deep the brackets are behind a token.
fn depth(before: i32, token: &Token<'_>) -> i32 {
    match token {
        Token::ParenOpen | Token::BracketOpen | Token::BraceOpen => before + 1,
        Token::ParenClose | Token::BracketClose | Token::BraceClose => before - 1,
        _ => before,
    }
}

/// True for what stands inside a pair of brackets that belong together, and is no list of several.
fn is_closed(inside: &[(Token<'_>, Span)]) -> bool {
    let mut open = 0;
    inside.iter().all(|(token, _)| {
        open = depth(open, token);
        open >= 0 && !(open == 0 && matches!(token, Token::Comma))
    })
}

/// The parts between the words `word` that are in no bracket.
fn split<'t, 'a>(tokens: &'t [(Token<'a>, Span)], word: &str) -> Vec<&'t [(Token<'a>, Span)]> {
    let mut open = 0;
    let parts = tokens.split(|(token, _)| {
        open = depth(open, token);
        open == 0 && matches!(token, Token::Ident(name) if *name == word)
    });
    parts.collect()
}

/// The condition of a value that is one of two, and these, each as a text.
pub(super) fn choice(text: &str) -> Option<(&str, [String; 2])> {
    let source = single_expression(text)?;
    let tokens = tokens(source, true)?;
    let first = split(&tokens, "if").first()?.len();
    let (one, rest) = (&tokens[..first], tokens.get(first + 1..)?);
    let second = split(rest, "else").first()?.len();
    let (test, other) = (&rest[..second], rest.get(second + 1..)?);
    let is_simple = split(test, "if").len() == 1;
    let side =
        |side: &[(Token<'_>, Span)]| Some(format!("{{{{ {} }}}}", source.get(bytes(side)?)?));
    Some((source.get(bytes(test)?)?, [side(one)?, side(other)?])).filter(|_| is_simple)
}

// ── texts ──

/// Takes a text apart. Each piece begins with the variables that it needs. A text stays whole if a condition needs one,
/// or if one is needed that is set only on some ways, or if there are blocks that are not known here.
pub(super) fn pieces(text: &str, template: &dyn Fn(&str) -> Option<String>) -> Vec<Piece> {
    let made = in_pieces(text, template, 0, &mut Vec::new());
    made.unwrap_or_else(|| vec![Piece::Hole(text.to_owned())])
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
struct Variable {
    name: String,
    /// What sets it; `None` if it may be set or not.
    source: Option<String>,
}

/// What sets the variables that a text needs; `None` if one of them may be set or not. What is included may need any.
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
type End<'t> = Option<(&'t str, &'t str)>;

impl<'t> Reader<'t> {
    /// Reads up to the end of the text, or to a block that ends a branch.
    fn body(&mut self) -> Option<(Vec<Piece>, End<'t>)> {
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
                        "if" => pieces.push(self.branches(self.source(rest)?)?),
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

    /// What `{{ }}` shows: one of two values, or one.
    fn value(&self, start: usize) -> Option<Piece> {
        let shown = format!("{{{{ {} }}}}", self.source(start + 1..self.at - 1)?);
        let Some((test, sides)) = choice(&shown) else {
            return Some(Piece::Hole(self.hole(start)?));
        };
        self.needs_none(test)?;
        let [one, other] = sides.map(|side| {
            let needed = needed(&side, &self.variables)?;
            Some(vec![Piece::Hole(needed + &side)])
        });
        Some(Piece::If(formula(test), one?, other?))
    }

    /// Nothing if a condition needs a variable.
    fn needs_none(&self, test: &str) -> Option<()> {
        let needed = needed(&format!("{{{{ {test} }}}}"), &self.variables)?;
        needed.is_empty().then_some(())
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
        Some(Piece::If(formula(test), then, otherwise))
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

    /// The text of some tokens.
    fn source(&self, tokens: Range<usize>) -> Option<&'t str> {
        self.text.get(bytes(&self.tokens[tokens])?)
    }

    /// The text from a token on up to where it is read, behind what sets the variables that it needs.
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
                        let test = match test {
                            Formula::Atom(source) => source.clone(),
                            formula => format!("{formula:?}"),
                        };
                        format!("[{test}? {} : {}]", show(then), show(otherwise))
                    }
                };
                pieces.iter().map(one).collect::<Vec<_>>().join(" ")
            }
            show(&pieces(text, &template))
        };
        let cases = [
            (
                "a {{ b | join('}}') }} {{- c -}} d",
                "{{ b | join('}}') }} {{- c -}}",
            ),
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
            (
                "{% include 'b.md' %} {{ b }}",
                "{% include 'b.md' %} {{ b }}",
            ),
            (
                "{% include 'a' ~ '.md' %}{{ b }}",
                "{% include 'a' ~ '.md' %} {{ b }}",
            ),
            // What needs a variable, directly or by another one, in what it includes or in a block.
            (
                "{% set a = b %}{{ c }}{{ a }}",
                "{% set a = b %} {{ c }} {% set a = b %}{{ a }}",
            ),
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
                "{% set a = b %}{% if a %}{{ c }}{% endif %}",
                "{% set a = b %}{% if a %}{{ c }}{% endif %}",
            ),
            // Several at once.
            ("{% set a, b = c %}{{ d }}", "{% set a, b = c %}{{ d }}"),
            (
                "{% for a in b %}{% for c in a %}{{ c }}{% endfor %}{% else %}{{ d }}{% endfor %}{{ e }}",
                "{% for a in b %}{% for c in a %}{{ c }}{% endfor %}{% else %}{{ d }}{% endfor %} {{ e }}",
            ),
            (
                "{% macro a() %}{% endmacro %}{{ b }}",
                "{% macro a() %}{% endmacro %}{{ b }}",
            ),
            ("{% raw %}{{ a }}{% endraw %}{{ b }}", "{{ b }}"),
        ];
        for (text, apart) in cases {
            assert_eq!(shown(text), apart, "{text}");
        }
    }

    #[test]
    fn a_condition_is_taken_apart() {
        fn shown(formula: &Formula) -> String {
            let all = |parts: &[Formula]| parts.iter().map(shown).collect::<Vec<_>>().join(", ");
            match formula {
                Formula::Atom(source) => source.clone(),
                Formula::Not(inner) => format!("no({})", shown(inner)),
                Formula::All(parts) => format!("all({})", all(parts)),
                Formula::Any(parts) => format!("any({})", all(parts)),
            }
        }
        let cases = [
            ("a", "a"),
            ("a and b or not c and d", "any(all(a, b), all(no(c), d))"),
            (
                "(a or b) and not (c and d)",
                "all(any(a, b), no(all(c, d)))",
            ),
            (
                "a is not none and b not in [c or d, (e)]",
                "all(a is not none, b not in [c or d, (e)])",
            ),
            ("(a) == (b) and c", "all((a) == (b), c)"),
            ("(a, b) and c", "all((a, b), c)"),
            (
                "a == 'b and c' or d | f(e or g)",
                "any(a == 'b and c', d | f(e or g))",
            ),
            ("a and b if c or d else e", "a and b if c or d else e"),
            ("not not a", "no(no(a))"),
            ("a and", "a and"),
        ];
        for (source, apart) in cases {
            assert_eq!(shown(&formula(source)), apart, "{source}");
        }
    }

    #[test]
    fn a_choice_is_taken_apart() {
        let sides = |one: &str, other: &str| [one.to_owned(), other.to_owned()];
        let two = sides("{{ a }}", "{{ c if d else e }}");
        assert_eq!(
            choice("{{ a if b or x else c if d else e }}"),
            Some(("b or x", two))
        );
        for text in [
            "{{ a }}",
            "{{ a if b }}",
            "{{ f(a if b else c) }}",
            "a if b else c",
        ] {
            assert_eq!(choice(text), None, "{text}");
        }
    }
}
