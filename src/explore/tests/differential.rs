//! Charts made at random, walked at random: what the checker claims must be so in every world.
//!
//! The worlds know nothing of the values that the checker tries: files, tables, events, options and settings are drawn
//! from pools of their own and go through `decide` as the hook calls it. A claim that a walk contradicts fails the
//! test, with the chart and the walk.
//!
//! A few charts are walked in every run. For more:
//! `TASKIE_CHARTS=2000 TASKIE_WALKS=50 cargo test --release --lib differential -- --ignored --nocapture`

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test that panics has failed, which is what it should do"
)]

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value as Json, json};

use crate::chart::embedded::CHARTS;
use crate::chart::{Chart, check, load};
use crate::diagnostic::code::Code;
use crate::diagnostic::toml::Step;
use crate::engine::context::{Context, initial};
use crate::engine::decide::decide;
use crate::engine::decision::{Answer, Decision, Ended, FailedGate, Outcome, Step as Decided};
use crate::engine::event::{Event, Trigger};
use crate::engine::fault::Fault;
use crate::engine::names::Names;
use crate::engine::world::World;
use crate::explore::budget::Caps;
use crate::explore::explore;
use crate::explore::possible_world::{Disk, PossibleWorld, Sibling, event};
use crate::explore::report::{Report, Verdict};
use crate::expr::templates::Templates;
use crate::files::finding::{Finding, Found};

/// Numbers at random, the same for the same seed.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33).unwrap() % end
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<T: Clone>(&mut self, pool: &[T]) -> T {
        pool[self.below(pool.len())].clone()
    }
}

// ── charts ──

const WORDS: &[&str] = &["alpha", "beta", "done", "x"];
const NUMBERS: &[i64] = &[0, 1, 2, 3, 5, 10];
const PHASES: &[&str] = &["one", "two", "three"];

/// Writes a chart.
struct Author {
    random: Random,
    has_cycle: bool,
    in_command: bool,
}

