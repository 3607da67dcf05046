//! What is neither proved nor refuted, because its values are not tried, and what is tried.

use super::*;

#[test]
fn what_guards_ask_beyond_the_values_that_are_tried_is_neither_proved_nor_refuted() {
    let cases = [
        ("event.session_id ~ 'x' == 'abx'", "event.session_id"),
        ("event.session_id | length > 3", "event.session_id.length"),
        ("files.chapters | length > 1000000", "files.chapters.length"),
        ("files.chapters | length > 100", "files.chapters.length"),
        ("tables.tasks.lines > 2.5", "tables.tasks.lines"),
        ("tables.tasks.lines > reviews", "tables.tasks.lines"),
        ("tables.tasks.lines > reviews + 3", "tables.tasks.lines"),
    ];
    for (guard, input) in cases {
        let chart = with_rule(&format!("guard = \"{guard}\"\nmessage = 'x'"));
        let report = explore(&chart, &Caps::default());
        assert!(report.cut.is_none(), "{guard}");
        for (code, text) in findings(&report) {
            assert!(text.starts_with("not decided: "), "{guard}: {code}: {text}");
            assert!(text.contains(input.trim_end_matches(".length")), "{guard}: {code}: {text}");
        }
        // What has nothing to do with it is proved.
        assert!(proofs(&report).iter().any(|proof| proof.starts_with("every state fits")));
    }
}

/// (what the chart has beside its base, the code, the claim)
#[test]
fn what_follows_from_values_that_are_not_tried_is_neither_proved_nor_refuted() {
    let taken = "tables.rows.open | rejectattr('id', 'eq', 'done') | list | length == 10";
    let field = format!(
        "[[on.Stop]]\nassign = {{ t = \"{{% if {taken} %}}alpha{{% else %}}beta{{% endif %}}\" }}\n\
         [commands.set]\nabout = \"set\"\nguard = \"args.word == t and t == 'alpha'\"\nsay = \"{{{{ t }}}}\"\n"
    );
    let property = "[[properties]]\nabout = \"p\"\nalways = \"event.session_id | length <= 3\"\n";
    let cases = [
        (field.as_str(), "command-never-applies", "the command `set` never applies"),
        (property, "property-refuted", "`event.session_id | length <= 3` does not hold here"),
    ];
    for (more, code, claim) in cases {
        let text = format!(
            "id = \"made\"\ninitial = \"one\"\nstate = \"phase\"\ntemplates = []\n\
             [scope]\nhome = \".made\"\nnoun = \"thing\"\ninstances = \"plans/*\"\n\
             [context]\nphase = {{ type = \"phase\" }}\nt = {{ type = \"string or null\" }}\n\
             [args]\nword = {{ type = \"string\", default = \"alpha\" }}\n\
             [tables.rows]\nfile = \"rows.md\"\ncolumns = {{ id = \"Id\", status = \"Status\" }}\n\
             finished = [\"done\"]\n[phases]\none = {{}}\nthree = {{ type = \"final\" }}\n{more}"
        );
        let chart = load::from_text("made", &text, Templates::folders(Vec::new())).unwrap();
        let report = explore(&Arc::new(chart), &Caps::default());
        let found = findings(&report);
        let [(is, verdict)] = &found[..] else { panic!("{found:?}") };
        assert_eq!(*is, code);
        let start = format!("not decided: {claim}, as far as was tried: ");
        assert!(verdict.starts_with(&start), "{verdict}");
    }
}

