//! What people have said: the settings, their own prompts, and who drives the instance.

use std::path::Path;

use minijinja::value::Value;

use super::{Snapshot, bound};
use crate::chart::Chart;
use crate::disk;
use crate::engine::context::{self, Context};
use crate::engine::fault::Fault;
use crate::project::trust;
use crate::store::driver;
use crate::text::full_stop;

impl Snapshot {
    /// Returns the settings. One wrong value makes all of them unusable: no decision is based on a guess.
    pub(crate) fn config(&self) -> Result<&Context, Fault> {
        let config = self.config.get_or_init(|| {
            let settings = match (self.place.settings(), &self.bounds) {
                (Ok(settings), _) => settings,
                // The review has been paid for, and these are the settings that it was started with.
                (Err(why), Some(bounds)) => {
                    let end = full_stop(&why);
                    self.warn(format!(
                        "{why}{end} The settings from before the review count for it."
                    ));
                    return Ok(bounds.clone());
                }
                (Err(why), None) => return Err(why),
            };
            for warning in &settings.warnings {
                self.warn(warning.clone());
            }
            let mut values = settings.values();
            if let Some(bounds) = &self.bounds {
                bound(&mut values, bounds, &self.place.chart.config);
            }
            Ok(values)
        });
        config.as_ref().map_err(|why| Fault::File(why.clone()))
    }

    /// Returns the user's own text of a prompt.
    pub(super) fn prompt(&self, name: &str) -> Result<Value, Fault> {
        let file = Chart::prompt_file(name);
        let shown = Path::new(&self.place.chart.scope.home).join(&file);
        let unusable = |why: String| Fault::File(format!("{}: {why}", shown.display()));
        let Some(bytes) = disk::read(&self.place.root, &self.place.root.join(&shown))
            .map_err(|error| unusable(format!("it cannot be read: {error}")))?
        else {
            return Ok(Value::from(()));
        };
        let text = String::from_utf8(bytes).map_err(|_| unusable("it is not UTF-8".to_owned()))?;
        Ok(Value::from(text))
    }

    /// Returns who drives the instance, from the point of view of `session`.
    pub(super) fn driver(&self, session: Option<&str>) -> Value {
        match driver::of(self.place.journal()) {
            None => Value::from(()),
            Some(driver) if Some(driver.as_str()) == session => Value::from("this"),
            Some(_) => Value::from("other"),
        }
    }

    /// Returns one setting as expressions see it: of a file, its text.
    pub(super) fn setting(&self, name: &str) -> Result<Value, Fault> {
        Ok(match self.config()?.get(name) {
            Some(serde_json::Value::String(path))
                if self.place.chart.config.get(name).is_some_and(|field| field.is_file()) =>
            {
                let part = trust::read(&self.place.root, Path::new(path))
                    .map_err(|why| Fault::File(format!("`{name}`: {why}")))?;
                Value::from(String::from_utf8_lossy(&part.content).trim_end())
            }
            value => value.map_or_else(|| Value::from(()), context::to_value),
        })
    }
}
