//! The syntax of expressions and texts, and facts that it shows.
//!
//! Everything that parses an expression or a text does it here.

use std::ops::Range;

use minijinja::ErrorKind;
use minijinja::machinery::ast::{BinOpKind, CallArg, Expr, Stmt, UnaryOpKind};
use minijinja::machinery::{self, Token, tokenize};
use minijinja::syntax::SyntaxConfig;

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

/// Returns a condition's value if it is the same in every world.
pub fn constant(source: &str) -> Option<bool> {
    let expr = parse_expr(source).ok()?;
    value_of(&expr)
}

/// Returns a condition's constant value; `x or true` has one too.
fn value_of(expr: &Expr<'_>) -> Option<bool> {
    if let Some(value) = expr.as_const() {
        return Some(value.is_true());
    }
    match expr {
        Expr::UnaryOp(op) if matches!(op.op, UnaryOpKind::Not) => {
            value_of(&op.expr).map(|value| !value)
        }
        Expr::BinOp(op) => {
            let (left, right) = (value_of(&op.left), value_of(&op.right));
            match op.op {
                BinOpKind::ScAnd if left == Some(false) || right == Some(false) => Some(false),
                BinOpKind::ScAnd => left.and(right),
                BinOpKind::ScOr if left == Some(true) || right == Some(true) => Some(true),
                BinOpKind::ScOr => left.and(right),
                BinOpKind::Eq if same_name(&op.left, &op.right) => Some(true),
                BinOpKind::Ne if same_name(&op.left, &op.right) => Some(false),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Returns whether both are the same dotted name.
fn same_name(a: &Expr<'_>, b: &Expr<'_>) -> bool {
    dotted(a).is_some_and(|name| dotted(b) == Some(name))
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

/// Returns the expressions of which another one directly consists.
fn parts<'e, 'a>(expr: &'e Expr<'a>) -> Vec<&'e Expr<'a>> {
    let with_args = |first: Option<&'e Expr<'a>>, args: &'e [CallArg<'a>]| {
        first.into_iter().chain(args.iter().map(value_of_arg)).collect()
    };
    match expr {
        Expr::Var(_) | Expr::Const(_) => Vec::new(),
        Expr::Slice(slice) => {
            let ends = [&slice.start, &slice.stop, &slice.step];
            std::iter::once(&slice.expr).chain(ends.into_iter().flatten()).collect()
        }
        Expr::UnaryOp(op) => vec![&op.expr],
        Expr::BinOp(op) => vec![&op.left, &op.right],
        Expr::Compare(compare) => {
            let others = compare.ops.iter().map(|op| &op.expr);
            std::iter::once(&compare.expr).chain(others).collect()
        }
        Expr::IfExpr(choice) => {
            let sides = [&choice.test_expr, &choice.true_expr].into_iter();
            sides.chain(&choice.false_expr).collect()
        }
        Expr::Filter(filter) => with_args(filter.expr.as_ref(), &filter.args),
        Expr::Test(test) => with_args(Some(&test.expr), &test.args),
        Expr::Call(call) => with_args(Some(&call.expr), &call.args),
        Expr::GetAttr(get) => vec![&get.expr],
        Expr::GetItem(get) => vec![&get.expr, &get.subscript_expr],
        Expr::List(list) => list.items.iter().collect(),
        Expr::Tuple(tuple) => tuple.items.iter().collect(),
        Expr::Map(map) => map.keys.iter().chain(&map.values).collect(),
    }
}

/// Returns the dotted names in what is sliced: minijinja leaves them out of its own list of names. They may be variables of
/// the text.
pub(super) fn sliced(source: &str) -> Vec<String> {
    let mut names = Vec::new();
    if let Ok(expr) = parse_expr(source) {
        sliced_in(&expr, &mut names);
    } else if let Ok(text) = parse_text(source, "") {
        sliced_in_text(&text, &mut names);
    }
    names
}

fn sliced_in(expr: &Expr<'_>, names: &mut Vec<String>) {
    fn add(expr: &Expr<'_>, names: &mut Vec<String>) {
        match dotted(expr) {
            Some(name) => names.push(name),
            None => parts(expr).into_iter().for_each(|part| add(part, names)),
        }
    }
    if let Expr::Slice(slice) = expr {
        add(&slice.expr, names);
    }
    parts(expr).into_iter().for_each(|part| sliced_in(part, names));
}

fn sliced_in_text(stmt: &Stmt<'_>, names: &mut Vec<String>) {
    let (exprs, bodies): (Vec<&Expr<'_>>, Vec<&[Stmt<'_>]>) = match stmt {
        Stmt::Template(template) => (Vec::new(), vec![&template.children]),
        Stmt::EmitExpr(emit) => (vec![&emit.expr], Vec::new()),
        Stmt::ForLoop(each) => (
            std::iter::once(&each.iter).chain(&each.filter_expr).collect(),
            vec![&each.body, &each.else_body],
        ),
        Stmt::IfCond(choice) => (vec![&choice.expr], vec![&choice.true_body, &choice.false_body]),
        Stmt::WithBlock(with) => {
            (with.assignments.iter().map(|(_, value)| value).collect(), vec![&with.body])
        }
        Stmt::Set(set) => (vec![&set.expr], Vec::new()),
        Stmt::SetBlock(set) => (Vec::new(), vec![&set.body]),
        Stmt::Include(include) => (vec![&include.name], Vec::new()),
        _ => return,
    };
    exprs.into_iter().for_each(|expr| sliced_in(expr, names));
    bodies.into_iter().flatten().for_each(|stmt| sliced_in_text(stmt, names));
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
