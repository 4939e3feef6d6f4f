//! Shards of a sweep, for many machines: which one this process computes.
//!
//! A flag names the shard, or the variable in which a scheduler numbers the tasks of an array.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use headlight_trainer::Failure;

/// One of `count` parts of a sweep, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: usize,
    count: usize,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("`{text}` is not a shard; write I/N with I from 1 to N, such as 1/7");
        let (index, count) = text.split_once('/').ok_or_else(wrong)?;
        let number = |text: &str| text.trim().parse::<usize>().map_err(|_| wrong());
        let (index, count) = (number(index)?, number(count)?);
        if index == 0 || index > count {
            return Err(wrong());
        }
        Ok(Self { index, count })
    }
}

impl std::fmt::Display for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

/// The shard of this process, and what named it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The shard.
    pub shard: Shard,
    /// `--shard` or a scheduler's variable; `None` for a whole sweep.
    pub named_by: Option<&'static str>,
}

/// A scheduler that numbers the tasks of an array.
struct Scheduler {
    name: &'static str,
    /// The variable with the number of this task.
    variable: &'static str,
    /// The number of the first task, where `--shards` says how many there are.
    first: usize,
    /// How an array is asked for; the number of shards follows.
    array: &'static str,
}

const SLURM: Scheduler = Scheduler {
    name: "Slurm",
    variable: "SLURM_ARRAY_TASK_ID",
    first: 1,
    array: "sbatch --array=1-",
};
const HYPERQUEUE: Scheduler = Scheduler {
    name: "HyperQueue",
    variable: "HQ_TASK_ID",
    first: 1,
    array: "hq submit --array 1-",
};
const KUBERNETES: Scheduler = Scheduler {
    name: "Kubernetes",
    variable: "JOB_COMPLETION_INDEX",
    first: 0,
    array: "an indexed job of completions: ",
};

/// What `--shard` and `--shards` request.
#[derive(Clone, Copy, Debug)]
pub enum ShardRequest {
    /// Neither was given: the shard that a scheduler names, or the whole sweep.
    Unspecified,
    /// This shard.
    This(Shard),
    /// The one of these shards that a scheduler names.
    OneOf(NonZeroUsize),
}

impl Assignment {
    /// The shard of this process, from what is asked for and from the variables of schedulers.
    ///
    /// # Errors
    /// When a variable makes no sense, contradicts what is asked for, or there are several.
    pub fn new(
        request: ShardRequest,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, Failure> {
        let mut named: Option<(&Scheduler, Shard)> = None;
        for scheduler in [&SLURM, &HYPERQUEUE, &KUBERNETES] {
            let Some(shard) = scheduler.shard(request, &variable)? else {
                continue;
            };
            if let Some((other, _)) = named {
                return Err(Failure::Input(format!(
                    "{} of {} and {} of {} are both set, and either could name the shard; \
                     remove the other one with env -u {}",
                    other.variable,
                    other.name,
                    scheduler.variable,
                    scheduler.name,
                    scheduler.variable
                )));
            }
            named = Some((scheduler, shard));
        }
        match (request, named) {
            (ShardRequest::This(asked), Some((scheduler, said))) if asked != said => {
                Err(Failure::Input(format!(
                    "--shard {asked} contradicts {}, which makes this shard {said}; \
                     drop --shard, or unset the variable",
                    scheduler.variable
                )))
            }
            (ShardRequest::This(shard), _) => Ok(Self {
                shard,
                named_by: Some("--shard"),
            }),
            (_, Some((scheduler, shard))) => Ok(Self {
                shard,
                named_by: Some(scheduler.variable),
            }),
            (ShardRequest::OneOf(count), None) => Err(Failure::Input(format!(
                "it is unknown which of the {count} shards this is; pass --shard I/{count}, add --list for \
                 the commands of all, or submit it as an array ({}{count})",
                SLURM.array
            ))),
            (ShardRequest::Unspecified, None) => Ok(Self {
                shard: Shard::WHOLE,
                named_by: None,
            }),
        }
    }

    /// Whether a scheduler named the shard: then the task may be a rerun.
    pub fn is_scheduled(self) -> bool {
        self.named_by.is_some_and(|by| by != "--shard")
    }
}

impl Scheduler {
    /// The shard that the scheduler's variables name, if they are set.
    fn shard(
        &self,
        request: ShardRequest,
        variable: &impl Fn(&str) -> Option<String>,
    ) -> Result<Option<Shard>, Failure> {
        let Some(id) = variable(self.variable) else {
            return Ok(None);
        };
        let id = number(self.variable, &id)?;
        let is_slurm = self.variable == SLURM.variable;
        match request {
            ShardRequest::OneOf(count) => {
                let count = count.get();
                // Tasks can be submitted again alone, as --array=3,7: then MIN and COUNT are of these.
                if is_slurm {
                    for end in ["SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX"] {
                        if let Some(text) = variable(end) {
                            self.place(end, number(end, &text)?, count)?;
                        }
                    }
                }
                self.place(self.variable, id, count).map(Some)
            }
            _ if is_slurm => of_slurm_array(id, variable).map(Some),
            // The only task of a job that is no array.
            _ if self.variable == HYPERQUEUE.variable && id == 0 => Ok(None),
            ShardRequest::This(shard) => self.place(self.variable, id, shard.count).map(Some),
            ShardRequest::Unspecified => Err(Failure::Input(format!(
                "{} is {id}, but {} does not say of how many tasks; pass --shards N, or --shard I/N",
                self.variable, self.name
            ))),
        }
    }

