//! A whole plan, played only through what the agent sees: the texts of the plugin's commands, what `taskie` prints, and the
//! messages of the hook. No command that a text names may be refused. All texts are kept as a snapshot.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::actions::{first_open, last_steps, work};
use crate::support::{PLAN, Project, Ran, Reviewer, cases, feed};

const SESSION: &str = "s1";

/// An agent in a session, and everything that it has read.
struct Agent {
    project: Project,
    seen: String,
    /// The reviews that are still to come.
    reviews: std::vec::IntoIter<(&'static str, Vec<String>)>,
}

impl Agent {
    fn sees(&mut self, what: &str, text: &str) {
        let text = text.trim_end().replace('\n', "\n    ");
        writeln!(self.seen, "{what}\n    {text}").unwrap();
    }

    /// Runs a command line from a text. None may be refused.
    fn runs(&mut self, line: &str) -> String {
        let words = line.split(' ').skip(1);
        let mut command = self.project.command(words);
        command.env("CLAUDE_CODE_SESSION_ID", SESSION);
        let ran = Ran::of(command.output().unwrap());
        self.sees(&format!("$ {line}"), &ran.stdout);
        assert_eq!(ran.err(), (0, ""), "`{line}`\n{}", self.seen);
        ran.stdout
    }

    /// Ends the turn. Returns the message that sends the agent back, if there is one.
    fn stops(&mut self, is_again: bool) -> Option<String> {
        let (verdict, severities) = self.reviews.next().unwrap_or(("PASS", Vec::new()));
        let finding = |(at, severity): (usize, &String)| json!({ "severity": severity, "title": format!("Issue {}", at + 1) });
        let findings: Vec<Value> = severities.iter().enumerate().map(finding).collect();
        let answer = json!({
            "verdict": verdict, "findings": findings,
        });
        let printed =
            json!({ "is_error": false, "total_cost_usd": 0.5, "structured_output": answer });
        let reviewer = Reviewer::default().prints(printed.to_string());
        self.project.reviewer(&reviewer);
        let event = json!({
            "cwd": self.project.root, "hook_event_name": "Stop", "session_id": SESSION, "stop_hook_active": is_again,
        });
        let ran = feed(self.project.command(["hook", "stop"]), event.to_string());
        assert_eq!(ran.err(), (0, ""), "{}", self.seen);
        let message = ran.message();
        if !message.is_empty() {
            self.sees("the user reads", &message);
        }
        let reason = ran.json()["reason"].as_str().map(str::to_owned);
        if let Some(reason) = &reason {
            let start = reason.split_once(". ").map_or(&**reason, |(start, _)| start);
            self.sees("the agent is sent back", start);
        }
        reason
    }

    /// Answers a review as the message says, with its last step.
    fn answers(&mut self, message: &str) {
        let between = |start: &str, end: &str| {
            let rest = message.split_once(start).unwrap().1;
            rest.split_once(end).unwrap().0.to_owned()
        };
        let file = between("then create ", " documenting");
        let ids = message.lines().filter_map(|line| line.strip_prefix("- ")?.split_once(' '));
        let lines: Vec<String> = ids.map(|(id, _)| format!("{id}: fixed")).collect();
        let text = match lines.is_empty() {
            true => "No findings.".to_owned(),
            false => lines.join("\n"),
        };
        std::fs::write(self.project.root.join(file), text).unwrap();
        let last = between(", run `", "`");
        let said = self.runs(&last);
        assert!(said.contains("end your turn"), "{said}");
    }

    /// Answers what the reviews of a cycle that has passed leave without an answer.
    fn answers_the_rest(&mut self) {
        let ran = self.project.run(&["findings", "--json"]);
        for finding in ran.json()["findings"].as_array().unwrap() {
            let id = finding["id"].as_str().unwrap();
            if finding["state"] == "fixed" {
                continue;
            }
            let (review, _) = id.split_once('.').unwrap();
            let file = format!("{}.md", review.replace("-review-", "-post-review-"));
            self.project.write(&file, format!("{id} (minor): fixed\n"));
        }
    }

    /// Performs an action and its last step, ends the turn, and answers reviews until the stop is allowed.
    fn performs(&mut self, action: &str) {
        let state = match self.project.plan().join("state.json").exists() {
            true => self.project.state(),
            false => Value::Null,
        };
        let task = match action.starts_with("complete-task") {
            true => first_open(&self.project),
            false => String::new(),
        };
        if action != "stop" {
            work(&self.project, action, &state);
            let [step] = last_steps(action).try_into().unwrap();
            let said = self.runs(&step.replace("PLAN", PLAN).replace("ID", &task));
            assert!(said.contains("end your turn"), "{said}");
        }
        let mut is_again = false;
        while let Some(message) = self.stops(is_again) {
            is_again = true;
            self.answers(&message);
        }
    }
}

#[test]
fn a_whole_plan() {
    let project = Project::empty();
    let reviews = cases::<(&'static str, Vec<String>)>("played", "a_whole_plan");
    let mut agent = Agent { project, seen: String::new(), reviews: reviews.into_iter() };
    agent.sees("the user types", "/taskie:new-plan");
    agent.performs("new-plan");
    loop {
        agent.sees("the user types", "/taskie:continue-plan");
        let [first] = last_steps("continue-plan").try_into().unwrap();
        let next = agent.runs(&first);
        let line = |start: &str| next.lines().find_map(|line| line.strip_prefix(start));
        let action = line("next: ").unwrap().to_owned();
        if next.contains("answer them first") {
            agent.answers_the_rest();
        }
        if action == "complete" {
            agent.runs(&format!("taskie enter complete --plan {PLAN}"));
            break;
        }
        agent.performs(&action);
    }
    assert_eq!(agent.stops(false), None);
    agent.runs("taskie next");
    agent.runs("taskie findings");
    agent.runs("taskie status");
    assert_eq!(agent.project.state()["phase"], "complete");
    // How long the reviews took.
    let (before, after) = agent.seen.split_once("13 reviews in ").unwrap();
    let (_, after) = after.split_once(", cost").unwrap();
    insta::assert_snapshot!("played", format!("{before}13 reviews in TIME, cost{after}"));
}