impl Author {
    fn word(&mut self) -> &'static str {
        self.random.pick(WORDS)
    }

    fn number(&mut self) -> i64 {
        self.random.pick(NUMBERS)
    }

    fn order(&mut self) -> &'static str {
        self.random.pick(&["==", "!=", "<", "<=", ">", ">="])
    }

    fn phase(&mut self) -> &'static str {
        self.random.pick(PHASES)
    }

    fn atom(&mut self) -> String {
        let (word, other, number) = (self.word(), self.word(), self.number());
        let (order, phase) = (self.order(), self.phase());
        let input = self.random.pick(&[
            "event.session_id",
            "event.last_assistant_message",
            "event.prompt",
            "event.source",
        ]);
        let mut choice = self.random.below(48);
        if self.in_command && self.random.chance(30) {
            choice = 48 + self.random.below(7);
        } else if self.has_cycle && self.random.chance(20) {
            choice = 55 + self.random.below(8);
        }
        match choice {
            0 | 1 => format!("n {order} {number}"),
            2 => format!("n % {} == {}", number.max(2), self.random.below(2)),
            3 => "b".to_owned(),
            4..=7 => format!("phase == '{phase}'"),
            8 => "event.stop_hook_active".to_owned(),
            9 => "not event.stop_hook_active".to_owned(),
            10 => format!("{input} == '{word}'"),
            11 => format!("'{word}' in {input}"),
            12 => format!("'{word}' in {input} and '{other}' in {input}"),
            13 => format!("{input} in ['{word}', '{other}']"),
            14 => format!("config.phrase in {input}"),
            15 => format!("{input} | length {order} {number}"),
            16 => format!("{input} | trim != ''"),
            17 => format!("t == {input}"),
            18 => "files.a".to_owned(),
            19 => "not files.b".to_owned(),
            20 => format!("files.a | length {order} {number}"),
            21 => format!("files.a and files.a[0].k == '{word}'"),
            22 => format!("files.a and (files.a | last).k == '{word}'"),
            23 => format!("files.a | selectattr('k', 'eq', '{word}') | list"),
            24 => format!("'{word}.md' in files.b | map(attribute='name') | list"),
            25 => format!("files.c and files.c[0].i {order} {number}"),
            26 => "tables.rows.open".to_owned(),
            27 => format!("tables.rows.rows | selectattr('status', 'eq', '{word}') | list"),
            28 => format!("tables.rows.lines {order} {number}"),
            29 => "tables.rows.prose".to_owned(),
            30 => "t in tables.rows.rows | map(attribute='id') | list".to_owned(),
            31 => format!(
                "tables.rows.open | rejectattr('id', 'eq', '{word}') | list | length {order} {number}"
            ),
            32 => format!("config.limit {order} {number}"),
            33 => "n >= config.limit".to_owned(),
            34 => "config.flag".to_owned(),
            35 => format!("t == '{word}'"),
            36 => "t is none".to_owned(),
            37 => "scope.started".to_owned(),
            38 => "git.dirty".to_owned(),
            39 => "siblings".to_owned(),
            40 => format!("siblings | selectattr('context.phase', 'eq', '{phase}') | list"),
            41 => "checks.form".to_owned(),
            42 => format!("now > '{number}'"),
            43 => "session is none".to_owned(),
            44 => format!("event.background_tasks | selectattr('type', 'eq', '{word}') | list"),
            45 => format!("event.background_tasks | length {order} {number}"),
            46 => format!("t is not none and '{word}' in t"),
            47 => format!("lines and lines[0].w == '{word}'"),
            48 => format!("args.word == '{word}'"),
            49 => format!("args.number {order} {number}"),
            50 => "args.on".to_owned(),
            51 => "args.word == t".to_owned(),
            52 => format!("args.number + n {order} {number}"),
            53 => format!("args.word == '{phase}'"),
            54 => "args.number < 0".to_owned(),
            55 => "cycle.due and cycle.n <= cycle.limit".to_owned(),
            56 => "cycle.due".to_owned(),
            57 => "review.ok".to_owned(),
            58 => "review.error is not none".to_owned(),
            59 => format!("review.error is not none and '{word}' in review.error"),
            60 => "cycle.id is none".to_owned(),
            61 => "cycle.owed".to_owned(),
            _ => format!("clean {order} {number}"),
        }
    }

    fn condition(&mut self) -> String {
        let first = self.atom();
        match self.random.below(6) {
            0 => format!("{first} and {}", self.atom()),
            1 => format!("({first}) or ({})", self.atom()),
            2 => format!("not ({first})"),
            _ => first,
        }
    }

    fn integer(&mut self) -> String {
        match self.random.below(if self.in_command { 9 } else { 8 }) {
            0..=2 => "\"{{ n + 1 }}\"".to_owned(),
            3 => self.number().to_string(),
            4 => "\"{{ tables.rows.lines }}\"".to_owned(),
            5 => "\"{{ files.a | length }}\"".to_owned(),
            6 => format!("\"{{{{ 0 if n > {} else n + 1 }}}}\"", self.number()),
            7 => "\"{{ [n, 3] | min }}\"".to_owned(),
            _ => "\"{{ args.number }}\"".to_owned(),
        }
    }

    fn text(&mut self) -> String {
        match self.random.below(if self.in_command { 10 } else { 8 }) {
            0 | 1 => format!("\"{}\"", self.word()),
            2 => "\"{{ event.session_id }}\"".to_owned(),
            3 => "\"{{ none }}\"".to_owned(),
            4 => "\"{{ event.prompt }}\"".to_owned(),
            5 => "\"x-{{ n }}\"".to_owned(),
            6 => format!(
                "\"{{% if {} %}}alpha{{% else %}}beta{{% endif %}}\"",
                self.atom()
            ),
            7 => "\"{{ files.a[0].k if files.a else 'beta' }}\"".to_owned(),
            _ => "\"{{ args.word }}\"".to_owned(),
        }
    }

    fn boolean(&mut self) -> String {
        match self.random.below(4) {
            0 => "true".to_owned(),
            1 => "false".to_owned(),
            2 => "\"{{ not b }}\"".to_owned(),
            _ => format!("\"{{{{ n > {} }}}}\"", self.number()),
        }
    }

    fn assign(&mut self) -> String {
        match self.random.below(3) {
            0 => format!("n = {}", self.integer()),
            1 => format!("t = {}", self.text()),
            _ => format!("b = {}", self.boolean()),
        }
    }

    fn message(&mut self) -> String {
        let atom = self.atom();
        (match self.random.below(7) {
            0 => "{{ t }}".to_owned(),
            1 => "{{ files.a[0].name }}".to_owned(),
            2 => "{{ 10 // n }}".to_owned(),
            3 => format!("{{% if {atom} %}}yes{{% else %}}no{{% endif %}}"),
            4 => "{{ now }} {{ scope.name }}".to_owned(),
            5 => "{{ tables.rows.open | map(attribute='id') | join(', ') }}".to_owned(),
            _ => "go on".to_owned(),
        })
        .to_owned()
    }

    fn rule(&mut self) -> String {
        let mut keys = Vec::new();
        if self.random.chance(85) {
            keys.push(format!("guard = \"{}\"", self.condition()));
        }
        if self.random.chance(40) {
            keys.push(format!("assign = {{ {} }}", self.assign()));
        }
        if self.random.chance(35) {
            keys.push(format!("target = \"{}\"", self.phase()));
        }
        match self.random.below(5) {
            0 => keys.push("allow = true".to_owned()),
            1 | 2 => keys.push(format!("block = \"{}\"", self.message())),
            _ => keys.push(format!("message = \"{}\"", self.message())),
        }
        keys.join("\n")
    }

    fn chart(&mut self) -> String {
        let per_session = self.random.chance(50);
        let scope = if per_session {
            "path = \"sessions/{session}\""
        } else {
            "newest = \"plans/*\"\ntouch = [\"*.md\"]"
        };
        let next = if self.has_cycle {
            "next = \"next_phase\"\n"
        } else {
            ""
        };
        let mut text = format!(
            "id = \"made\"\ninitial = \"one\"\nstate = \"phase\"\n{next}templates = []\n\n[scope]\nhome = \".made\"\nnoun = \"thing\"\n{scope}\n\n\
             [context]\nphase = {{ type = \"phase\" }}\nn = {{ type = \"integer\", minimum = 0, default = 0 }}\n\
             b = {{ type = \"boolean\", default = false }}\nt = {{ type = \"string\", nullable = true{} }}\n",
            if self.random.chance(20) {
                ", pattern = \"[A-Za-z0-9_-]+\""
            } else {
                ""
            },
        );
        if self.has_cycle {
            text += "next_phase = { type = \"phase\", nullable = true }\nreviews = { type = \"integer\", minimum = 0, default = 0 }\n";
            text += &format!(
                "most = {{ type = \"integer\", minimum = 0, default = {} }}\nclean = {{ type = \"integer\", minimum = 0, default = 0 }}\n",
                self.number()
            );
        }
        let least = if self.random.chance(50) {
            ", minimum = 0"
        } else {
            ""
        };
        text += &format!(
            "\n[config]\nlimit = {{ type = \"integer\", minimum = 0, default = {} }}\nflag = {{ type = \"boolean\", default = true }}\n\
             phrase = {{ type = \"string\", default = \"{}\" }}\n\n[args]\nword = {{ type = \"string\", default = \"{}\" }}\n\
             number = {{ type = \"integer\"{least}, positional = true }}\non = {{ type = \"boolean\", default = false }}\n",
            self.random.pick(&[0, 1, 3, 20]),
            self.word(),
            self.word(),
        );
        text += "\n[files]\na = [\"{k}.md\", \"!*.done.md\"]\nb = [\"*.md\"]\nc = [\"c-{i:int}.txt\"]\nl = { names = [\"list.txt\"], line = \"- {w}: {v}\" }\n\
                 \n[tables.rows]\nfile = \"rows.md\"\ncolumns = { id = \"Id\", status = \"Status\" }\nfinished = [\"done\"]\n\
                 \n[let]\nlines = \"files.l[0].lines if files.l else []\"\n";
        text += "\n[phases]\n";
        for (index, phase) in PHASES.iter().enumerate() {
            let mut keys = vec![format!("guard = \"{}\"", self.condition())];
            if self.random.chance(30) {
                keys.push(format!("entry = {{ {} }}", self.assign()));
            }
            if self.has_cycle && index == 0 {
                keys.push("arms = \"loop\"".to_owned());
            }
            if index == 2 && self.random.chance(50) {
                keys.push("type = \"final\"".to_owned());
            }
            text += &format!("{phase} = {{ {} }}\n", keys.join(", "));
        }
        if self.has_cycle {
            text += "\"{cycle}\" = { guard = \"cycle.id is none\" }\n\"post-{cycle}\" = { guard = \"next_phase == it.id\", entry = { next_phase = \"{{ it.cycle }}\" } }\n";
            let exit = self
                .random
                .pick(&[
                    "clean >= 1",
                    "clean >= 2",
                    "clean > 2",
                    "n > 1 or clean >= 1",
                ])
                .to_string();
            text += &format!(
                "\n[cycles.loop]\nbase = \"loop\"\ncount = \"reviews\"\nlimit = \"most\"\nexit = \"{exit}\"\nentry = {{ reviews = 0, clean = 0 }}\n\
                 review = \"{{base}}-review-{{n}}.md\"\nanswer = \"{{base}}-answer-{{n}}.md\"\npost = \"post-{{cycle}}\"\nsubject = [\"text.md\"]\nadvance = [{{ guard = \"{}\", target = \"two\" }}, {{ target = \"three\" }}]\n\
                 \n[invoke.check]\nargv = [\"check\", \"{{{{ n }}}}\"]\nverdicts = [\"PASS\", \"FAIL\"]\nverdict = [\"/verdict\"]\ntimeout = 60\nlog = \".log\"\n",
                self.condition()
            );
        }
        text += &format!(
            "\n[checks]\nform = [{{ guard = \"{}\", say = \"odd\" }}, {{ each = \"files.b\", guard = \"it.name == '{}.md'\", say = \"{{{{ it.name }}}}\" }}]\n",
            self.condition(),
            self.word()
        );
        if self.random.chance(30) {
            text += &format!("\n[[on.Stop]]\n{}\n", self.rule());
        }
        if self.has_cycle {
            let guard = self
                .random
                .pick(&[
                    "cycle.due and cycle.n <= cycle.limit",
                    "cycle.due and cycle.n <= cycle.limit and cycle.ready",
                    "cycle.due and cycle.n < 4",
                ])
                .to_string();
            text += &format!("\n[[on.Stop]]\nguard = \"{guard}\"\ninvoke = \"check\"\n");
            text += "\n[[on.Stop]]\nguard = \"review.ok\"\nassign = { phase = \"{{ cycle.id }}\", reviews = \"{{ review.n }}\", clean = \"{{ clean + 1 if review.verdict == 'PASS' else 0 }}\" }\n";
            text += "\n[[on.Stop]]\nguard = \"review.ok and cycle.exit\"\nadvance = true\nallow = true\n\n[[on.Stop]]\nguard = \"review.ok\"\nassign = { next_phase = \"{{ cycle.post }}\" }\nblock = \"answer\"\n";
            if self.random.chance(50) {
                text += "\n[gates]\ncommands = \"[]\"\ntimeout = 9\nlog = \".gates.log\"\n";
                text += &format!(
                    "\n[[on.Stop]]\nguard = \"gate.failed and gate.times {} {}\"\nblock = \"fix it\"\n",
                    self.random.pick(&["<=", "<", "==", ">="]),
                    self.random.below(12)
                );
            }
        }
        for _ in 0..2 + self.random.below(3) {
            text += &format!("\n[[on.Stop]]\n{}\n", self.rule());
        }
        if self.random.chance(40) {
            text += &format!("\n[[on.SubagentStop]]\n{}\n", self.rule());
        }
        if self.random.chance(40) {
            text += &format!(
                "\n[[on.SessionStart]]\nguard = \"{}\"\nsay = \"{}\"\n",
                self.condition(),
                self.message()
            );
        }
        self.in_command = true;
        for name in ["go", "set"] {
            let mut keys = vec![format!("about = \"{name}\"")];
            if self.random.chance(60) {
                keys.push(format!("guard = \"{}\"", self.condition()));
            }
            if self.random.chance(70) {
                keys.push(format!("assign = {{ {} }}", self.assign()));
            }
            if self.random.chance(40) {
                keys.push(format!("target = \"{}\"", self.phase()));
            }
            if self.random.chance(40) {
                keys.push(format!("say = \"{}\"", self.message()));
            }
            text += &format!("\n[commands.{name}]\n{}\n", keys.join("\n"));
        }
        self.in_command = false;
        for index in 0..2 {
            let key = self
                .random
                .pick(&["never", "always", "reachable"])
                .to_string();
            text += &format!(
                "\n[[properties]]\nabout = \"p{index}\"\n{key} = \"{}\"\n",
                self.condition()
            );
        }
        text
    }
}