    /// The shard of task `id`, where tasks are numbered for `count` shards.
    fn place(&self, variable: &str, id: usize, count: usize) -> Result<Shard, Failure> {
        match id.checked_sub(self.first) {
            Some(place) if place < count => Ok(Shard {
                index: place + 1,
                count,
            }),
            _ => Err(Failure::Input(format!(
                "{variable} is {id}, but the tasks of {count} shards are numbered {} to {}; \
                 submit them with {}{count}, or change the number of shards",
                self.first,
                self.first + count - 1,
                self.array
            ))),
        }
    }
}

fn number(variable: &str, text: &str) -> Result<usize, Failure> {
    text.trim().parse().map_err(|_| {
        Failure::Input(format!(
            "{variable} is `{text}`, which is not a whole number; unset it, or pass the task's number"
        ))
    })
}

/// A whole array as the shards: Slurm numbers its tasks from MIN in steps of STEP.
fn of_slurm_array(id: usize, variable: &impl Fn(&str) -> Option<String>) -> Result<Shard, Failure> {
    let value = |name: &str| -> Result<Option<usize>, Failure> {
        let name = format!("SLURM_ARRAY_TASK_{name}");
        variable(&name).map(|text| number(&name, &text)).transpose()
    };
    let Some(count) = value("COUNT")? else {
        return Err(Failure::Input(
            "SLURM_ARRAY_TASK_ID is set but SLURM_ARRAY_TASK_COUNT is not; pass --shards N, or --shard I/N"
                .to_owned(),
        ));
    };
    let (min, step) = (value("MIN")?.unwrap_or(0), value("STEP")?.unwrap_or(1));
    let place = id
        .checked_sub(min)
        .filter(|_| step > 0)
        .filter(|offset| offset.is_multiple_of(step))
        .map(|offset| offset / step);
    match place {
        Some(place) if place < count => Ok(Shard {
            index: place + 1,
            count,
        }),
        _ => Err(Failure::Input(format!(
            "SLURM_ARRAY_TASK_ID is {id}, which is not a task of an array of {count} that starts at {min} \
             in steps of {step}; pass --shards N, or --shard I/N"
        ))),
    }
}

impl Shard {
    /// The whole sweep.
    pub const WHOLE: Self = Self { index: 1, count: 1 };

    /// All shards of a sweep.
    pub fn all(count: NonZeroUsize) -> impl Iterator<Item = Self> {
        let count = count.get();
        (1..=count).map(move |index| Self { index, count })
    }

    /// The runs of this shard, of `runs` in all: contiguous ranges whose sizes differ by at most one.
    pub fn runs(self, runs: usize) -> Range<usize> {
        let start = |index: usize| (runs as u128 * index as u128 / self.count as u128) as usize;
        start(self.index - 1)..start(self.index)
    }

