//! Sums of what was billed on each day: what stays for good of sessions whose detail is pruned.

use std::collections::BTreeMap;

use crate::domain::charge::DaySum;
use crate::domain::meters::Spend;
use crate::error::Result;
use crate::store::Store;

/// The sums of one day: by project, by model.
type Day = BTreeMap<String, BTreeMap<String, Spend>>;

const PREFIX: &str = "x/sum/";

impl Store {
    /// Adds to the sums of days.
    pub fn add_sums(&self, sums: impl IntoIterator<Item = DaySum>) -> Result<()> {
        let mut days: BTreeMap<String, Day> = BTreeMap::new();
        for sum in sums {
            let name = format!("{PREFIX}{}", sum.day);
            if !days.contains_key(&name) {
                days.insert(name.clone(), self.get(&name)?.unwrap_or_default());
            }
            let of_project = days.entry(name).or_default().entry(sum.project).or_default();
            *of_project.entry(sum.model).or_default() += sum.spend;
        }
        days.iter().try_for_each(|(name, day)| self.put(name, day))
    }

    /// Returns all sums, the oldest day's first.
    pub fn sums(&self) -> Result<Vec<DaySum>> {
        let mut sums = Vec::new();
        for (name, body) in self.below(PREFIX)? {
            let day: Day = body.read(&name)?;
            for (project, models) in day {
                sums.extend(models.into_iter().map(|(model, spend)| DaySum {
                    day: name.clone(),
                    project: project.clone(),
                    model,
                    spend,
                }));
            }
        }
        Ok(sums)
    }
}