fn made(seed: u64) -> Option<(Arc<Chart>, String)> {
    let mut random = Random::new(seed);
    random.below(7);
    let has_cycle = random.chance(40);
    let mut author = Author {
        random,
        has_cycle,
        in_command: false,
    };
    let text = author.chart();
    let chart = match load::from_text("made.toml", &text, Templates::Folders(Vec::new())) {
        Ok(chart) => chart,
        Err(error) => panic!("{error}\n{text}"),
    };
    let is_sound = check::inspect(&chart, &text).flaws.is_empty();
    is_sound.then(|| (Arc::new(chart), text))
}

// ── walks ──

/// One instance in a world that changes at random.
struct Walk<'c> {
    random: &'c mut Random,
    chart: &'c Arc<Chart>,
    claims: &'c Claims,
    context: Context,
    started: bool,
    disk: Disk,
    story: Vec<String>,
    active: bool,
    blocks: usize,
    /// How many times a gate has failed in the same way.
    gate: u64,
    reviews: BTreeMap<String, i64>,
    limit: i64,
}

/// What must never be seen.
#[derive(Default)]
struct Claims {
    fired: HashSet<String>,
    advanced: HashSet<(String, usize)>,
    phases: HashSet<String>,
    finds: HashSet<(String, usize)>,
    decides: bool,
    fits: bool,
    blocks: bool,
    cycles: bool,
    always: Vec<String>,
    never: Vec<String>,
}

