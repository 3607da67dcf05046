//! What `--explain` tells of each code: the page of that name in `docs/rules`, compiled in. The list of all
//! pages, `docs/rules/README.md`, is made of the same table.

use crate::diagnostic::code::Code;

/// One code and its page.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    pub code: Code,
    /// Markdown: a heading, what it is in one sentence, why it hurts, a wrong and a right example.
    pub text: &'static str,
}

macro_rules! rules {
    ($($variant:ident: $code:literal,)*) => {
        /// All codes with their pages, in the order of the documentation.
        pub const RULES: &[Rule] = &[
            $(Rule { code: Code::$variant, text: include_str!(concat!("../../docs/rules/", $code, ".md")) },)*
        ];
    };
}

rules! {
    TomlSyntax: "toml-syntax",
    UnknownKey: "unknown-key",
    MissingKey: "missing-key",
    ConflictingKeys: "conflicting-keys",
    DuplicateEntry: "duplicate-entry",
    WrongType: "wrong-type",
    BadPattern: "bad-pattern",
    BadDefault: "bad-default",
    UnknownPhase: "unknown-phase",
    UnknownCycle: "unknown-cycle",
    UnknownField: "unknown-field",
    UnknownEvent: "unknown-event",
    UnknownInvocation: "unknown-invocation",
    UnknownCommand: "unknown-command",
    UnknownTemplate: "unknown-template",
    UnknownName: "unknown-name",
    UnknownFilter: "unknown-filter",
    UnknownTest: "unknown-test",
    ExpressionSyntax: "expression-syntax",
    SelfReference: "self-reference",
    BadName: "bad-name",
    NotACondition: "not-a-condition",
    UnlikeTypes: "unlike-types",
    WrongOperand: "wrong-operand",
    WrongAssignment: "wrong-assignment",
    ConstantGuard: "constant-guard",
    IdleRule: "idle-rule",
    ShadowedRule: "shadowed-rule",
    ShadowedTarget: "shadowed-target",
    AdvanceRunsOut: "advance-runs-out",
    NoFinal: "no-final",
    UnusedName: "unused-name",
    UnusedTemplate: "unused-template",
    UnusedIgnore: "unused-ignore",
    NoDecision: "no-decision",
    AssignmentMisfit: "assignment-misfit",
    PhaseUnreachable: "phase-unreachable",
    PhaseNeverEntered: "phase-never-entered",
    RuleNeverFires: "rule-never-fires",
    CommandNeverApplies: "command-never-applies",
    TargetNeverTaken: "target-never-taken",
    CheckNeverFinds: "check-never-finds",
    DeadEnd: "dead-end",
    FinalOutOfReach: "final-out-of-reach",
    CycleUnbounded: "cycle-unbounded",
    CycleFallsShort: "cycle-falls-short",
    BlocksInARow: "blocks-in-a-row",
    BlockLoop: "block-loop",
    PropertyRefuted: "property-refuted",
    DeadlineTooLong: "deadline-too-long",
    MessageTooLong: "message-too-long",
    Toml11: "toml-1-1",
}

impl Rule {
    /// The page's first sentence after its heading.
    pub fn summary(&self) -> &'static str {
        self.text
            .lines()
            .skip(1)
            .find(|line| !line.trim().is_empty())
            .unwrap_or_default()
    }

    /// The page, for a terminal.
    pub fn explain(&self) -> String {
        self.text.trim_end().to_owned()
    }
}
