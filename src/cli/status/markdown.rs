//! Markdown as HTML: as much of it as reviews are written in. Everything is escaped, and no link leads anywhere.

use crate::text::{markup, shown};

/// The level of the highest heading in a text.
const TOP: usize = 4;

/// Returns a Markdown text as HTML: headings, paragraphs, lists, quotes, code, emphasis. A table stays as it is written.
pub(super) fn html(text: &str) -> String {
    let mut page = Writer::default();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let trimmed = line.trim();
        let fence = ["```", "~~~"]
            .into_iter()
            .find(|fence| trimmed.starts_with(fence));
        let is_table = |line: &str| line.trim_start().starts_with('|');
        if let Some(fence) = fence {
            let code = lines
                .by_ref()
                .take_while(|line| !line.trim().starts_with(fence));
            page.code(code);
        } else if is_table(line) {
            let mut rows = vec![line];
            while let Some(row) = lines.next_if(|line| is_table(line)) {
                rows.push(row);
            }
            page.code(rows.into_iter());
        } else if trimmed.is_empty() {
            page.close_text();
        } else if let Some((level, title)) = heading(trimmed) {
            page.close();
            let level = (TOP + level - 1).min(6);
            page.html
                .push_str(&format!("<h{level}>{}</h{level}>\n", inline(title)));
        } else if let Some((kind, item)) = item(trimmed) {
            page.item(kind, line.len() - line.trim_start().len() >= 2, item);
        } else {
            page.text(line.starts_with([' ', '\t']), trimmed);
        }
    }
    page.close();
    page.html
}

/// The page so far, and what is open at its end.
#[derive(Default)]
struct Writer {
    html: String,
    list: Option<&'static str>,
    /// The element of the text that is open: `p`, `li`.
    open: Option<&'static str>,
}

impl Writer {
    fn close_text(&mut self) {
        if let Some(element) = self.open.take() {
            self.html.push_str(&format!("</{element}>\n"));
        }
    }

    fn close(&mut self) {
        self.close_text();
        if let Some(list) = self.list.take() {
            self.html.push_str(&format!("</{list}>\n"));
        }
    }

    fn code<'l>(&mut self, lines: impl Iterator<Item = &'l str>) {
        self.close();
        self.html.push_str("<pre tabindex=\"0\">");
        for line in lines {
            self.html.push_str(&markup(&shown(line)));
            self.html.push('\n');
        }
        self.html.push_str("</pre>\n");
    }

    fn item(&mut self, kind: &'static str, is_deep: bool, text: &str) {
        self.close_text();
        // A deeper item belongs to the list above it, whatever its kind.
        if self.list.is_none() || !is_deep && self.list != Some(kind) {
            self.close();
            self.html.push_str(&format!("<{kind}>\n"));
            self.list = Some(kind);
        }
        let class = if is_deep { " class=\"deep\"" } else { "" };
        self.html.push_str(&format!("<li{class}>{}", inline(text)));
        self.open = Some("li");
    }

    fn text(&mut self, is_indented: bool, text: &str) {
        if self.open.is_none() && !(is_indented && self.list.is_some()) {
            self.close();
        }
        match self.open {
            Some(_) => self.html.push('\n'),
            None => {
                self.html.push_str("<p>");
                self.open = Some("p");
            }
        }
        self.html.push_str(&inline(text));
    }
}

/// Returns a heading's level and text.
fn heading(line: &str) -> Option<(usize, &str)> {
    let title = line.trim_start_matches('#');
    let level = line.len() - title.len();
    let title = title.strip_prefix(' ')?;
    (1..=6).contains(&level).then(|| (level, title.trim()))
}

/// Returns the kind of list that an item is of, and its text.
fn item(line: &str) -> Option<(&'static str, &str)> {
    if let Some(text) = ["- ", "* ", "+ "]
        .into_iter()
        .find_map(|mark| line.strip_prefix(mark))
    {
        return Some(("ul", text));
    }
    let text = line.trim_start_matches(|sign: char| sign.is_ascii_digit());
    let text = text
        .strip_prefix(". ")
        .filter(|_| line.starts_with(|sign: char| sign.is_ascii_digit()))?;
    Some(("ol", text))
}

/// Returns a line with code and strong words. What is open at its end was not meant so.
fn inline(text: &str) -> String {
    let text = markup(&shown(text));
    between(&text, "`", "code", |plain| {
        between(plain, "**", "strong", str::to_owned)
    })
}

fn between(text: &str, mark: &str, element: &str, rest: impl Fn(&str) -> String) -> String {
    let mut html = String::new();
    let mut left = text;
    while let Some((before, after)) = left.split_once(mark)
        && let Some((inside, after)) = after.split_once(mark)
    {
        html.push_str(&rest(before));
        html.push_str(&format!("<{element}>{inside}</{element}>"));
        left = after;
    }
    html + &rest(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reviews_are_made_of() {
        let cases = [
            (
                "# Review\nAll **good** `x < 1`\nreally\n",
                "<h4>Review</h4>\n<p>All <strong>good</strong> <code>x &lt; 1</code>\nreally</p>\n",
            ),
            (
                "- one\n  more\n  - deep\n- two\n\nEnd",
                "<ul>\n<li>one\nmore</li>\n<li class=\"deep\">deep</li>\n<li>two</li>\n</ul>\n<p>End</p>\n",
            ),
            (
                "1. a\n2. b\n- c",
                "<ol>\n<li>a</li>\n<li>b</li>\n</ol>\n<ul>\n<li>c</li>\n</ul>\n",
            ),
            (
                "```rust\nlet a = &b;\n# no heading\n```\n###### deep",
                "<pre tabindex=\"0\">let a = &amp;b;\n# no heading\n</pre>\n<h6>deep</h6>\n",
            ),
            (
                "| a | b |\n|---|---|\nx",
                "<pre tabindex=\"0\">| a | b |\n|---|---|\n</pre>\n<p>x</p>\n",
            ),
            (
                "```\nnever closed",
                "<pre tabindex=\"0\">never closed\n</pre>\n",
            ),
            ("a ** b ` c", "<p>a ** b ` c</p>\n"),
            (
                "`**not strong**` **`x`**",
                "<p><code>**not strong**</code> **<code>x</code>**</p>\n",
            ),
            (
                "#no heading\n\n\n12.no item",
                "<p>#no heading</p>\n<p>12.no item</p>\n",
            ),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(html(text), expected, "{text}");
        }
    }

    #[test]
    fn nothing_gets_out_of_a_text() {
        let hostile = "<script>alert(1)</script>\n# <img src=x onerror=y>\n- \"><b>\n```\n</pre><script>\n```\n[a](javascript:x) \u{1b}[31m \u{202e}\n| <td> |";
        let page = html(hostile);
        for part in ["<script", "<img", "<b>", "<td", "\u{1b}", "\u{202e}", "<a"] {
            assert!(!page.contains(part), "{part}: {page}");
        }
    }
}