impl Claims {
    fn of(chart: &Chart, report: &Report) -> Self {
        let mut claims = Self::default();
        let proved = |code: Code| {
            let mut results = report
                .results
                .iter()
                .filter(|result| result.code == code)
                .peekable();
            results.peek().is_some()
                && results.all(|result| matches!(result.verdict, Verdict::Proved { .. }))
        };
        claims.decides = proved(Code::NoDecision);
        claims.fits = proved(Code::AssignmentMisfit);
        claims.blocks = proved(Code::BlocksInARow);
        claims.cycles = proved(Code::CycleUnbounded);
        for result in &report.results {
            match &result.verdict {
                Verdict::Refuted { path, .. } => {
                    let keys: Vec<String> = path
                        .iter()
                        .map(|step| match step {
                            Step::Key(key) => key.clone(),
                            Step::Index(index) => index.to_string(),
                        })
                        .collect();
                    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
                    match (result.code, keys.as_slice()) {
                        (Code::RuleNeverFires, ["on", list, index, ..]) => {
                            claims.fired.insert(format!("on.{list}[{index}]"));
                        }
                        (Code::CommandNeverApplies, ["commands", name, ..]) => {
                            claims.fired.insert(format!("commands.{name}"));
                        }
                        (Code::PhaseNeverEntered, ["phases", phase, ..])
                            if chart.phases.contains_key(*phase) =>
                        {
                            claims.fired.insert(format!("phases.{phase}"));
                        }
                        (Code::PhaseUnreachable, ["phases", phase, ..])
                            if chart.phases.contains_key(*phase) =>
                        {
                            claims.phases.insert((*phase).to_owned());
                        }
                        (Code::TargetNeverTaken, ["cycles", id, _, index, ..]) => {
                            claims
                                .advanced
                                .insert(((*id).to_owned(), index.parse().unwrap()));
                        }
                        (Code::CheckNeverFinds, ["checks", list, index, ..]) => {
                            claims
                                .finds
                                .insert(((*list).to_owned(), index.parse().unwrap()));
                        }
                        _ => {}
                    }
                }
                Verdict::Proved { .. } if result.code == Code::PropertyRefuted => {
                    let property = chart
                        .properties
                        .iter()
                        .find(|property| property.about == result.name)
                        .unwrap();
                    claims
                        .always
                        .extend(property.always.iter().map(|expr| expr.0.clone()));
                    claims
                        .never
                        .extend(property.never.iter().map(|expr| expr.0.clone()));
                }
                _ => {}
            }
        }
        claims
    }
}

