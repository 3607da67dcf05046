//! Writes the answer to a hook event.
//!
//! A Stop answer is one JSON object on one line with a space after each colon (scripts grep `"decision": "block"`).
//! Other events print plain text or nothing, or JSON if there is also a message for the user. Whatever is said has its
//! harmful characters escaped here, wherever it comes from.

use serde_json::{Map, Value as Json, json};

use super::events::{is_stop, takes_context};
use super::hosts::{ContextForm, Host};
use crate::text::shown_lines;

/// Every host shows this many characters of a text. (Codex counts bytes, and keeps the rest in a file.)
const TEXT_LIMIT: usize = 9_900;

/// What an agent reads that has asked the user something and is sent back.
const UNANSWERED: &str = "What you asked the user is not answered: decide it by the plan or by what the user has said, where \
    that is possible; otherwise do what does not depend on it, and ask again at the end.";

/// An answer to the host.
#[derive(Debug, Default)]
pub struct Reply {
    event: String,
    quiet: bool,
    /// The text that sends the agent back.
    pub block: Option<String>,
    /// For the user.
    pub messages: Vec<String>,
    /// The text that sends the agent back has what is for the user.
    is_reported: bool,
    /// For the agent, on an event that cannot be blocked.
    pub says: Vec<String>,
    /// Problems with files: for the user and for stderr.
    pub warnings: Vec<String>,
    /// For stderr only: the chart's messages inform the user.
    pub log: Vec<String>,
    /// A cycle has passed, or is left as if it had.
    pub has_passed: bool,
}

impl Reply {
    /// Returns the answer that allows the event and says nothing.
    pub fn silent(event: &str, quiet: bool) -> Self {
        Self { event: event.to_owned(), quiet, ..Self::default() }
    }

    /// Returns the answer that allows the event because no decision could be made.
    pub fn undecided(event: &str, why: String) -> Self {
        Self::silent(event, false).with_warnings(vec![undecided(event, &why)])
    }

    /// Adds messages for the user.
    pub fn with_messages(mut self, messages: Vec<String>) -> Self {
        self.messages.extend(messages);
        self
    }

    /// Adds problems with files. The user reads them after the decision's messages; they also go to stderr.
    pub fn with_warnings(mut self, warnings: Vec<String>) -> Self {
        self.warnings.extend(warnings);
        self
    }

    /// Returns both answers as one; this one blocks nothing.
    pub fn followed_by(self, mut other: Self) -> Self {
        other.messages.splice(0..0, self.messages);
        other.warnings.splice(0..0, self.warnings);
        other.log.splice(0..0, self.log);
        other.quiet &= self.quiet;
        other.has_passed |= self.has_passed;
        other
    }

    /// Returns whether the stop is blocked.
    pub fn blocks(&self) -> bool {
        self.block.is_some()
    }

    /// Returns whether something has failed that is no finding.
    pub fn has_failed(&self) -> bool {
        !self.log.is_empty()
    }

    /// Blocks a stop that was allowed, so that the agent reports to the user what the host would not show.
    pub fn ask_to_tell(&mut self) {
        if let Some(message) = self.message() {
            self.block = Some(format!(
                "Tell the user exactly this, do nothing else, and end your turn:\n\n{message}"
            ));
            self.is_reported = true;
        }
    }

    /// Names what the agent has asked, to it and to the user, if the stop is blocked.
    pub fn name_question(&mut self, asked: &str) {
        if let Some(reason) = &mut self.block {
            reason.push_str("\n\n");
            reason.push_str(UNANSWERED);
            self.messages.push(format!("The agent asked: {asked}"));
        }
    }

    /// Returns the message to an agent that may not stop.
    pub fn reason(&self) -> Option<String> {
        self.block.as_deref().map(cut)
    }

    /// Returns the texts for the user.
    pub fn texts(&self) -> impl Iterator<Item = &String> {
        self.warnings.iter().chain(&self.messages)
    }