    /// This shard's file, if `whole` is the file of all shards: `seeds.jsonl` has `seeds-07-of-64.jsonl`.
    pub fn file(self, whole: &Path) -> PathBuf {
        let mut name = whole.file_stem().unwrap_or_default().to_owned();
        let digits = self.count.to_string().len();
        name.push(format!("-{:0digits$}-of-{}", self.index, self.count));
        if let Some(ending) = whole.extension() {
            name.push(".");
            name.push(ending);
        }
        whole.with_file_name(name)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// What is chosen where these variables are set, or the message that refuses them.
    fn choose(asked: &str, variables: &str) -> Result<String, String> {
        let request = match asked.split_once(' ') {
            Some(("--shard", text)) => ShardRequest::This(text.parse().unwrap()),
            Some((_, text)) => ShardRequest::OneOf(text.parse().unwrap()),
            None => ShardRequest::Unspecified,
        };
        let variable = |name: &str| {
            let mut set = variables.split(' ').filter_map(|text| text.split_once('='));
            let long = |short: &str| match short {
                "HQ" => "HQ_TASK_ID".to_owned(),
                "INDEX" => "JOB_COMPLETION_INDEX".to_owned(),
                slurm => format!("SLURM_ARRAY_TASK_{slurm}"),
            };
            set.find(|(short, _)| long(short) == name)
                .map(|(_, value)| value.to_owned())
        };
        match Assignment::new(request, variable) {
            Ok(assignment) => Ok(format!(
                "{} {}",
                assignment.shard,
                assignment.named_by.unwrap_or("whole")
            )),
            Err(failure) => Err(failure.to_string()),
        }
    }

    #[test]
    fn shards_cover_every_run_once() {
        for runs in [0, 1, 6, 7, 200, 1003] {
            let seven = NonZeroUsize::new(7).unwrap();
            let all: Vec<usize> = Shard::all(seven)
                .flat_map(|shard| shard.runs(runs))
                .collect();
            assert_eq!(all, (0..runs).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_flag_or_one_schedulers_variable_says_which_shard() {
        for (asked, variables, expected) in [
            ("", "", "1/1 whole"),
            ("--shard 3/7", "", "3/7 --shard"),
            // All of an array, numbered as one likes; --array=10-30:10 is the third.
            ("", "ID=0 COUNT=4", "1/4 SLURM_ARRAY_TASK_ID"),
            ("", "ID=3 COUNT=4 MIN=1 STEP=1", "3/4 SLURM_ARRAY_TASK_ID"),
            (
                "",
                "ID=30 COUNT=3 MIN=10 STEP=10",
                "3/3 SLURM_ARRAY_TASK_ID",
            ),
            ("--shard 3/4", "ID=3 COUNT=4 MIN=1", "3/4 --shard"),
            // Two tasks of 64 once more, as --array=17,33.
            (
                "--shards 64",
                "ID=33 COUNT=2 MIN=17 MAX=33 STEP=16",
                "33/64 SLURM_ARRAY_TASK_ID",
            ),
            ("--shards 7", "HQ=7", "7/7 HQ_TASK_ID"),
            ("--shard 7/7", "HQ=7", "7/7 --shard"),
            // No array.
            ("", "HQ=0", "1/1 whole"),
            ("--shard 2/3", "HQ=0", "2/3 --shard"),
            ("--shards 7", "INDEX=6", "7/7 JOB_COMPLETION_INDEX"),
            ("--shard 1/7", "INDEX=0", "1/7 --shard"),
        ] {
            assert_eq!(
                choose(asked, variables).as_deref(),
                Ok(expected),
                "{asked} {variables}"
            );
        }
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        for (asked, variables, part) in [
            ("", "ID=4 COUNT=4", "not a task of an array"),
            ("", "ID=15 COUNT=3 MIN=10 STEP=10", "not a task of an array"),
            ("", "ID=1 COUNT=4 MIN=2", "not a task of an array"),
            ("", "ID=1 COUNT=4 STEP=0", "not a task of an array"),
            ("", "ID=x COUNT=4", "SLURM_ARRAY_TASK_ID is `x`"),
            ("", "ID=1 COUNT=", "SLURM_ARRAY_TASK_COUNT is ``"),
            ("", "ID=1", "SLURM_ARRAY_TASK_COUNT is not"),
            ("--shard 2/4", "ID=3 COUNT=4 MIN=1", "makes this shard 3/4"),
            ("--shard 3/5", "ID=3 COUNT=4 MIN=1", "makes this shard 3/4"),
            ("--shards 64", "", "which of the 64 shards"),
            // An array from 0 is refused in each of its tasks, not in the first alone.
            (
                "--shards 4",
                "ID=2 MIN=0 MAX=3 COUNT=4",
                "SLURM_ARRAY_TASK_MIN is 0, but the tasks of 4 shards are numbered 1 to 4",
            ),
            (
                "--shards 4",
                "ID=2 MIN=1 MAX=8",
                "SLURM_ARRAY_TASK_MAX is 8",
            ),
            ("--shards 4", "ID=5", "sbatch --array=1-4"),
            ("", "HQ=3", "HyperQueue does not say of how many"),
            ("--shards 4", "HQ=0", "numbered 1 to 4"),
            ("--shards 4", "HQ=5", "hq submit --array 1-4"),
            ("--shard 1/4", "HQ=2", "contradicts HQ_TASK_ID"),
            ("", "INDEX=0", "Kubernetes does not say of how many"),
            ("--shards 4", "INDEX=4", "numbered 0 to 3"),
            ("--shard 1/1", "INDEX=1", "JOB_COMPLETION_INDEX is 1"),
            ("--shards 4", "INDEX=-1", "not a whole number"),
            ("--shards 4", "ID=2 HQ=2", "are both set"),
            ("--shards 4", "ID=2 INDEX=1", "env -u JOB_COMPLETION_INDEX"),
            ("--shard 2/4", "HQ=2 INDEX=1", "are both set"),
        ] {
            let message = choose(asked, variables).unwrap_err();
            assert!(message.contains(part), "{asked} {variables}: {message}");
            assert_eq!(message.lines().count(), 1);
        }
    }

    #[test]
    fn files_of_shards_are_in_order() {
        let file = |shard: &str, whole: &str| {
            let shard: Shard = shard.parse().unwrap();
            shard.file(Path::new(whole)).display().to_string()
        };
        assert_eq!(file("7/64", "out/a.b.jsonl"), "out/a.b-07-of-64.jsonl");
        assert_eq!(file("64/64", "seeds"), "seeds-64-of-64");
    }
}