/// Texts of all kinds, which the charts know something of and something not.
fn text_of(random: &mut Random) -> String {
    let word = random.pick(WORDS);
    match random.below(9) {
        0 => String::new(),
        1 => " ".to_owned(),
        2 | 3 => word.to_owned(),
        4 => format!("{word} {}", random.pick(WORDS)),
        5 => format!("say {word}!"),
        6 => (random.pick(&[
            "startup", "compact", "PASS", "one", "two", "loop", "on", "off",
        ]))
        .to_owned(),
        7 => format!("s{}", random.below(4)),
        _ => format!(" {word}"),
    }
}

fn slug_of(random: &mut Random) -> String {
    match random.below(3) {
        0 => random.pick(WORDS).to_owned(),
        1 => format!("{}", random.below(4)),
        _ => format!("k-{}", random.below(3)),
    }
}

fn table_of(random: &mut Random, headings: &[&str]) -> String {
    let mut text = String::new();
    if random.chance(20) {
        text += "# Rows\n\n";
    }
    if random.chance(85) {
        text += &format!(
            "| {} |\n|{}|\n",
            headings.join(" | "),
            vec!["---"; headings.len()].join("|")
        );
        for _ in 0..random.below(5) {
            let cells: Vec<String> = headings
                .iter()
                .map(|heading| {
                    if *heading == "Id" {
                        slug_of(random)
                    } else {
                        text_of(random)
                    }
                })
                .collect();
            text += &format!("| {} |\n", cells.join(" | "));
        }
    }
    for _ in 0..random.below(7) * usize::from(random.chance(40)) {
        text += "\n";
    }
    text
}

fn files_of(
    random: &mut Random,
    chart: &Chart,
    context: &Context,
) -> BTreeMap<String, (String, u64)> {
    let mut files = BTreeMap::new();
    let mut put = |random: &mut Random, name: String, text: String| {
        if !name.is_empty() && !name.starts_with('/') {
            files.insert(name, (text, random.below(5) as u64));
        }
    };
    for set in chart.files.values() {
        for pattern in &set.with {
            if random.chance(45) {
                continue;
            }
            for _ in 0..1 + random.below(3) {
                let name = pattern.render(|hole| {
                    let words = pattern.holes().find_map(|(name, kind)| match kind {
                        crate::files::pattern::HoleKind::OneOf(words) if name == hole => {
                            Some(words.to_vec())
                        }
                        _ => None,
                    });
                    Ok::<_, ()>(match words {
                        Some(words) => random.pick(&words),
                        None if hole == "i" || hole == "n" => random.below(12).to_string(),
                        None => slug_of(random),
                    })
                });
                let name = name
                    .unwrap()
                    .replace("**/", "")
                    .replace('*', &slug_of(random));
                let lines = (0..random.below(3))
                    .map(|_| format!("- {}: {}\n", random.pick(WORDS), random.below(3)));
                let text = lines.collect();
                put(random, name, text);
            }
        }
    }
    for table in chart.tables.values() {
        let file = table.file.render(|hole| match context.get(hole) {
            Some(Json::String(text)) => Ok(text.clone()),
            _ => Err(()),
        });
        if let (Ok(file), true) = (file, random.chance(75)) {
            let text = match &table.rows {
                crate::chart::RowShape::Columns(columns) => {
                    let headings: Vec<&str> = columns
                        .values()
                        .filter_map(|names| names.first())
                        .map(String::as_str)
                        .collect();
                    table_of(random, &headings)
                }
                crate::chart::RowShape::Line(line) => {
                    let lines = (0..random.below(60)).map(|_| {
                        line.render(|_| {
                            Ok::<_, ()>(
                                (random.pick(&["Overview", "done", "alpha", "pending"])).to_owned(),
                            )
                        })
                        .unwrap()
                            + "\n"
                    });
                    lines.collect()
                }
            };
            put(random, file, text);
        }
    }
    for cycle in chart.cycles.values() {
        for pattern in [&cycle.review, &cycle.answer] {
            let n = context
                .get(&cycle.count)
                .and_then(Json::as_i64)
                .unwrap_or(0);
            let field = |hole: &str| match context.get(hole) {
                Some(Json::String(text)) => Ok(text.clone()),
                _ => Err(()),
            };
            let name = pattern.render(|hole| match hole {
                "base" => cycle.base.render(field),
                "n" => Ok(n.to_string()),
                other => field(other),
            });
            if let (Ok(name), true) = (name, random.chance(70)) {
                put(random, name, String::new());
            }
        }
    }
    for name in ["text.md", "plan.md", "a.done.md", "list.txt", "deep/er.md"] {
        if random.chance(25) {
            put(random, name.to_owned(), "- alpha: 1\n- x: 2\n".to_owned());
        }
    }
    files
}

