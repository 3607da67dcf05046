//! The codes of everything `check-chart` finds. They are stable: scripts and ignores name them.

macro_rules! codes {
    ($($variant:ident = $text:literal,)*) => {
        /// What kind of thing is wrong with a chart.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code { $($variant,)* }

        impl Code {
            /// All codes, in the order of the documentation.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The code as it is written: kebab-case.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }
    };
}

codes! {
    // What the file is.
    TomlSyntax = "toml-syntax",
    UnknownKey = "unknown-key",
    MissingKey = "missing-key",
    ConflictingKeys = "conflicting-keys",
    DuplicateEntry = "duplicate-entry",
    WrongType = "wrong-type",
    BadPattern = "bad-pattern",
    BadDefault = "bad-default",
    BadName = "bad-name",
    Unreadable = "unreadable",
    // Names that lead nowhere.
    UnknownPhase = "unknown-phase",
    UnknownCycle = "unknown-cycle",
    UnknownField = "unknown-field",
    UnknownEvent = "unknown-event",
    UnknownInvocation = "unknown-invocation",
    UnknownCommand = "unknown-command",
    UnknownTemplate = "unknown-template",
    UnknownName = "unknown-name",
    UnknownFilter = "unknown-filter",
    UnknownTest = "unknown-test",
    // Expressions, texts and assignments.
    ExpressionSyntax = "expression-syntax",
    NotACondition = "not-a-condition",
    UnlikeTypes = "unlike-types",
    WrongOperand = "wrong-operand",
    WrongAssignment = "wrong-assignment",
    SelfReference = "self-reference",
    // What can never matter, and what is missing.
    ConstantGuard = "constant-guard",
    IdleRule = "idle-rule",
    ShadowedRule = "shadowed-rule",
    ShadowedTarget = "shadowed-target",
    AdvanceRunsOut = "advance-runs-out",
    NoFinal = "no-final",
    UnusedName = "unused-name",
    UnusedTemplate = "unused-template",
    UnusedIgnore = "unused-ignore",
    // What exploring every state refutes.
    NoDecision = "no-decision",
    AssignmentMisfit = "assignment-misfit",
    PhaseUnreachable = "phase-unreachable",
    PhaseNeverEntered = "phase-never-entered",
    RuleNeverFires = "rule-never-fires",
    CommandNeverApplies = "command-never-applies",
    TargetNeverTaken = "target-never-taken",
    CheckNeverFinds = "check-never-finds",
    DeadEnd = "dead-end",
    FinalOutOfReach = "final-out-of-reach",
    CycleUnbounded = "cycle-unbounded",
    CycleFallsShort = "cycle-falls-short",
    BlocksInARow = "blocks-in-a-row",
    BlockLoop = "block-loop",
    PropertyRefuted = "property-refuted",
    // What the host and other tools do not take.
    DeadlineTooLong = "deadline-too-long",
    MessageTooLong = "message-too-long",
    Toml11 = "toml-1-1",
}

impl Code {
    /// The codes of what decides otherwise than it says: what exploring finds would be the same once more.
    pub const FIRST: &[Self] = &[
        Self::DuplicateEntry,
        Self::ConstantGuard,
        Self::IdleRule,
        Self::ShadowedRule,
        Self::ShadowedTarget,
        Self::AdvanceRunsOut,
        Self::NoFinal,
    ];

    /// The codes of what only exploring finds.
    pub const EXPLORED: &[Self] = &[
        Self::NoDecision,
        Self::AssignmentMisfit,
        Self::PhaseUnreachable,
        Self::PhaseNeverEntered,
        Self::RuleNeverFires,
        Self::CommandNeverApplies,
        Self::TargetNeverTaken,
        Self::CheckNeverFinds,
        Self::DeadEnd,
        Self::FinalOutOfReach,
        Self::CycleUnbounded,
        Self::CycleFallsShort,
        Self::BlocksInARow,
        Self::BlockLoop,
        Self::PropertyRefuted,
    ];
}

impl std::fmt::Display for Code {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.as_str())
    }
}
