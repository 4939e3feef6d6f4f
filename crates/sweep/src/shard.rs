//! Shards of a sweep, for many machines, and the choice of the shard that this process computes.
//!
//! The shard comes from a flag, or from the variable in which a scheduler numbers the tasks of an array.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use headlight_trainer::Failure;

/// One of `count` parts of a sweep; `index` is counted from 1.
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

/// The shard of this process, and where it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The shard.
    pub shard: Shard,
    /// `--shard`, or the scheduler's variable; `None` for a whole sweep.
    pub named_by: Option<&'static str>,
}

/// A scheduler that numbers the tasks of an array.
struct Scheduler {
    name: &'static str,
    /// The environment variable with the number of this task.
    variable: &'static str,
    /// The number of the first task, if `--shards` gives their count.
    first: usize,
    /// How to submit an array; the number of shards is appended.
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
    array: "an indexed job with completions: ",
};

/// The request made by `--shard` or `--shards`.
#[derive(Clone, Copy, Debug)]
pub enum ShardRequest {
    /// Neither flag: the shard that a scheduler names, or the whole sweep.
    Unspecified,
    /// `--shard`: this shard.
    This(Shard),
    /// `--shards`: the one of this many shards that a scheduler names.
    OneOf(NonZeroUsize),
}

impl Assignment {
    /// Determines the shard of this process from the flags and from the variables of schedulers.
    ///
    /// # Errors
    /// When a variable is invalid or contradicts the flags, or several schedulers name a shard.
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
                     unset the wrong one, for example with env -u {}",
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
            (ShardRequest::This(requested), Some((scheduler, named))) if requested != named => {
                Err(Failure::Input(format!(
                    "--shard {requested} contradicts {}, which makes this shard {named}; \
                     remove --shard, or unset the variable",
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
                "it is unknown which of the {count} shards this is; pass --shard I/{count}, add --list to list \
                 all commands, or submit an array ({}{count})",
                SLURM.array
            ))),
            (ShardRequest::Unspecified, None) => Ok(Self {
                shard: Shard::WHOLE,
                named_by: None,
            }),
        }
    }

    /// Whether a scheduler named the shard. Its task may then be a rerun.
    pub fn is_scheduled(self) -> bool {
        self.named_by.is_some_and(|by| by != "--shard")
    }
}

impl Scheduler {
    /// The shard that the scheduler's variables name; `None` if they are not set.
    fn shard(
        &self,
        request: ShardRequest,
        variable: &impl Fn(&str) -> Option<String>,
    ) -> Result<Option<Shard>, Failure> {
        let Some(id) = variable(self.variable) else {
            return Ok(None);
        };
        let id = whole_number(self.variable, &id)?;
        let is_slurm = self.variable == SLURM.variable;
        match request {
            ShardRequest::OneOf(count) => {
                let count = count.get();
                // Single tasks can be submitted again (--array=3,7). MIN and MAX are then those of the
                // selected tasks.
                if is_slurm {
                    for end in ["SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX"] {
                        if let Some(text) = variable(end) {
                            self.place(end, whole_number(end, &text)?, count)?;
                        }
                    }
                }
                self.place(self.variable, id, count).map(Some)
            }
            _ if is_slurm => of_slurm_array(id, variable).map(Some),
            // A job that is not an array has one task, number 0.
            _ if self.variable == HYPERQUEUE.variable && id == 0 => Ok(None),
            ShardRequest::This(shard) => self.place(self.variable, id, shard.count).map(Some),
            ShardRequest::Unspecified => Err(Failure::Input(format!(
                "{} is {id}, but {} does not give the number of tasks; pass --shards N, or --shard I/N",
                self.variable, self.name
            ))),
        }
    }

    /// The shard of task `id` in an array of `count` tasks.
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

fn whole_number(variable: &str, text: &str) -> Result<usize, Failure> {
    text.trim().parse().map_err(|_| {
        Failure::Input(format!(
            "{variable} is `{text}`, which is not a whole number; unset it, or set it to the task's number"
        ))
    })
}

/// The shard of a task if the whole array is the sweep: Slurm numbers tasks from MIN in steps of STEP.
fn of_slurm_array(id: usize, variable: &impl Fn(&str) -> Option<String>) -> Result<Shard, Failure> {
    let value = |name: &str| -> Result<Option<usize>, Failure> {
        let name = format!("SLURM_ARRAY_TASK_{name}");
        variable(&name)
            .map(|text| whole_number(&name, &text))
            .transpose()
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

    /// The runs of this shard, out of `runs`: shards have contiguous ranges whose sizes differ by at most one.
    pub fn runs(self, runs: usize) -> Range<usize> {
        let start = |index: usize| (runs as u128 * index as u128 / self.count as u128) as usize;
        start(self.index - 1)..start(self.index)
    }

    /// The file of this shard, such as `seeds-07-of-64.jsonl` if `whole` is `seeds.jsonl`.
    pub fn file(self, whole: &Path) -> PathBuf {
        let mut name = whole.file_stem().unwrap_or_default().to_owned();
        let digits = self.count.to_string().len();
        name.push(format!("-{:0digits$}-of-{}", self.index, self.count));
        if let Some(extension) = whole.extension() {
            name.push(".");
            name.push(extension);
        }
        whole.with_file_name(name)
    }
}