impl<'c> Walk<'c> {
    fn contradiction(&self, what: &str) -> String {
        format!("{what}\n{}", self.story.join("\n"))
    }

    /// Changes what lies on the disk, or some of it.
    fn change(&mut self) {
        let chart = self.chart;
        if self.random.chance(60) {
            self.disk.files = files_of(self.random, chart, &self.context);
        }
        if self.random.chance(30) {
            self.disk.dirty = !self.disk.dirty;
        }
        self.disk.now = format!(
            "2026010{}T00000{}",
            self.random.below(9),
            self.random.below(9)
        );
        if self.random.chance(15) {
            for (name, field) in &chart.config {
                let value = match field.kind {
                    crate::chart::model::FieldType::Boolean => json!(self.random.chance(50)),
                    crate::chart::model::FieldType::Integer => json!(self.random.below(25)),
                    _ => json!(text_of(self.random)),
                };
                if field.accepts(&chart.phases, &value).is_ok() {
                    self.disk.config.insert(name.clone(), value);
                }
            }
        }
        if self.random.chance(40) {
            let count = self.random.below(3);
            self.disk.siblings = (0..count)
                .map(|index| {
                    let mut context = initial(chart);
                    context.insert(
                        chart.state.clone(),
                        json!(
                            chart
                                .phases
                                .keys()
                                .nth(self.random.below(chart.phases.len()))
                                .unwrap()
                        ),
                    );
                    let files = files_of(self.random, chart, &context);
                    Sibling {
                        name: format!("s{index}"),
                        context: self.random.chance(85).then_some(context),
                        files: files
                            .into_iter()
                            .map(|(name, (text, _))| (name, text))
                            .collect(),
                        idle_hours: self.random.below(200) as u64,
                    }
                })
                .collect();
        }
    }

    fn event(&mut self) -> Event {
        let chart = self.chart;
        let hooks: Vec<&String> = chart
            .on
            .keys()
            .filter(|name| !matches!(name.as_str(), "enter" | "run" | "next"))
            .collect();
        let mut session = text_of(self.random);
        if chart.scope.is_per_session() && session.is_empty() {
            session = "s1".to_owned();
        }
        let mut fields = Map::new();
        // An agent that does nothing stops again and again, which shows how often a gate blocks.
        let is_idle = self.gate > 0 && self.blocks > 0 && self.random.chance(90);
        match self.random.below(10) {
            hook if hook <= 5 || is_idle => {
                let name = if is_idle || self.random.chance(70) {
                    "Stop".to_owned()
                } else {
                    (self.random.pick(&hooks)).clone()
                };
                fields.insert("session_id".to_owned(), json!(session));
                for key in ["last_assistant_message", "prompt", "source", "trigger"] {
                    if self.random.chance(70) {
                        fields.insert(key.to_owned(), json!(text_of(self.random)));
                    }
                }
                let tasks: Vec<Json> = (0..self.random.below(4)).map(|_| json!({ "type": self.random.pick(&["alpha", "beta", "shell", "x"]), "id": "1" })).collect();
                fields.insert("background_tasks".to_owned(), json!(tasks));
                if name == "Stop" {
                    fields.insert("stop_hook_active".to_owned(), json!(self.active));
                }
                event(Trigger::Hook(name), fields)
            }
            6 | 7 => {
                let phase = chart
                    .phases
                    .keys()
                    .nth(self.random.below(chart.phases.len()))
                    .unwrap()
                    .clone();
                self.with_options(Trigger::Enter {
                    phase,
                    force: false,
                })
            }
            _ if chart.commands.is_empty() => event(Trigger::Hook("Stop".to_owned()), fields),
            _ => {
                let name = chart
                    .commands
                    .keys()
                    .nth(self.random.below(chart.commands.len()))
                    .unwrap()
                    .clone();
                self.with_options(Trigger::Command(name))
            }
        }
    }

    fn with_options(&mut self, trigger: Trigger) -> Event {
        let mut event = event(trigger, Map::new());
        let needs_session = self.chart.scope.is_per_session();
        event.session =
            (needs_session || self.random.chance(50)).then(|| format!("s{}", self.random.below(3)));
        for (name, arg) in &self.chart.args {
            if arg.default.is_some() && self.random.chance(50) {
                continue;
            }
            let value = match arg.kind {
                crate::chart::model::FieldType::Boolean => json!(self.random.chance(50)),
                crate::chart::model::FieldType::Integer => {
                    let least = arg.minimum.unwrap_or(-3);
                    json!(least + self.random.below(15) as i64)
                }
                _ => json!(text_of(self.random)),
            };
            event.args.insert(name.clone(), value);
        }
        event
    }

    fn world(&self) -> Arc<PossibleWorld> {
        Arc::new(PossibleWorld {
            chart: Arc::clone(self.chart),
            context: self.context.clone(),
            started: self.started,
            disk: self.disk.clone(),
        })
    }

