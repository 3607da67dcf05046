//! The settings that the program itself reads, where a chart has them.

use super::kind::FieldType;

/// What all reviews of a plan, or of a change until it is clean, may cost in US dollars. A review without a known cost adds
/// nothing.
pub const MAX_COST: &str = "max_cost_usd";

/// What one review may cost: it is passed to a reviewer that can keep to it.
pub const MAX_COST_REVIEW: &str = "max_cost_usd_review";

/// The files that reviews of code are not about, as patterns of git.
pub const SKIP: &str = "skip";

/// How many seconds a review may take. A review that may take longer than the hook has is not started.
pub const REVIEW_TIMEOUT: &str = "review_timeout";

/// The same where a chart has no such setting.
pub const DEFAULT_TIMEOUT: u64 = 570;

/// The commands that must succeed before a review of code.
pub const GATES: &str = "gates";

/// `restricted`: a reviewer whose vendor the program knows may do little more than read, as it may without this setting.
pub const PERMISSIONS: &str = "permissions";

/// Where the receipts of reviews are kept.
pub const RECEIPTS: &str = "receipts";

/// Each session has a change of its own, from its first prompt on. What it changes from then on is reviewed at its stops,
/// without being asked.
pub const EVERY_STOP: &str = "every_stop";

/// The field of the state with the commit that a change is compared with.
pub const BASE: &str = "base";

/// All settings, with the types that they may have.
pub const KNOWN: [(&str, &[FieldType]); 8] = [
    (MAX_COST, &[FieldType::Amount, FieldType::Integer]),
    (MAX_COST_REVIEW, &[FieldType::Amount, FieldType::Integer]),
    (SKIP, &[FieldType::List]),
    (REVIEW_TIMEOUT, &[FieldType::Integer]),
    (GATES, &[FieldType::List]),
    (PERMISSIONS, &[FieldType::String]),
    (RECEIPTS, &[FieldType::String]),
    (EVERY_STOP, &[FieldType::Boolean]),
];
