//! How much memory this process has.

/// Returns the bytes that are resident: this system is not asked.
pub(crate) fn memory() -> Option<usize> {
    None
}
