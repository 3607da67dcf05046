//! The codes of everything `check-chart` finds. They are stable: scripts name them.
//!
//! A code is declared here once, in the order of the documentation: its name, which is also that of its section
//! in `docs/rules.md`, and when it is found.

/// When a code is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// While the file is read, or its names and expressions are resolved.
    Load,
    /// By a lint rule about something that makes no difference to the states, see [`crate::check::lint`].
    Advice,
    /// By exploring every state.
    Explore,
}

macro_rules! codes {
    ($($variant:ident = $text:literal in $stage:ident,)*) => {
        /// One kind of flaw in a chart.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code { $(#[doc = concat!("`", $text, "`")] $variant,)* }

        impl Code {
            /// All codes, in the order of the documentation.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Returns the code as it is written: kebab-case.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// Returns when it is found.
            pub fn stage(self) -> Stage {
                match self { $(Self::$variant => Stage::$stage,)* }
            }

        }
    };
}

codes! {
    // What the file is.
    Unreadable = "unreadable" in Load,
    TomlSyntax = "toml-syntax" in Load,
    Misfit = "misfit" in Load,
    MissingKey = "missing-key" in Load,
    ConflictingKeys = "conflicting-keys" in Load,
    WrongType = "wrong-type" in Load,
    OverridesNothing = "overrides-nothing" in Load,
    BadPattern = "bad-pattern" in Load,
    BadDefault = "bad-default" in Load,
    // Unknown names.
    UnknownPhase = "unknown-phase" in Load,
    UnknownCycle = "unknown-cycle" in Load,
    UnknownField = "unknown-field" in Load,
    UnknownEvent = "unknown-event" in Load,
    UnknownInvocation = "unknown-invocation" in Load,
    UnknownCommand = "unknown-command" in Load,
    UnknownTemplate = "unknown-template" in Load,
    UnknownName = "unknown-name" in Load,
    UnknownFilter = "unknown-filter" in Load,
    UnknownTest = "unknown-test" in Load,
    // Expressions, texts and assignments.
    ExpressionSyntax = "expression-syntax" in Load,
    SelfReference = "self-reference" in Load,
    BadName = "bad-name" in Load,
    NotACondition = "not-a-condition" in Load,
    UnlikeTypes = "unlike-types" in Load,
    WrongOperand = "wrong-operand" in Load,
    WrongAssignment = "wrong-assignment" in Load,
    // What has no effect, and what is missing.
    NoFinal = "no-final" in Explore,
    UnusedName = "unused-name" in Advice,
    UnusedTemplate = "unused-template" in Advice,
    // What exploring every state refutes.
    NoDecision = "no-decision" in Explore,
    AssignmentMisfit = "assignment-misfit" in Explore,
    PhaseUnreachable = "phase-unreachable" in Explore,
    PhaseNeverEntered = "phase-never-entered" in Explore,
    RuleNeverFires = "rule-never-fires" in Explore,
    CommandNeverApplies = "command-never-applies" in Explore,
    TargetNeverTaken = "target-never-taken" in Explore,
    DeadEnd = "dead-end" in Explore,
    FinalOutOfReach = "final-out-of-reach" in Explore,
    CycleUnbounded = "cycle-unbounded" in Explore,
    CycleFallsShort = "cycle-falls-short" in Explore,
    BlocksInARow = "blocks-in-a-row" in Explore,
    PropertyRefuted = "property-refuted" in Explore,
}

impl Code {
    /// Returns the code of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.as_str() == name)
    }

    /// Returns its section in the documentation: a sentence that says what it is, why it hurts, and an example.
    pub fn page(self) -> &'static str {
        let mut sections = include_str!("../../docs/rules.md").split("\n## ");
        let is_own = |section: &&str| section.lines().next() == Some(self.as_str());
        // A test looks for each of them.
        sections.find(is_own).unwrap_or_default()
    }
}

impl std::fmt::Display for Code {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.as_str())
    }
}
