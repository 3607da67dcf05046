//! Layers of a small chart, and what they make together.

use super::*;

const BASE: &str = r#"
id = "base"
[cycle]
entry = { count = 0, clean = 0 }
[cycles.code]
subject = ["plan.md", "task.md"]
[[cycles.code.advance]]
id = "last"
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

fn merged(texts: &[&str]) -> Merged {
    let layers = texts.iter().enumerate();
    let layers: Vec<Layer> = layers
        .map(|(at, text)| Layer { name: format!("layer-{at}"), text: (*text).to_owned() })
        .collect();
    merge(&layers)
}

/// Returns the value at a path, as JSON.
fn at(merged: &Merged, path: &str) -> String {
    let table: serde_json::Value = toml::from_str(&merged.text).unwrap();
    let value = path.split('.').try_fold(&table, |value, step| {
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
        ("[cycle]\nentry = { own = 1 }", "cycle.entry", r#"{"count":0,"clean":0,"own":1}"#),
        ("[cycles.code]\nsubject = [\"x\"]", "cycles.code.subject", "[\"x\"]"),
        (
            "[cycles.code.subject]\nappend = [\"x\"]\nprepend = [\"y\"]\nremove = [\"plan.md\"]",
            "cycles.code.subject",
            r#"["y","task.md","x"]"#,
        ),
        (
            "[[cycles.code.advance]]\nid = \"last\"\ntarget = \"x\"",
            "cycles.code.advance.0.target",
            "\"x\"",
        ),
        (
            "[cycles.code.advance]\nreplace = [{ target = \"y\" }]",
            "cycles.code.advance.0",
            r#"{"target":"y"}"#,
        ),
        ("[cycles.new]\ncopy = \"code\"\nstage = \"S\"", "cycles.new.subject.0", "\"plan.md\""),
        ("[cycles.new]\ncopy = \"code\"\nstage = \"S\"", "cycles.new.stage", "\"S\""),
        ("[[on.Stop]]\nid = \"waits\"\nguard = \"b\"", "on.Stop.0.guard", "\"b\""),
        ("[[on.Stop]]\nbefore = \"waits\"\nguard = \"b\"", "on.Stop.0", r#"{"guard":"b"}"#),
        (
            "[[on.Stop]]\nafter = \"waits\"\nid = \"b\"\n[[on.Stop]]\nafter = \"waits\"\nid = \"c\"",
            "on.Stop.2.id",
            "\"c\"",
        ),
        ("[[on.Stop]]\nguard = \"b\"", "on.Stop.2.guard", "\"b\""),
        ("remove = [\"on.Stop.waits\"]", "on.Stop.0.id", "\"limit\""),
        ("remove = [\"on.Stop.limit.assign\"]", "on.Stop.1.assign", ""),
        ("remove = [\"commands.skip\"]", "commands.skip", ""),
        ("[let]\nclean = \"base.clean or other\"", "let.clean", "\"base_clean or other\""),
        ("[let]\nclean = \"base.clean or other\"", "let.base_clean", "\"x > 1\""),
        // What is not replaced is the same with and without `base`.
        ("[let]\nclean = \"base.other\"", "let.clean", "\"other\""),
        // A rule can be put elsewhere; it keeps what it has.
        ("[[on.Stop]]\nid = \"limit\"\nbefore = \"waits\"", "on.Stop.0.assign", r#"{"x":1}"#),
        (
            "[cycles.code.advance]\nremove = [\"last\"]\nappend = [{ target = \"x\" }]",
            "cycles.code.advance.0.target",
            "\"x\"",
        ),
    ] {
        let merged = merged(&[BASE, own]);
        assert_eq!(merged.faults, [], "{own}");
        assert_eq!(at(&merged, path), value, "{own}\n{}", merged.text);
    }
}

/// What is not changed is written as it is, so that everything in it is checked.
#[test]
fn a_table_in_braces_stays_in_braces() {
    let own = "[phases.end]\nentry = { x = 1, }\n[cycle]\nentry = { own = 1 }";
    let merged = merged(&[BASE, own]);
    assert!(merged.text.contains("entry = { x = 1, }"), "{}", merged.text);
    assert!(merged.text.contains("[cycle.entry]"), "{}", merged.text);
    // A table without a header of its own is where it is first named.
    let start = merged.text.find("phases").unwrap();
    let place = merged.origin(&(start..start + 6)).unwrap();
    assert_eq!(&[BASE, own][place.layer][place.span], "phases");
}

#[test]
fn what_changes_nothing_is_a_fault() {
    for (own, name, known) in [
        ("remove = [\"commands.skpi\"]", "commands.skpi", "skip"),
        ("remove = [\"on.Stop.wait\"]", "on.Stop.wait", "waits"),
        ("[[on.Stop]]\nid = \"wait\"", "wait", "waits"),
        ("[[on.Stop]]\nafter = \"wait\"", "wait", "waits"),
        ("[[on.next]]\nafter = \"wait\"", "wait", ""),
        ("[cycles.new]\ncopy = \"coed\"", "coed", "code"),
        ("[cycles.code.subject]\nremove = [\"x\"]", "x", "plan.md"),
        ("[cycles.code.advance]\nremove = [\"lst\"]", "lst", "last"),
    ] {
        let faults = merged(&[BASE, own]).faults;
        let [fault] = faults.as_slice() else {
            panic!("{own}: {faults:?}");
        };
        assert_eq!((fault.name.as_str(), fault.place.layer), (name, 1), "{own}");
        assert!(
            known.is_empty() || fault.known.iter().any(|other| other == known),
            "{own}: {fault:?}"
        );
        assert_eq!(&own[fault.place.span.clone()], format!("{name:?}"), "{own}");
    }
}

/// An `id` stands for one entry of a list, also in a chart that extends nothing.
#[test]
fn an_id_is_not_twice_in_a_list() {
    for own in [
        "[[on.Stop]]\nid = \"new\"\nbefore = \"limit\"\n[[on.Stop]]\nafter = \"limit\"\nid = \"new\"",
        "[[on.Stop]]\nid = \"a\"\n[[on.Stop]]\nid = \"new\"\n[[on.Stop]]\nid = \"new\"",
        "[cycles.a]\nadvance = [{ id = \"new\" }, { id = \"new\" }]",
    ] {
        assert!(is_composed(own), "{own}");
        let faults = merged(&[own]).faults;
        let twice = faults.iter().filter(|fault| fault.kind == FaultKind::Twice);
        let [fault] = twice.collect::<Vec<_>>()[..] else {
            panic!("{own}: {faults:?}");
        };
        let message = "another entry of this list has the id `new`";
        assert_eq!(fault.message, message, "{own}");
        let at = own.rfind("\"new\"");
        assert_eq!(at, Some(fault.place.span.start), "{own}");
    }
    assert!(!is_composed("[[on.Stop]]\nid = \"a\"\n[[on.next]]\nid = \"a\""));
}

/// What is added to a list has an `id` of its own.
#[test]
fn an_id_that_is_already_there_is_not_added() {
    for change in ["append", "prepend"] {
        let own =
            format!("[cycles.code.advance]\n{change} = [{{ id = \"last\", target = \"a\" }}]");
        let faults = merged(&[BASE, &own]).faults;
        let [fault] = faults.as_slice() else {
            panic!("{change}: {faults:?}");
        };
        assert_eq!((fault.kind, fault.place.layer), (FaultKind::Twice, 1), "{change}");
        assert_eq!(&own[fault.place.span.clone()], "\"last\"", "{change}");
    }
}

/// A cycle can change a list that all cycles share, whatever its layer does with the shared one.
#[test]
fn a_cycle_changes_what_cycles_share() {
    let base = "[cycle]\nclear = [\"a\", \"b\"]\n[cycles.code]\nstage = \"S\"\n[cycles.own]\nclear = [\"x\"]";
    let change = "[cycles.code]\nclear = { append = [\"c\"] }";
    for (own, path, value) in [
        (change.to_owned(), "cycles.code.clear", r#"["a","b","c"]"#),
        (change.to_owned(), "cycle.clear", r#"["a","b"]"#),
        (format!("{change}\n[cycle.clear]\nremove = [\"a\"]"), "cycles.code.clear", r#"["b","c"]"#),
        ("[cycles.new.clear]\nremove = [\"a\"]".to_owned(), "cycles.new.clear", "[\"b\"]"),
        (
            "[cycles.new]\ncopy = \"code\"\nclear = { prepend = [\"c\"] }".to_owned(),
            "cycles.new.clear",
            r#"["c","a","b"]"#,
        ),
        ("[cycles.own.clear]\nappend = [\"y\"]".to_owned(), "cycles.own.clear", r#"["x","y"]"#),
    ] {
        let merged = merged(&[base, &own]);
        assert_eq!(merged.faults, [], "{own}");
        assert_eq!(at(&merged, path), value, "{own}\n{}", merged.text);
    }
}

/// A list that is replaced is not changed, too.
#[test]
fn a_replaced_list_is_not_changed() {
    let own = "[cycles.code.subject]\nreplace = [\"x\"]\nappend = [\"y\"]";
    let faults = merged(&[BASE, own]).faults;
    let [fault] = faults.as_slice() else {
        panic!("{faults:?}");
    };
    assert_eq!(fault.kind, FaultKind::Conflict);
    assert_eq!(&own[fault.place.span.clone()], "replace");
}

/// An entry is put in one place.
#[test]
fn before_and_after_exclude_each_other() {
    let own = "[[on.Stop]]\nbefore = \"waits\"\nafter = \"limit\"\nguard = \"b\"";
    let faults = merged(&[BASE, own]).faults;
    let [fault] = faults.as_slice() else {
        panic!("{faults:?}");
    };
    assert_eq!(fault.kind, FaultKind::Conflict);
    assert_eq!(fault.message, "`before` and `after` exclude each other");
    assert_eq!(&own[fault.place.span.clone()], "after");
}

/// An `id` without a place changes an entry. What to write to add one is said.
#[test]
fn a_new_id_needs_a_place() {
    let help = |own: &str| merged(&[BASE, own]).faults[0].help;
    let said = "say `before` or `after` to add an entry with an `id`";
    assert_eq!(help("[[on.Stop]]\nid = \"mine\""), Some(said));
    assert_eq!(help("[[on.Stop]]\nid = \"mine\"\nafter = \"wait\""), None);
}

/// A let can only build on one that is there.
#[test]
fn the_base_of_a_let_is_known() {
    let own = "[let]\nclean = \"base.claen or other\"";
    let faults = merged(&[BASE, own]).faults;
    let [fault] = faults.as_slice() else {
        panic!("{faults:?}");
    };
    assert_eq!(fault.message, "there is no let `claen` to change");
    assert_eq!(&own[fault.place.span.clone()], "base.claen");
    assert_eq!(fault.known, ["clean", "other"]);
}

/// Each of several layers builds on the one below it.
#[test]
fn lets_build_on_each_other() {
    let second = "[let]\nclean = \"base.clean and 2\"";
    let third = "[let]\nclean = \"base.clean and 3\"";
    let merged = merged(&[BASE, second, third]);
    assert_eq!(merged.faults, []);
    assert_eq!(at(&merged, "let.clean"), "\"base_base_clean and 3\"");
    assert_eq!(at(&merged, "let.base_base_clean"), "\"base_clean and 2\"");
    assert_eq!(at(&merged, "let.base_clean"), "\"x > 1\"");
}

/// The name under which a let is kept is one that no chart has written.
#[test]
fn a_let_is_not_captured() {
    let second = "[let]\nclean = \"base.clean or z\"\nbase_clean = \"5\"";
    let merged = merged(&[BASE, second]);
    assert_eq!(merged.faults, []);
    assert_eq!(at(&merged, "let.clean"), "\"base_base_clean or z\"");
    assert_eq!(at(&merged, "let.base_base_clean"), "\"x > 1\"");
    assert_eq!(at(&merged, "let.base_clean"), "\"5\"");
}

#[test]
fn each_place_leads_back_to_its_file() {
    let own = "[let]\nclean = \"base.clean or zz\"\n[[on.Stop]]\nid = \"waits\" # taskie: ignore[no-final] x\n";
    let merged = merged(&[BASE, own]);
    for (text, layer) in [("two", 0), ("x > 1", 0), ("zz", 1), ("# taskie: ignore[no-final] x", 1)]
    {
        let start = merged.text.find(text).unwrap();
        let place = merged.origin(&(start..start + text.len())).unwrap();
        assert_eq!(place.layer, layer, "{text}");
        assert_eq!(&[BASE, own][layer][place.span], text);
    }
    // What a chart replaces leads to what replaces it.
    let start = merged.text.find("base_clean or").unwrap();
    let place = merged.origin(&(start..start + 10)).unwrap();
    assert_eq!(&own[place.span], "base.clean");
}

/// A part has no order of its own: the fields of a state are written in the order of the chart.
#[test]
fn a_chart_orders_its_parts() {
    let part = "[context.model]\ntype = \"string\"\n[let]\na = \"1\"\n";
    let own = "[context.phase]\ntype = \"phase\"\n[phases.start]\n";
    let merged = merged(&[part, own]);
    let table: toml::Table = merged.text.parse().unwrap();
    let fields = table["context"].as_table().unwrap().keys();
    assert_eq!(fields.collect::<Vec<_>>(), ["phase", "model"]);
}
