//! The syntax of expressions and texts, and facts that it shows.
//!
//! Everything that parses an expression or a text does it here.

use std::ops::Range;

use minijinja::ErrorKind;
use minijinja::machinery::ast::{CallArg, Expr, Stmt};
use minijinja::machinery::{self, Token, tokenize};
use minijinja::syntax::SyntaxConfig;

use indexmap::IndexSet;

/// The most bytes of an expression. Each of its operators can use some of the stack.
pub const MAX_LENGTH: usize = 2_000;

/// The most `{% … %}` of a text. Each branch can use some of the stack.
const MAX_BLOCKS: usize = 1_000;

/// Parses an expression.
pub fn parse_expr(source: &str) -> Result<Expr<'_>, minijinja::Error> {
    read_to_the_end(source, true)?;
    machinery::parse_expr(source)
}

/// Parses a text; `name` is the template's.
pub fn parse_text<'t>(source: &'t str, name: &'t str) -> Result<Stmt<'t>, minijinja::Error> {
    read_to_the_end(source, false)?;
    machinery::parse(source, name, SyntaxConfig::default())
}

/// Reads all tokens of an expression or a text, and returns the first error. The parser loses an error that comes right
/// after a string, and takes what it has read so far for everything; and it would use up the stack for an expression, or a
/// hole of a text, that is too long, or for too many branches.
pub(super) fn read_to_the_end(source: &str, is_expr: bool) -> Result<(), minijinja::Error> {
    let (mut start, mut blocks) = (0, 0);
    for token in tokenize(source, is_expr, SyntaxConfig::default()) {
        let (token, span) = token?;
        blocks += usize::from(matches!(token, Token::BlockStart));
        let is_outside = match token {
            Token::VariableStart | Token::BlockStart => {
                start = span.start_offset as usize;
                false
            }
            Token::VariableEnd | Token::BlockEnd | Token::TemplateData(_) => true,
            _ => false,
        };
        let most = match () {
            () if !is_outside && span.end_offset as usize > start + MAX_LENGTH => {
                format!("an expression has at most {MAX_LENGTH} bytes")
            }
            () if blocks > MAX_BLOCKS => format!("a text has at most {MAX_BLOCKS} `{{% %}}`"),
            () => continue,
        };
        return Err(minijinja::Error::new(ErrorKind::SyntaxError, most));
    }
    Ok(())
}

/// Operators of other languages, and what an expression has instead.
const INSTEAD: &[(&str, &str)] = &[
    ("&&", "and"),
    ("&", "and"),
    ("||", "or"),
    ("!", "not"),
    ("=", "=="),
    ("===", "=="),
    ("!==", "!="),
    ("<>", "!="),
];

/// Returns the place of the operator at `at`, if it is one of another language, and what to write instead.
pub fn instead(source: &str, at: usize) -> Option<(Range<usize>, &'static str)> {
    let is_sign = |byte: &u8| b"&|!=<>".contains(byte);
    let (before, behind) = source.as_bytes().split_at_checked(at)?;
    let start = at - before.iter().rev().take_while(|byte| is_sign(byte)).count();
    let end = at + behind.iter().take_while(|byte| is_sign(byte)).count();
    let written = source.get(start..end)?;
    let mut known = INSTEAD.iter();
    let (_, ours) = known.find(|(theirs, _)| *theirs == written)?;
    Some((start..end, ours))
}

/// Returns the longest `{{ … }}` or `{% … %}` of a text.
pub fn longest_hole(text: &str) -> Option<Range<usize>> {
    let holes = text.match_indices('{').filter_map(|(start, _)| {
        let close = match text.as_bytes().get(start + 1)? {
            b'{' => "}}",
            b'%' => "%}",
            _ => return None,
        };
        Some(start..text[start..].find(close).map_or(text.len(), |length| start + length))
    });
    holes.max_by_key(Range::len)
}

/// Returns the dotted name that an expression is.
pub fn dotted(expr: &Expr<'_>) -> Option<String> {
    match expr {
        Expr::Var(var) => Some(var.id.to_owned()),
        Expr::GetAttr(get) => Some(format!("{}.{}", dotted(&get.expr)?, get.name)),
        _ => None,
    }
}

/// Returns the value of an argument.
pub fn value_of_arg<'e, 'a>(arg: &'e CallArg<'a>) -> &'e Expr<'a> {
    match arg {
        CallArg::Pos(expr)
        | CallArg::Kwarg(_, expr)
        | CallArg::PosSplat(expr)
        | CallArg::KwargSplat(expr) => expr,
    }
}

/// Words that are no names.
const WORDS: &[&str] = &[
    "and", "elif", "else", "endfor", "endif", "endset", "endwith", "false", "False", "for", "if",
    "in", "include", "is", "loop", "none", "None", "not", "or", "set", "true", "True", "with",
];

/// Returns the dotted names that an expression or a text uses, without its own variables.
pub fn names_in(source: &str) -> IndexSet<String> {
    let is_expr = !source.contains("{{") && !source.contains("{%");
    let tokens = tokenize(source, is_expr, SyntaxConfig::default());
    let tokens: Vec<Token<'_>> = tokens.map_while(|token| Some(token.ok()?.0)).collect();
    let (mut names, mut own) = (IndexSet::new(), vec!["loop"]);
    // The word that a block begins with.
    let mut block = "";
    for (at, token) in tokens.iter().enumerate() {
        let Token::Ident(word) = token else { continue };
        let before = tokens[..at].iter().rev();
        let mut before = before.filter(|token| !matches!(token, Token::Ident("not")));
        match (before.next(), tokens.get(at + 1)) {
            (Some(Token::BlockStart), _) => block = word,
            (Some(Token::Dot | Token::Pipe | Token::Ident("is")), _) => {}
            // The name of an argument is none.
            (before, Some(Token::Assign)) => {
                let is_own = matches!(before, Some(Token::Comma | Token::Ident("set" | "with")));
                own.extend(Some(*word).filter(|_| is_own));
            }
            _ if *word == "in" && block == "for" => block = "",
            _ if block == "for" => own.push(word),
            _ if WORDS.contains(word) || own.contains(word) => {}
            _ => {
                let mut name = (*word).to_owned();
                for rest in tokens[at + 1..].chunks(2) {
                    let [Token::Dot, Token::Ident(field)] = rest else { break };
                    name = format!("{name}.{field}");
                }
                names.insert(name);
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parser calls itself for each of these signs.
    #[test]
    fn what_is_too_long_is_not_parsed() {
        let many = |part: &str| part.repeat(30_000);
        for expr in ["-", "not ", "(", "[", "{", "a|"].map(many) {
            assert!(parse_expr(&format!("{expr}1")).is_err());
            // The end of the hole is not the first one that looks like it.
            for text in [
                format!("{{{{ {expr}1 }}}}"),
                format!("{{{{ '}}}}' ~ {expr}1 }}}}"),
                format!("{{% if '%}}' ~ {expr}1 %}}{{% endif %}}"),
            ] {
                assert!(parse_text(&text, "a").is_err());
            }
        }
        let hole = "{{ 1 }}";
        let text = format!("{}{hole}", many("plain "));
        assert!(parse_text(&text, "a").is_ok());
        assert!(parse_text(&hole.repeat(1_000), "a").is_ok());
        let longest = format!("'{}'", "x".repeat(MAX_LENGTH - 2));
        assert!(parse_expr(&longest).is_ok());
        assert!(parse_expr(&format!("{longest} ~ ''")).is_err());
    }
}
