//! The way in: an event at a place is decided and carried out, and the trace, if one is kept, tells of it.

use std::path::Path;

use super::perform::{Performed, Place, Stuck, carry_out};
use super::trace;
use crate::engine::event::Event;

/// Decides `event` at `place` and carries the decision out.
pub(crate) fn perform(place: &Place, event: &Event) -> Result<Performed, Stuck> {
    let mut result = carry_out(place, event);
    if let Some(file) = std::env::var_os(trace::VARIABLE).filter(|file| !file.is_empty()) {
        let written = trace::append(Path::new(&file), place, event, &result);
        if let (Err(error), Ok(performed)) = (written, &mut result) {
            performed.warnings.push(format!(
                "the trace {} cannot be written: {error}",
                file.display()
            ));
        }
    }
    result
}
