//! Fills in templates of the program's own: pages for a browser, and pictures in the formats of other programs.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value};
use minijinja::{Environment, Error};
use serde::Serialize;

use super::{MILLION, STEPS};

/// Returns a template with these values. Each value is passed to `escape`, unless the template calls it `safe`.
pub(crate) fn fill(template: &str, values: impl Serialize, escape: fn(&str) -> String) -> String {
    // Template and values are both compiled in, and tests fill in each template: an error would be the page.
    let filled = try_fill(template, values, escape);
    filled.unwrap_or_else(|error| format!("{error:#}\n"))
}

fn try_fill(
    template: &str,
    values: impl Serialize,
    escape: fn(&str) -> String,
) -> Result<String, Error> {
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(true)
        .build()?;
    environment.set_syntax(syntax);
    environment.set_fuel(Some(STEPS * MILLION));
    environment.set_formatter(move |out, _, value| {
        let text = value.to_string();
        let text = if value.is_safe() { text } else { escape(&text) };
        out.write_str(&text).map_err(Error::from)
    });
    environment.render_str(template, Value::from(Serde(values)))
}