    fn step(&mut self) -> Result<(), String> {
        self.change();
        let event = self.event();
        let world: Arc<dyn World> = self.world();
        self.story.push(format!(
            "{:?} {} {:?} session {:?}\n  files {:?} config {:?}",
            event.trigger,
            event.fields,
            event.args,
            event.session,
            self.disk.files,
            self.disk.config
        ));
        let decision = match self.decide(&world, &event) {
            Ok(decision) => decision,
            Err(Fault::Argument { .. }) => return Ok(()),
            Err(fault) => {
                let is_misfit = matches!(fault, Fault::Assignment { .. });
                let is_claimed = if is_misfit {
                    self.claims.fits && self.claims.decides
                } else {
                    self.claims.decides
                };
                return if is_claimed {
                    Err(self
                        .contradiction(&format!("every event leads to a decision, but {fault}")))
                } else {
                    Ok(())
                };
            }
        };
        self.look(&event, &decision)?;
        self.context.extend(decision.patch.clone());
        self.started |= !decision.patch.is_empty();
        self.story.push(format!(
            "  → {:?} fires {:?}, {:?}, now {:?}",
            decision.answer,
            decision
                .fired
                .iter()
                .map(|fired| &fired.place)
                .collect::<Vec<_>>(),
            decision.ended.as_ref().map(|ended| &ended.outcome),
            self.context
        ));
        self.look_at_state(&event)
    }

    fn decide(&mut self, world: &Arc<dyn World>, event: &Event) -> Result<Decision, Fault> {
        let mut step = decide(self.chart, world, event, None)?;
        if let Decided::Invoke(invocation) = &step {
            let invoke = &self.chart.invoke[&invocation.name];
            // While the agent does nothing, a gate fails as it has failed before.
            let fails_again = self.gate > 0 && self.blocks > 0;
            let has_gates = self.chart.gates.is_some();
            let fails = has_gates && (fails_again || self.random.below(4) == 0);
            self.gate = match fails {
                true if fails_again || self.random.chance(50) => self.gate + 1,
                true => 1,
                false => 0,
            };
            let outcome = match self.random.below(6) {
                _ if fails => Outcome::Gate(FailedGate {
                    command: text_of(self.random),
                    why: text_of(self.random),
                    output: text_of(self.random),
                    times: self.gate,
                }),
                0 => Outcome::Failed(format!("it failed: {}", text_of(self.random))),
                1 => Outcome::Ran {
                    verdict: None,
                    found: Found::default(),
                },
                _ => Outcome::Ran {
                    verdict: Some(self.random.pick(&invoke.verdicts)),
                    found: self.found(),
                },
            };
            let ended = Ended::new((**invocation).clone(), outcome);
            step = decide(self.chart, world, event, Some(ended))?;
        }
        match step {
            Decided::Done(decision) => Ok(decision),
            Decided::Invoke(_) => unreachable!("a call with an outcome asks for no run"),
        }
    }

    /// Nothing, or a finding of some severity.
    fn found(&mut self) -> Found {
        let mut found = Found::default();
        let severities = &self.chart.findings.severities;
        if !severities.is_empty() && self.random.below(2) == 0 {
            found.findings.push(Finding {
                severity: self.random.pick(severities),
                file: None,
                line: None,
                title: text_of(self.random),
            });
        }
        found
    }

    /// Compares one decision with the claims.
    fn look(&mut self, event: &Event, decision: &Decision) -> Result<(), String> {
        for fired in &decision.fired {
            if self.claims.fired.contains(&fired.place) {
                return Err(self.contradiction(&format!("{} fires", fired.place)));
            }
            if fired
                .advance
                .as_ref()
                .is_some_and(|advance| self.claims.advanced.contains(advance))
            {
                return Err(self.contradiction(&format!("{:?} is taken", fired.advance)));
            }
        }
        let is_stop = event.trigger == Trigger::Hook("Stop".to_owned());
        let blocks = matches!(decision.answer, Answer::Block(_));
        if is_stop {
            self.active = blocks;
        }
        // What the agent or the user does is no longer doing nothing.
        match (&event.trigger, blocks) {
            (Trigger::Hook(_), true) => self.blocks += 1,
            (Trigger::Hook(_), false) if !is_stop => {}
            _ => self.blocks = 0,
        }
        let limits = self
            .chart
            .cycles
            .values()
            .filter_map(|cycle| self.context.get(&cycle.limit)?.as_i64());
        self.limit = self.limit.max(limits.max().unwrap_or(0));
        for cycle in self.chart.cycles.values() {
            let starts = decision.fired.iter().any(|fired| {
                let entered = fired
                    .place
                    .strip_prefix("phases.")
                    .and_then(|name| self.chart.phases.get(name));
                let armed = entered.and_then(|entry| entry.phase.arms.as_ref()) == Some(&cycle.id);
                let led = fired.advance.as_ref().is_some_and(|(from, index)| {
                    self.chart.cycles[from].advance[*index].target == cycle.id
                });
                armed || led
            });
            if starts
                || !matches!(event.trigger, Trigger::Hook(_))
                    && decision.patch.contains_key(&cycle.count)
            {
                self.reviews.remove(&cycle.id);
                self.limit = 0;
            }
        }
        if let Some(Ended {
            invocation,
            outcome: Outcome::Ran { .. },
            ..
        }) = &decision.ended
        {
            let reviews = self.reviews.entry(invocation.cycle.clone()).or_default();
            *reviews += 1;
            if self.claims.cycles && *reviews > self.limit {
                let reviews = *reviews;
                return Err(self.contradiction(&format!(
                    "{} has {reviews} reviews, the limit was {} at most",
                    invocation.cycle, self.limit
                )));
            }
        }
        Ok(())
    }