    /// Returns the message to the user that accompanies the answer.
    pub fn message(&self) -> Option<String> {
        let messages: Vec<&str> = self.texts().map(String::as_str).collect();
        (!messages.is_empty()).then(|| cut(&messages.join("\n")))
    }

    /// Returns the text for stdout, in the form that `host` takes.
    pub fn render(&self, host: &Host) -> String {
        if !is_stop(&self.event) {
            return self.context(host);
        }
        let mut object = Map::new();
        let mut message = self.message();
        let is_silent = message.is_none();
        if let Some(mut reason) = self.reason() {
            if !host.shows_messages
                && let Some(message) = message.take().filter(|_| !self.is_reported)
            {
                reason = cut(&format!("{message}\n\n{reason}"));
            }
            object.insert("decision".to_owned(), Json::from("block"));
            object.insert("reason".to_owned(), Json::from(reason));
        }
        if let Some(message) = message {
            object.insert("systemMessage".to_owned(), Json::from(message));
        }
        if self.block.is_none() {
            if self.quiet && is_silent {
                return String::new();
            }
            object.insert("suppressOutput".to_owned(), Json::from(true));
        }
        one_line(&Json::Object(object)) + "\n"
    }

    /// Returns the text for stdout if nothing can be blocked: the text for the agent, and the one for the user if the
    /// event takes both. (Plain text reaches only the agent, and on some hosts nobody.)
    fn context(&self, host: &Host) -> String {
        let text = cut(&self.says.join("\n"));
        let is_json =
            !self.messages.is_empty() || !text.is_empty() && host.context != ContextForm::Text;
        if !is_json || !takes_context(&self.event) {
            return match text.is_empty() {
                true => text,
                false => format!("{text}\n"),
            };
        }
        let mut object = Map::new();
        if !self.messages.is_empty() {
            let message = cut(&self.messages.join("\n"));
            object.insert("systemMessage".to_owned(), Json::from(message));
        }
        if !text.is_empty() && host.context == ContextForm::Top {
            object.insert("additionalContext".to_owned(), Json::from(text));
        } else if !text.is_empty() {
            let context = json!({ "hookEventName": self.event, "additionalContext": text });
            object.insert("hookSpecificOutput".to_owned(), context);
        }
        one_line(&Json::Object(object)) + "\n"
    }

    /// Changes each text that is shown.
    pub fn map_texts(mut self, change: impl Fn(&str) -> String) -> Self {
        let texts = self.block.iter_mut().chain(&mut self.messages);
        for text in texts.chain(&mut self.says) {
            *text = change(text);
        }
        self
    }
}

/// Returns what is said where no decision could be made.
pub fn undecided(event: &str, why: &str) -> String {
    format!("No decision could be made about this {event}, so it is allowed: {why}")
}

/// Returns a text as it is shown, cut to the length that every host shows.
pub fn cut(text: &str) -> String {
    let text = shown_lines(text);
    match text.char_indices().nth(TEXT_LIMIT) {
        Some((end, _)) => format!("{}… (cut)", &text[..end]),
        None => text.into_owned(),
    }
}

/// Returns an object without lists on one line, with a space after each colon and comma.
fn one_line(json: &Json) -> String {
    let Json::Object(fields) = json else {
        return json.to_string();
    };
    let fields = fields.iter();
    let fields = fields.map(|(name, value)| format!("\"{name}\": {}", one_line(value)));
    format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reply_that_comes_first_loses_nothing() {
        let reply = |text: &str| {
            Reply::silent("Stop", true)
                .with_messages(vec![format!("{text} said")])
                .with_warnings(vec![format!("{text} warned")])
        };
        let both = reply("one").followed_by(reply("other"));
        assert_eq!(both.messages, ["one said", "other said"]);
        assert_eq!(both.warnings, ["one warned", "other warned"]);
    }
}
