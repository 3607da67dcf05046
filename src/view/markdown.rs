//! Markdown as HTML, for the texts of reviews and answers. Everything is escaped, and no link leads anywhere.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::text::shown_lines;

/// Returns a Markdown text as HTML. Its headings are below those of the page.
pub(crate) fn html(text: &str) -> String {
    let text = shown_lines(text);
    let events = Parser::new_ext(&text, Options::ENABLE_TABLES).filter_map(|event| {
        Some(match event {
            Event::Html(html) | Event::InlineHtml(html) => Event::Text(html),
            Event::Start(Tag::HtmlBlock) => Event::Start(Tag::Paragraph),
            Event::End(TagEnd::HtmlBlock) => Event::End(TagEnd::Paragraph),
            Event::Start(Tag::Link { .. } | Tag::Image { .. })
            | Event::End(TagEnd::Link | TagEnd::Image) => return None,
            Event::Start(Tag::CodeBlock(_)) => {
                Event::Start(Tag::CodeBlock(pulldown_cmark::CodeBlockKind::Indented))
            }
            Event::Start(Tag::Heading { level, .. }) => Event::Start(Tag::Heading {
                level: below(level),
                id: None,
                classes: Vec::new(),
                attrs: Vec::new(),
            }),
            Event::End(TagEnd::Heading(level)) => Event::End(TagEnd::Heading(below(level))),
            // An entity may be a sign that a text must not have.
            Event::Text(text) => Event::Text(shown_lines(&text).into_owned().into()),
            other => other,
        })
    });
    let mut html = String::new();
    pulldown_cmark::html::push_html(&mut html, events);
    html
}

fn below(level: HeadingLevel) -> HeadingLevel {
    match level {
        HeadingLevel::H1 => HeadingLevel::H4,
        HeadingLevel::H2 => HeadingLevel::H5,
        _ => HeadingLevel::H6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_below_those_of_the_page_and_nothing_gets_out_of_a_text() {
        assert_eq!(
            html("# Review\n[all](x) `a < 1`\n"),
            "<h4>Review</h4>\n<p>all <code>a &lt; 1</code></p>\n"
        );
        let hostile = "<script>alert(1)</script>\n# <img src=x onerror=y>\n- \"><b>\n```\"x\n</pre><script>\n```\n[a](javascript:x) ![i](y) <http://z> \u{1b}[31m \u{202e} &#x202e; &#27;\n\n| <td> |";
        let page = html(hostile);
        for part in ["<script", "<img", "<b>", "<td", "\u{1b}", "\u{202e}", "<a", "href"] {
            assert!(!page.contains(part), "{part}: {page}");
        }
    }
}