    fn look_at_state(&mut self, event: &Event) -> Result<(), String> {
        let phase = self.context[&self.chart.state].as_str().unwrap_or_default();
        if self.claims.phases.contains(phase) {
            return Err(self.contradiction(&format!("the phase {phase} is reached")));
        }
        for (name, field) in &self.chart.context {
            if let (true, Err(why)) = (
                self.claims.fits,
                field.accepts(&self.chart.phases, &self.context[name]),
            ) {
                return Err(self.contradiction(&format!("{name} is {why}")));
            }
        }
        let world: Arc<dyn World> = self.world();
        let names = Names::new(self.chart, &world, event);
        for (exprs, expected) in [(&self.claims.always, true), (&self.claims.never, false)] {
            for expr in exprs {
                if names.expressions.holds(expr, &names.root()) != Ok(expected) {
                    return Err(self.contradiction(&format!("`{expr}` is not {expected}")));
                }
            }
        }
        for (list, index) in &self.claims.finds {
            let mut found = Vec::new();
            if names
                .find(&self.chart.checks[list][*index], &mut found)
                .is_ok()
                && !found.is_empty()
            {
                return Err(self.contradiction(&format!("checks.{list}[{index}] finds {found:?}")));
            }
        }
        Ok(())
    }
}

/// How much was tried.
#[derive(Debug, Default)]
struct Tally {
    charts: usize,
    walks: usize,
    steps: usize,
    proved: usize,
    refuted: usize,
    open: usize,
}

/// Explores a chart and walks it; the contradiction, where there is one.
fn compare(chart: &Arc<Chart>, seed: u64, walks: usize, tally: &mut Tally) -> Result<(), String> {
    let report = explore(
        chart,
        &Caps {
            states: 3_000,
            time: Duration::from_secs(3),
            ..Caps::default()
        },
    );
    for result in &report.results {
        match result.verdict {
            Verdict::Proved { .. } => tally.proved += 1,
            Verdict::Refuted { .. } => tally.refuted += 1,
            Verdict::Undecided { .. } => tally.open += 1,
        }
    }
    let claims = Claims::of(chart, &report);
    tally.charts += 1;
    let mut random = Random::new(seed);
    for _ in 0..walks {
        let mut walk = Walk {
            context: initial(chart),
            random: &mut random,
            chart,
            claims: &claims,
            started: false,
            disk: Disk::default(),
            story: Vec::new(),
            active: false,
            blocks: 0,
            gate: 0,
            reviews: BTreeMap::new(),
            limit: 0,
        };
        tally.walks += 1;
        for _ in 0..24 {
            tally.steps += 1;
            walk.step()?;
        }
    }
    Ok(())
}

fn run(seeds: impl Iterator<Item = u64>, walks: usize) -> (Tally, BTreeSet<u64>) {
    let mut tally = Tally::default();
    let mut failed = BTreeSet::new();
    for seed in seeds {
        let Some((chart, text)) = made(seed) else {
            continue;
        };
        if let Err(why) = compare(&chart, seed, walks, &mut tally) {
            if failed.is_empty() || std::env::var_os("TASKIE_ALL").is_some() {
                let lines: Vec<&str> = why.lines().collect();
                let last = lines.len().saturating_sub(14);
                eprintln!(
                    "chart {seed}: {}\n…\n{}\n{text}",
                    lines[0],
                    lines[last..].join("\n")
                );
            } else {
                eprintln!("chart {seed}: {}", why.lines().next().unwrap_or_default());
            }
            failed.insert(seed);
        }
    }
    (tally, failed)
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

#[test]
fn no_walk_contradicts_a_claim() {
    let (tally, failed) = run(0..60, 8);
    assert!(failed.is_empty(), "charts {failed:?}");
    assert!(tally.charts > 10 && tally.proved > 50, "{tally:?}");
}

#[test]
fn no_walk_of_the_shipped_charts_contradicts_a_claim() {
    let mut tally = Tally::default();
    for embedded in CHARTS {
        let chart = Arc::new(embedded.load().unwrap_or_else(|error| panic!("{error}")));
        if let Err(why) = compare(&chart, 1, 30, &mut tally) {
            panic!("{}: {why}", chart.id);
        }
    }
    let text = include_str!("../../../examples/ralph/statechart.toml");
    let templates = Templates::Folders(vec![Path::new("examples/ralph").to_owned()]);
    let chart = Arc::new(load::from_text("ralph", text, templates).unwrap());
    compare(&chart, 1, 100, &mut tally).unwrap_or_else(|why| panic!("ralph: {why}"));
}

#[test]
#[ignore = "takes minutes"]
fn no_walk_of_many_contradicts_a_claim() {
    let first = number("TASKIE_SEED", 1_000);
    let (tally, failed) = run(
        first..first + number("TASKIE_CHARTS", 2_000),
        number("TASKIE_WALKS", 50) as usize,
    );
    eprintln!("{tally:?}");
    assert!(failed.is_empty(), "{} charts: {failed:?}", failed.len());
}