/// Of time, costs, names and findings there is one value. What is evaluated only with another can fail all the same.
#[test]
fn a_text_with_a_branch_that_no_value_leads_to_is_not_proved() {
    let bad = "tables.tasks.rows[7].id";
    let tests = [
        "scope.name == 'one'",
        "now is startingwith('2031')",
        "findings",
        "rulings | length > 3",
        "spent.failures == 4",
    ];
    let texts = |test: &str| {
        [
            format!("{{% if {test} %}}{{{{ {bad} }}}}{{% endif %}}"),
            format!("{{% set a = 1 %}}{{% if {test} %}}{{{{ {bad} }}}}{{{{ a }}}}{{% endif %}}"),
            format!("{{{{ {bad} if {test} else 'x' }}}}"),
            format!("{{{{ 'x' if not ({test}) else {bad} }}}}"),
            format!("{{% if {test} and {bad} == 'a' %}}x{{% endif %}}"),
            format!(
                "{{% if {test} %}}{{% for row in [1] %}}{{{{ {bad} }}}}{{% endfor %}}{{% endif %}}"
            ),
            format!("{{% if {test} %}}{{{{ cycle.last.review }}}}{{% endif %}}"),
        ]
    };
    let others = [
        "{% for it in rulings %}{{ tables.tasks.rows[7].id }}{% endfor %}",
        "{% for it in drivers if tables.tasks.rows[7].id == 'a' %}x{% endfor %}",
        "{% if git.base is not none %}{{ tables.tasks.rows[7].id }}{% endif %}",
        "{{ 'a' ~ ('x' == scope.name == tables.tasks.rows[7].id) }}",
        "{% for it in [1] %}{{ ['a'] | select('eq', 'b') | first if scope.name == 'x' else 'b' }}{% endfor %}",
        // Variables: by another name, set in a branch, several at once.
        "{% set v = drivers %}{% if v %}{{ tables.tasks.rows[7].id }}{% endif %}",
        "{% set v = 'a' %}{% if scope.name == 'x' %}{% set v = 'b' %}{% endif %}\
         {% if v == 'b' %}{{ tables.tasks.rows[7].id }}{% endif %}",
        "{% if scope.name == 'x' %}{% set a, b = [1] %}{% endif %}",
    ];
    let others = others.map(str::to_owned);
    for text in tests.iter().flat_map(|test| texts(test)).chain(others) {
        let chart = with_rule(&format!("message = \"{text}\""));
        let found = findings(&explore(&chart, &Caps::default()));
        let [("no-decision", verdict)] = &found[..] else { panic!("{text}: {found:?}") };
        assert!(verdict.starts_with("not decided: "), "{text}: {verdict}");
    }
    for text in [
        "{% if scope.name == 'one' %}{{ phase }}{{ tables.tasks.rows | length }}{% endif %}",
        "{{ spent.why | trim if spent.failures == 4 else max_reviews }}",
        "{% for it in findings %}{{ loop.index }} {{ it.text }}{% endfor %}",
        // What is set in a branch is visible behind it.
        "{% set v = 'a' %}{% if open %}{% set v = 'b' %}{% endif %}{% if v == 'b' %}x{% endif %}",
    ] {
        let chart = with_rule(&format!("message = \"{text}\""));
        assert_eq!(findings(&explore(&chart, &Caps::default())), [], "{text}");
    }
}

/// A review can fail for another reason: that is no proof that this text cannot be made.
#[test]
fn a_text_for_a_reviewer_that_may_fail_is_not_refuted() {
    let open = "{% for it in rulings %}{{ tables.tasks.rows[7].id }}{% endfor %}";
    let argv = format!("\"{open}\", \"{{{{ tables.tasks.rows[0].id }}}}\"");
    let chart = chart(&[("\"{% include 'review.md' %}\"", &argv)]);
    let found = findings(&explore(&chart, &Caps::default()));
    let is_open = |text: &str| text.starts_with("not decided: invoke.review.argv[1]");
    let is_refuted = |text: &str| text.starts_with("invoke.review.argv.2: ");
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().any(|(_, text)| is_open(text)), "{found:?}");
    assert!(found.iter().any(|(_, text)| is_refuted(text)), "{found:?}");
}

#[test]
fn lengths_and_sides_that_are_tried_are_proved() {
    for guard in [
        "files.chapters | length == 99",
        "tables.tasks.open | length >= 3",
        "event.session_id in ['a', 'b']",
        "tables.tasks.lines == 7",
    ] {
        let chart = with_rule(&format!("guard = \"{guard}\"\nmessage = 'x'"));
        assert_eq!(findings(&explore(&chart, &Caps::default())), [], "{guard}");
    }
}

#[test]
fn numbers_at_the_ends_of_their_range_are_tried() {
    for guard in [
        "tables.tasks.lines >= 9223372036854775807",
        "max_reviews == 9223372036854775807",
        "tables.tasks.lines > -9223372036854775807",
    ] {
        let chart = with_rule(&format!("guard = \"{guard}\"\nmessage = 'x'"));
        assert!(explore(&chart, &Caps::default()).cut.is_none(), "{guard}");
    }
}

#[test]
fn a_table_of_many_columns_is_tried_a_value_at_a_time() {
    let columns = (0..12).map(|n| format!("c{n} = \"C{n}\"")).collect::<Vec<_>>();
    let guard = (0..12)
        .map(|n| format!("tables.tasks.rows | selectattr('c{n}', 'in', ['a', 'b', 'c']) | list"))
        .collect::<Vec<_>>();
    let first = "[[on.Stop]]\nguard = \"cycle.due and";
    let rule = format!("[[on.Stop]]\nguard = \"{}\"\nmessage = 'x'\n\n{first}", guard.join(" or "));
    let chart = chart(&[
        ("status = \"Status\" }", &format!("status = \"Status\", {} }}", columns.join(", "))),
        (first, &rule),
    ]);
    let report = explore(&chart, &Caps::default());
    assert!(report.cut.is_none());
    for (code, text) in findings(&report) {
        assert!(text.starts_with("not decided: "), "{code}: {text}");
    }
}

#[test]
fn a_text_that_doubles_does_not_take_all_memory() {
    let field = format!("{CLEAN}\ntext = {{ type = \"string\", default = \"a\" }}");
    let rule = format!(
        "[[on.Stop]]\nguard = \"not event.stop_hook_active\"\nassign = {{ text = \"{{{{ text ~ text }}}}\" }}\n\n{FIRST_RULE}"
    );
    let report = explore(&chart(&[(CLEAN, &field), (FIRST_RULE, &rule)]), &Caps::default());
    assert_eq!(report.cut, None);
    // From there on, the text can be any.
    assert_eq!(findings(&report), []);
}
