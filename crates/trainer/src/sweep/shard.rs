//! Parts of a sweep, for many machines.

use std::env;
use std::ops::Range;
use std::str::FromStr;

use crate::Failure;

/// One of `count` parts of a sweep, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: usize,
    count: usize,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no shard; write I/N with I from 1 to N, such as 1/7");
        let (index, count) = text.split_once('/').ok_or_else(wrong)?;
        let number = |text: &str| text.trim().parse::<usize>().map_err(|_| wrong());
        let (index, count) = (number(index)?, number(count)?);
        if index == 0 || index > count {
            return Err(wrong());
        }
        Ok(Self { index, count })
    }
}

impl Shard {
    /// The whole sweep.
    pub const WHOLE: Self = Self { index: 1, count: 1 };

    /// The shard that is asked for, or that of this task of a Slurm job array.
    ///
    /// # Errors
    /// When Slurm's variables make no sense, or contradict what is asked for.
    pub fn choose(asked: Option<Self>) -> Result<Self, Failure> {
        let task = Self::of_slurm(|name| env::var(name).ok())?;
        match (asked, task) {
            (Some(asked), Some(task)) if asked != task => Err(Failure::Input(format!(
                "--shard {}/{} contradicts SLURM_ARRAY_TASK_ID, which makes this shard {}/{}; \
                 drop --shard, or unset the variable",
                asked.index, asked.count, task.index, task.count
            ))),
            (Some(shard), _) | (None, Some(shard)) => Ok(shard),
            (None, None) => Ok(Self::WHOLE),
        }
    }

    /// Slurm numbers the tasks of an array from MIN in steps of STEP.
    fn of_slurm(variable: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, Failure> {
        let number = |name: &str, default: Option<usize>| -> Result<usize, Failure> {
            let name = format!("SLURM_ARRAY_TASK_{name}");
            match (variable(&name), default) {
                (Some(text), _) => text.trim().parse().map_err(|_| {
                    Failure::Input(format!("{name} is `{text}`, which is no whole number"))
                }),
                (None, Some(default)) => Ok(default),
                (None, None) => Err(Failure::Input(format!(
                    "SLURM_ARRAY_TASK_ID is set but {name} is not; pass --shard I/N"
                ))),
            }
        };
        if variable("SLURM_ARRAY_TASK_ID").is_none() {
            return Ok(None);
        }
        let (id, count) = (number("ID", None)?, number("COUNT", None)?);
        let (min, step) = (number("MIN", Some(0))?, number("STEP", Some(1))?);
        let place = id
            .checked_sub(min)
            .filter(|_| step > 0)
            .filter(|offset| offset.is_multiple_of(step))
            .map(|offset| offset / step);
        match place {
            Some(place) if place < count => Ok(Some(Self {
                index: place + 1,
                count,
            })),
            _ => Err(Failure::Input(format!(
                "SLURM_ARRAY_TASK_ID is {id}, which is no task of an array of {count} that starts at {min} \
                 in steps of {step}; pass --shard I/N"
            ))),
        }
    }

    /// The runs of this shard, of `runs` in all: parts side by side, of sizes that differ by one at
    /// the most.
    pub fn runs(self, runs: usize) -> Range<usize> {
        let start = |index: usize| (runs as u128 * index as u128 / self.count as u128) as usize;
        start(self.index - 1)..start(self.index)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn slurm(
        id: &str,
        count: &str,
        min: Option<&str>,
        step: Option<&str>,
    ) -> Result<Option<Shard>, String> {
        let variables = [
            ("ID", Some(id)),
            ("COUNT", Some(count)),
            ("MIN", min),
            ("STEP", step),
        ];
        let variable = |name: &str| {
            let wanted = name.strip_prefix("SLURM_ARRAY_TASK_")?;
            let (_, value) = variables.iter().find(|(name, _)| *name == wanted)?;
            value.map(str::to_owned)
        };
        Shard::of_slurm(variable).map_err(|failure| failure.to_string())
    }

    #[test]
    fn shards_cover_every_run_once() {
        for runs in [0, 1, 6, 7, 200, 1003] {
            let of = |index| Shard { index, count: 7 }.runs(runs);
            let all: Vec<usize> = (1..=7).flat_map(of).collect();
            assert_eq!(all, (0..runs).collect::<Vec<_>>());
        }
    }

    #[test]
    fn tasks_of_a_slurm_array_are_shards() {
        assert_eq!(Shard::of_slurm(|_| None).unwrap(), None);
        let shard = |index, count| Ok(Some(Shard { index, count }));
        assert_eq!(slurm("0", "4", None, None), shard(1, 4));
        assert_eq!(slurm("3", "4", Some("1"), Some("1")), shard(3, 4));
        // --array=10-30:10
        assert_eq!(slurm("30", "3", Some("10"), Some("10")), shard(3, 3));
        for (id, count, min, step) in [
            ("4", "4", None, None),
            ("15", "3", Some("10"), Some("10")),
            ("1", "4", Some("2"), None),
        ] {
            let message = slurm(id, count, min, step).unwrap_err();
            assert!(message.contains("no task of an array"), "{message}");
        }
        assert!(
            slurm("x", "4", None, None)
                .unwrap_err()
                .contains("no whole number")
        );
    }
}
