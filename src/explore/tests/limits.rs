//! What the limits of a search leave open, and what is explored within them.

use super::*;
use crate::explore::domain::Domain;
use crate::expr::pieces::Piece;
use std::collections::BTreeSet;

#[test]
fn without_time_nothing_is_proved_that_was_not_seen() {
    let caps = Caps { time: std::time::Duration::ZERO, ..Caps::default() };
    let report = explore(&chart(&[]), &caps);
    assert!(report.cut.is_some());
    let found = findings(&report);
    let is_open =
        |(_, verdict): &(&str, String)| verdict.starts_with("not decided: the time was up");
    assert!(found.iter().all(is_open), "{found:?}");
}

/// A text that an option makes fail, and the guard of a phase that looks at the phase: each of their parts is evaluated by
/// itself. Together, they have more than 1,296 combinations.
#[test]
fn what_a_part_does_not_look_at_multiplies_nothing() {
    let names = |with: &str, one: &dyn Fn(char) -> String| {
        let names: Vec<String> = ('a'..='d').map(one).collect();
        names.join(with)
    };
    let lets =
        names("\n", &|name| format!("{name} = \"event.{name} in ['1', '2', '3', '4', '5']\""));
    let (all, shown) =
        (names(" and ", &|name| name.to_string()), names(" ", &|name| format!("{{{{ {name} }}}}")));
    let chart = counting(&format!(
        "[phases.two]\nguard = \"it.id == 'two' and {all}\"\n\
         [args.task]\nabout = \"x\"\ntype = \"string\"\none_of = \"['1']\"\n\
         [commands.show]\nabout = \"x\"\nsay = \"{shown} {{{{ args.task }}}}\"\n[let]\n{lets}\n"
    ));
    let search = Search::of(&chart, &states(100));
    let nodes = search.moves.tree.nodes.len();
    assert!(nodes < 400, "{nodes} nodes");
}

/// Whether a text can be made is not asked for where its types and names tell that. Each of the others is a piece on which
/// that turns.
#[test]
fn a_text_that_can_always_be_made_asks_for_nothing() {
    let open = "open = \"tables.tasks.open\"";
    let lets = format!(
        "{open}\nfirst = \"files.chapters[0].name\"\nids = \"tables.tasks.rows | map(attribute='id') | list\"\n\
         names = \"ids | set\"\nsum = \"reviews + 1\""
    );
    let domain = Domain::of(&chart(&[(open, &lets)]), &BTreeSet::new());
    for text in [
        "{{ phase }} {{ reviews + 1 }} {{ next_phase }} {{ review.file }}",
        "{{ cycle.n }} {{ cycle.next }} {{ cycle.exit }} {{ cycle.ready }} {{ cycle.stalled }}",
        "{{ ids | join(', ') }} {{ tables.tasks.rows[:1] | length }} {{ phase[:3] }}",
        "{% set all = ids | list %}{% if cycle.id is not none %}{{ all | brief('; ') }}{% endif %}",
        "{% for chapter in files.chapters %}{{ chapter.name | replace('.md', '') }}{% endfor %}",
        "{{ tables.tasks.rows | selectattr('done') | map(attribute='path') | join(' ') }}",
        "{{ ids | set | brief('; ') }} {{ 'a' if phase in (ids | unique) else 'b' }}",
        "{{ 'a' if open else event.prompt | trim }} {{ event.lines }}",
    ] {
        assert_eq!(*domain.pieces(text), [], "{text}");
    }
    for piece in [
        "{{ first }}",
        "{{ files.chapters[0].name }}",
        "{{ ids | first }}",
        "{{ ids | map('int') | list }}",
        "{{ event.prompt | int }}",
        "{{ event.background_tasks | map(attribute='type') | join(', ') }}",
        "{{ event.lines + 1 }}",
        "{{ reviews * 2 }}",
        "{{ reviews // max_reviews }}",
        "{{ cycle.last.review }}",
        "{{ cycle.review }}",
        "{{ cycle.subject }}",
        "{{ review.answer }}",
        "{{ args.reviews }}",
        "{% include event.prompt ~ '.md' %}",
    ] {
        let made = [Piece::Hole(piece.to_owned())];
        assert_eq!(*domain.pieces(piece), made);
        assert_eq!(*domain.pieces(&format!("{{{{ phase }}}} {piece}")), made);
        let beside = format!("{{% if open %}}{piece}{{% endif %}}{{% if ids %}}a{{% endif %}}");
        let beside = domain.pieces(&beside);
        assert!(matches!(&*beside, [Piece::If(_, then, _)] if *then == made), "{beside:?}");
    }
    for text in [
        // What a condition says of a name is not used.
        "{{ cycle.id | length if cycle.n == 0 else '' }}",
        "{% for sibling in siblings if not sibling.unreadable %}{{ sibling.context.next_phase | length }}{% endfor %}",
        "{{ siblings | selectattr('context.next_phase', 'eq', none) | map(attribute='context.next_phase.a') | join('') }}",
        // A variable that has the name of something else, and several at once.
        "{% set first = first %}{{ first }}",
        "{% for phase in [next_phase] %}{{ phase | length }}{% endfor %}",
        "{% for row in tables.tasks.rows %}{% for row in ids %}{{ row | trim }}{% endfor %}{% endfor %}",
        "{% for a, b in tables.tasks.rows %}{{ a }}{% endfor %}",
        "{% for row in ids if loop == row %}{{ row }}{% endfor %}",
        // A set has no order, and records have none.
        "{{ names[:1] | join('') }}",
        "{{ [event, files] | unique | join('') }}",
        // A template by a name that none has, or that may be none.
        "{% include phase[1:] %}",
        "{% include review.verdict %}",
        // A sum of what the chart computes, and numbers of more than 64 bits.
        "{{ sum + 1 }}",
        "{{ reviews + 1 + max_reviews }}",
        "{{ 9223372036854775808 + reviews }}",
        "{{ phase[:9223372036854775808] }}",
    ] {
        assert!(!domain.pieces(text).is_empty(), "{text}");
    }
    // A condition without a value is one, whatever it decides about.
    let test = domain.pieces("{% if first == 'a' %}b{% endif %}");
    assert!(
        matches!(&*test, [Piece::If(_, then, otherwise)] if then.is_empty() && otherwise.is_empty())
    );
    // A record of names can be compared with another one.
    let records =
        "message = \"{{ [event, files, scope, tables.tasks] | unique | list | length }}\"";
    assert!(findings(&explore(&with_rule(records), &Caps::default())).is_empty());
    // With a guard on the last one, no target may be open.
    let guarded =
        chart(&[("{ target = \"done\" }", "{ guard = \"not open\", target = \"done\" }")]);
    let domain = Domain::of(&guarded, &BTreeSet::new());
    assert_eq!(domain.pieces("{{ cycle.next }}").len(), 1);
}

