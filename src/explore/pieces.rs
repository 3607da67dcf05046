//! A text taken apart into what is evaluated one after the other, so that each piece can be known by what it looks at.

use std::mem::discriminant;

use minijinja::machinery::{Span, Token, tokenize};

/// How deeply templates are followed that include others.
const DEPTH: usize = 8;

/// One part of a text that is evaluated.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Piece {
    /// A hole with its braces, or a whole text.
    Hole(String),
    /// A condition, what follows it where it is true, and where it is not.
    If(String, Vec<Piece>, Vec<Piece>),
}

/// Takes a text apart; one with variables or loops stays whole.
pub(super) fn pieces(text: &str, template: &dyn Fn(&str) -> Option<String>) -> Vec<Piece> {
    apart(text, template, 0).unwrap_or_else(|| vec![Piece::Hole(text.to_owned())])
}

fn apart(
    text: &str,
    template: &dyn Fn(&str) -> Option<String>,
    depth: usize,
) -> Option<Vec<Piece>> {
    let tokens = tokenize(text, false, minijinja::syntax::SyntaxConfig::default());
    let mut reader = Reader {
        text,
        tokens: tokens.collect::<Result<Vec<_>, _>>().ok()?,
        at: 0,
        template,
        depth,
    };
    let (pieces, end) = reader.body()?;
    end.is_none().then_some(pieces)
}

struct Reader<'t> {
    text: &'t str,
    tokens: Vec<(Token<'t>, Span)>,
    at: usize,
    template: &'t dyn Fn(&str) -> Option<String>,
    depth: usize,
}

/// What ends a part of a text: a keyword, and the condition behind it.
type End<'t> = Option<(&'t str, &'t str)>;

impl<'t> Reader<'t> {
    /// Reads up to the end of the text, or to a block that ends a branch.
    fn body(&mut self) -> Option<(Vec<Piece>, End<'t>)> {
        let mut pieces = Vec::new();
        while let Some((token, span)) = self.tokens.get(self.at) {
            let start = span.start_offset as usize;
            match token {
                Token::VariableStart => {
                    let end = self.close(&Token::VariableEnd)?;
                    let hole = self.text.get(start..end.end_offset as usize)?;
                    pieces.push(Piece::Hole(hole.to_owned()));
                }
                Token::BlockStart => {
                    let Some((Token::Ident(keyword), word)) = self.tokens.get(self.at + 1) else {
                        return None;
                    };
                    let (keyword, word, name) = (*keyword, *word, self.at + 2);
                    let end = self.close(&Token::BlockEnd)?;
                    let rest = self
                        .text
                        .get(word.end_offset as usize..end.start_offset as usize)?;
                    match keyword {
                        "if" => pieces.push(self.branches(rest)?),
                        "include" if self.at == name + 2 && self.depth < DEPTH => {
                            let name = match &self.tokens[name].0 {
                                Token::Str(name) => (*name).to_owned(),
                                Token::String(name) => name.to_string(),
                                _ => return None,
                            };
                            let text = (self.template)(&name)?;
                            pieces.extend(apart(&text, self.template, self.depth + 1)?);
                        }
                        "elif" | "else" | "endif" => return Some((pieces, Some((keyword, rest)))),
                        _ => return None,
                    }
                }
                _ => self.at += 1,
            }
        }
        Some((pieces, None))
    }

    /// Reads the branches behind a condition.
    fn branches(&mut self, test: &str) -> Option<Piece> {
        let (then, end) = self.body()?;
        let otherwise = match end? {
            ("elif", test) => vec![self.branches(test)?],
            ("else", _) => {
                let (otherwise, end) = self.body()?;
                (end?.0 == "endif").then_some(otherwise)?
            }
            _ => Vec::new(),
        };
        Some(Piece::If(test.trim().to_owned(), then, otherwise))
    }

    /// Goes behind the next token of this kind.
    fn close(&mut self, wanted: &Token<'_>) -> Option<Span> {
        let rest = self.tokens.get(self.at..)?;
        let is_wanted = |token: &Token<'_>| discriminant(token) == discriminant(wanted);
        let index = rest.iter().position(|(token, _)| is_wanted(token))?;
        self.at += index + 1;
        Some(self.tokens[self.at - 1].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_taken_apart() {
        let template = |name: &str| (name == "a.md").then(|| "A {{ a }}".to_owned());
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
            (
                "a {{ b | join('}}') }} {{- c -}} d",
                "{{ b | join('}}') }} {{- c -}}",
            ),
            (
                "{% if a -%} {{ b }} {%- elif c == '%}' %}{{ d }}{% else %}{{ e }}{% endif %}{{ f }}",
                "[a? {{ b }} : [c == '%}'? {{ d }} : {{ e }}]] {{ f }}",
            ),
            ("{% if a %}x{% endif %}", "[a?  : ]"),
            ("{% include 'a.md' %} {{ b }}", "{{ a }} {{ b }}"),
            (
                "{% include 'b.md' %} {{ b }}",
                "{% include 'b.md' %} {{ b }}",
            ),
            ("{% include 'a' ~ '.md' %}", "{% include 'a' ~ '.md' %}"),
            ("{% set a = 1 %}{{ a }}", "{% set a = 1 %}{{ a }}"),
            ("{% raw %}{{ a }}{% endraw %}{{ b }}", "{{ b }}"),
        ];
        for (text, apart) in cases {
            assert_eq!(shown(text), apart, "{text}");
        }
    }
}
