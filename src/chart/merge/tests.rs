//! Layers of a small chart, and what they make together.

use serde_json::Value as Json;

use super::*;
use crate::chart::structure;
use crate::diagnostic::toml::Document;

const BASE: &str = r#"
id = "base"
[cycle]
entry = { count = 0, clean = 0 }
[cycles.code]
subject = ["plan.md", "task.md"]
[[cycles.code.advance]]
target = "end"
[commands.skip]
about = "s"
[[on.Stop]]
id = "waits"
guard = "a"
[[on.Stop]]
id = "limit"
message = """\
  one \
  two"""
[on.Stop.assign]
x = 1
[let]
clean = "x > 1"
other = "y"
[phases.start]
"#;

/// Returns the merged chart as JSON, what is wrong with its layers, and their texts one after the other.
fn merged(texts: &[&str]) -> (Json, Vec<Fault>, String) {
    let layers = layered(texts.iter().copied());
    let (table, faults) = merge(&layers);
    let text = texts.iter().map(|text| format!("{text}\n")).collect::<String>();
    let document = Document { text: &text, table, errors: Vec::new() };
    (serde_json::to_value(structure::table(&document)).unwrap(), faults, text)
}

/// Returns the value at a path, as JSON.
fn at(chart: &Json, path: &str) -> String {
    let value = path.split('.').try_fold(chart, |value, step| {
        let index = step.parse::<usize>();
        index.map_or_else(|_| value.get(step), |index| value.get(index))
    });
    value.map(ToString::to_string).unwrap_or_default()
}

/// Each change, a path, and the value there.
#[test]
fn a_chart_is_written_over_another() {
    for (own, path, value) in [
        ("id = \"own\"", "id", "\"own\""),
        ("quiet = true", "quiet", "true"),
        ("[cycle]\nentry = { own = 1 }", "cycles.code.entry", r#"{"count":0,"clean":0,"own":1}"#),
        ("[cycles.code]\nsubject = [\"x\"]", "cycles.code.subject", "[\"x\"]"),
        (
            "[cycles.code]\nadvance = [{ target = \"y\" }]",
            "cycles.code.advance",
            r#"[{"target":"y"}]"#,
        ),
        ("[[on.Stop]]\nid = \"waits\"\nguard = \"b\"", "on.Stop.0.guard", "\"b\""),
        ("[[on.Stop]]\nbefore = \"waits\"\nguard = \"b\"", "on.Stop.0", r#"{"guard":"b"}"#),
        ("[[on.Stop]]\nguard = \"b\"", "on.Stop.2.guard", "\"b\""),
        ("remove = [\"on.Stop.waits\"]", "on.Stop.0.id", "\"limit\""),
        ("remove = [\"on.Stop.limit.assign\"]", "on.Stop.1.assign", ""),
        ("remove = [\"commands.skip\"]", "commands.skip", ""),
        ("[let]\nclean = \"other\"", "let.clean", "\"other\""),
        // A rule can be put elsewhere; it keeps what it has.
        ("[[on.Stop]]\nid = \"limit\"\nbefore = \"waits\"", "on.Stop.0.assign", r#"{"x":1}"#),
    ] {
        let (chart, faults, _) = merged(&[BASE, own]);
        assert_eq!(faults, [], "{own}");
        assert_eq!(at(&chart, path), value, "{own}\n{chart}");
    }
}

#[test]
fn what_changes_nothing_is_a_fault() {
    for (own, name, known) in [
        ("remove = [\"commands.skpi\"]", "commands.skpi", "skip"),
        ("remove = [\"on.Stop.wait\"]", "on.Stop.wait", "waits"),
        ("[[on.Stop]]\nid = \"wait\"", "wait", "waits"),
        ("[[on.Stop]]\nbefore = \"wait\"", "wait", "waits"),
        ("[[on.next]]\nbefore = \"wait\"", "wait", ""),
    ] {
        let (_, faults, text) = merged(&[BASE, own]);
        let [fault] = faults.as_slice() else {
            panic!("{own}: {faults:?}");
        };
        let (unknown, others) = fault.unknown.as_ref().unwrap();
        assert_eq!(unknown, name, "{own}");
        assert!(known.is_empty() || others.iter().any(|other| other == known), "{own}: {fault:?}");
        assert_eq!(&text[fault.span.clone()], format!("{name:?}"), "{own}");
        assert!(fault.span.start > BASE.len(), "{own}");
    }
}

/// An `id` stands for one entry of a list, also in a chart that extends nothing.
#[test]
fn an_id_is_not_twice_in_a_list() {
    for own in [
        "[[on.Stop]]\nid = \"new\"\nbefore = \"limit\"\n[[on.Stop]]\nbefore = \"limit\"\nid = \"new\"",
        "[[on.Stop]]\nid = \"a\"\n[[on.Stop]]\nid = \"new\"\n[[on.Stop]]\nid = \"new\"",
        "[[properties]]\nid = \"new\"\n[[properties]]\nid = \"new\"",
    ] {
        let (_, faults, _) = merged(&[own]);
        let twice = faults.iter().filter(|fault| fault.unknown.is_none());
        let [fault] = twice.collect::<Vec<_>>()[..] else {
            panic!("{own}: {faults:?}");
        };
        let message = "another entry of this list has the id `new`";
        assert_eq!(fault.message, message, "{own}");
        let at = own.rfind("\"new\"");
        assert_eq!(at, Some(fault.span.start), "{own}");
    }
    assert_eq!(merged(&["[[on.Stop]]\nid = \"a\"\n[[on.next]]\nid = \"a\""]).1, []);
}

/// An `id` without a place changes an entry. What to write to add one is said.
#[test]
fn a_new_id_needs_a_place() {
    let help = |own: &str| merged(&[BASE, own]).1[0].help;
    let said = "to add an entry with an `id`, say `before`; one without comes last";
    assert_eq!(help("[[on.Stop]]\nid = \"mine\""), Some(said));
    assert_eq!(help("[[on.Stop]]\nid = \"mine\"\nbefore = \"wait\""), None);
}