/// (what the chart looks at, what is tried for it in words)
#[test]
fn the_texts_that_are_tried_are_named() {
    let cases = [
        ("event.prompt == 'go'", "event.prompt: go, any other text"),
        ("event.prompt == phase", "event.prompt: the value of phase, any other text"),
        (
            "'a' in event.prompt and 'b' in event.prompt",
            "event.prompt: a text with a, a text with b, any other text",
        ),
        ("event.prompt | trim == 'go'", "event.prompt: go, any other text"),
        ("event.prompt == event.source", "event.prompt: any text"),
        ("event.prompt != ''", "event.prompt: '', any other text"),
        ("session != 's'", "event.session_id: s, any other text"),
    ];
    for (guard, expected) in cases {
        let rule = format!("[[on.Stop]]\nguard = \"{guard}\"\nmessage = \"x\"\n");
        let domain = explore(&counting(&rule), &Caps::default()).domain;
        assert!(domain.iter().any(|line| line == expected), "{domain:#?}");
    }
}

/// (rules, how many states there are at most, what is found)
#[test]
fn a_counter_that_only_grows_ends() {
    let count = "[[on.Stop]]\nassign = { n = \"{{ n + 1 }}\" }\n";
    let cases: [(&str, usize, &[&str]); 7] = [
        // One value stands for all that are greater than what it is compared with.
        (
            "[[on.Stop]]\nguard = \"n > config.most\"\nmessage = \"{{ n }}\"\nallow = true\n",
            25,
            &[],
        ),
        (
            "[[on.Stop]]\nguard = \"n > 5\"\nblock = \"{{ n }}\"\n",
            25,
            &["blocks-in-a-row: an agent that does nothing is blocked without end"],
        ),
        (
            "[[properties]]\nabout = \"p\"\nalways = \"n < 30\"\n",
            40,
            &["property-refuted: `n < 30` does not hold here"],
        ),
        ("[[properties]]\nabout = \"p\"\nreachable = \"n > 30\"\n", 40, &[]),
        ("[[on.Stop]]\nassign = { n = \"{{ n + 2 if n > 3 else 0 }}\" }\n", 25, &[]),
        // An expression that does more with it can give another result for each of its values: far from all numbers of
        // the chart, it is one that is not known.
        ("[[on.Stop]]\nmessage = \"{{ n % 7 }}\"\n", 1_050, &[]),
        ("[[on.Stop]]\nmessage = \"{% set m = n %}{{ m }}\"\n", 1_050, &[]),
    ];
    for (rules, most, expected) in cases {
        let report = explore(&counting(&format!("{count}{rules}")), &Caps::default());
        assert_eq!(report.cut, None, "{rules}");
        assert!(report.states <= most, "{rules}: {} states", report.states);
        let refuted = report.results.iter().filter_map(|result| match &result.verdict {
            Verdict::Refuted { trace, .. } => {
                Some(format!("{}: {}", result.code.as_str(), trace.claim))
            }
            _ => None,
        });
        assert_eq!(refuted.collect::<Vec<_>>(), expected, "{rules}");
    }
}

/// Charts whose inputs multiply: what a bound on time would say elsewhere, states and the memory of the parts
/// of decisions say here.
#[test]
fn what_multiplies_is_explored_all_the_same() {
    let join = |count: usize, with: &str, one: &dyn Fn(usize) -> String| {
        (0..count).map(one).collect::<Vec<_>>().join(with)
    };
    let sets = join(9, "\n", &|set| format!("f{set} = [\"f{set}-{{k}}.md\"]"));
    let nine = |with: &str| join(9, with, &|set| format!("files.f{set}"));
    let words = |column: usize| join(16, ", ", &|word| format!("'w{column}-{word}'"));
    let columns = join(4, ", ", &|column| format!("c{column} = \"C{column}\""));
    let select =
        join(4, " | ", &|column| format!("selectattr('c{column}', 'in', [{}])", words(column)));
    let rule = |guard: &str| format!("[[on.Stop]]\nguard = \"{guard}\"\nmessage = \"x\"\n");
    let form = join(2, ", ", &|column| {
        format!(
            "{{ each = \"tables.t.rows\", guard = \"it.c{column} not in [{}]\", say = \"x\" }}",
            words(column)
        )
    });
    let phases = join(60, "\n", &|phase| {
        let before = match phase {
            0 => "one".to_owned(),
            _ => format!("p{}", phase - 1),
        };
        format!("[phases.p{phase}]\nguard = \"phase == '{before}'\"")
    });
    let cases = [
        // A long chain of phases.
        (format!("{phases}\n"), 62),
        // Columns that only a check looks at.
        (
            format!(
                "{}\n[checks]\nform = [{form}]\n[tables.t]\nfile = \"t.md\"\n\
                 columns = {{ id = \"Id\", status = \"Status\", c0 = \"C0\", c1 = \"C1\" }}\n",
                rule("tables.t.open") + &rule("checks.form")
            ),
            2,
        ),
        (format!("{}\n[files]\n{sets}\n", rule(&nine(" and "))), 2),
        (format!("{}\n[files]\n{sets}\n", rule(&nine(" or "))), 2),
        (
            format!(
                "{}\n[tables.t]\nfile = \"t.md\"\ncolumns = {{ id = \"Id\", {columns} }}\n",
                rule(&format!("tables.t.rows | {select} | list"))
            ),
            2,
        ),
    ];
    for (more, states) in cases {
        let search = Search::of(&counting(&more), &Caps::default());
        assert!(search.cut.is_none(), "{more}: {:?}", search.cut);
        assert!(search.looked_at() <= states, "{more}: {} states", search.looked_at());
        let nodes = search.moves.tree.nodes.len();
        assert!(nodes < 13_000, "{more}: {nodes} nodes");
    }
}

/// (what is left out of the chart, how many states there are at most)
#[test]
fn dr_done_without_a_line_of_its_counter_is_explored() {
    let text = include_str!("../../../plugin/dr-done/statechart.toml");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin/dr-done/templates");
    let guards = "guard = \"state == it.id\"\nelse  = \"{{ by_hand }}\"\n";
    let cases = [
        format!("[phases.on]\n{guards}"),
        format!("[phases.review]\n{guards}"),
        "target  = \"off\"\nmessage = \"\"\"\\\n  dr-done: stopped".to_owned(),
        "assign = { iteration = 0 }\n".to_owned(),
    ];
    for case in cases {
        assert!(text.contains(&case), "{case}");
        let less = case.lines().nth(usize::from(case.starts_with('['))).unwrap();
        let text = text.replacen(&case, &case.replacen(&format!("{less}\n"), "", 1), 1);
        let chart = load::from_text("dr-done", &text, Templates::folders(vec![folder.clone()]));
        let chart = chart.unwrap_or_else(|error| panic!("{error}"));
        let report = explore(&Arc::new(chart), &Caps::default());
        assert!(report.cut.is_none(), "{case}: {:?}", report.cut);
        assert!(report.states < 400, "{case}: {} states", report.states);
    }
}

#[test]
fn an_interruption_gives_what_is_known_so_far() {
    let caps = Caps::default();
    caps.stop.store(true, std::sync::atomic::Ordering::Relaxed);
    let report = explore(&chart(&[]), &caps);
    assert!(report.cut.is_some());
    let verdicts = findings(&report);
    let why = "not decided: interrupted after 0 states";
    assert!(verdicts.iter().any(|(_, verdict)| verdict == why), "{verdicts:?}");
    assert!(verdicts.iter().all(|(_, verdict)| verdict.starts_with("not decided")), "{verdicts:?}");
}
