//! Which shard a process computes, which runs it has, and the commands of all shards.
#![allow(missing_docs, clippy::unwrap_used)]

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::Path;

use headlight_sweep::{Assignment, Shard, ShardRequest, commands};

/// The choice with these variables set, or the message that refuses them.
fn choose(flags: &str, variables: &str) -> Result<String, String> {
    let request = match flags.split_once(' ') {
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
    for (flags, variables, expected) in [
        ("", "", "1/1 whole"),
        ("--shard 3/7", "", "3/7 --shard"),
        // A whole array with any numbers; the third is --array=10-30:10.
        ("", "ID=0 COUNT=4", "1/4 SLURM_ARRAY_TASK_ID"),
        ("", "ID=3 COUNT=4 MIN=1 STEP=1", "3/4 SLURM_ARRAY_TASK_ID"),
        (
            "",
            "ID=30 COUNT=3 MIN=10 STEP=10",
            "3/3 SLURM_ARRAY_TASK_ID",
        ),
        ("--shard 3/4", "ID=3 COUNT=4 MIN=1", "3/4 --shard"),
        // Two of 64 tasks, submitted again as --array=17,33.
        (
            "--shards 64",
            "ID=33 COUNT=2 MIN=17 MAX=33 STEP=16",
            "33/64 SLURM_ARRAY_TASK_ID",
        ),
        ("--shards 7", "HQ=7", "7/7 HQ_TASK_ID"),
        ("--shard 7/7", "HQ=7", "7/7 --shard"),
        // Not an array.
        ("", "HQ=0", "1/1 whole"),
        ("--shard 2/3", "HQ=0", "2/3 --shard"),
        ("--shards 7", "INDEX=6", "7/7 JOB_COMPLETION_INDEX"),
        ("--shard 1/7", "INDEX=0", "1/7 --shard"),
    ] {
        assert_eq!(
            choose(flags, variables).as_deref(),
            Ok(expected),
            "{flags} {variables}"
        );
    }
}

#[test]
fn contradictions_are_refused() {
    for (flags, variables, part) in [
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
        // An array from 0 is refused in each of its tasks, not only in the first.
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
        ("", "HQ=3", "HQ_TASK_ID is 3, but HyperQueue"),
        ("--shards 4", "HQ=0", "numbered 1 to 4"),
        ("--shards 4", "HQ=5", "hq submit --array 1-4"),
        ("--shard 1/4", "HQ=2", "contradicts HQ_TASK_ID"),
        ("", "INDEX=0", "JOB_COMPLETION_INDEX is 0, but Kubernetes"),
        ("--shards 4", "INDEX=4", "numbered 0 to 3"),
        ("--shard 1/1", "INDEX=1", "JOB_COMPLETION_INDEX is 1"),
        ("--shards 4", "INDEX=-1", "not a whole number"),
        ("--shards 4", "ID=2 HQ=2", "are both set"),
        ("--shards 4", "ID=2 INDEX=1", "env -u JOB_COMPLETION_INDEX"),
        ("--shard 2/4", "HQ=2 INDEX=1", "are both set"),
    ] {
        let message = choose(flags, variables).unwrap_err();
        assert!(message.contains(part), "{flags} {variables}: {message}");
        assert_eq!(message.lines().count(), 1);
    }
}

#[test]
fn files_of_shards_sort_by_name() {
    let file = |shard: &str, whole: &str| {
        let shard: Shard = shard.parse().unwrap();
        shard.file(Path::new(whole)).display().to_string()
    };
    assert_eq!(file("7/64", "out/a.b.jsonl"), "out/a.b-07-of-64.jsonl");
    assert_eq!(file("64/64", "seeds"), "seeds-64-of-64");
}

fn list(command: &[&str]) -> Vec<String> {
    let arguments = command.iter().map(OsString::from);
    commands(
        arguments,
        NonZeroUsize::new(2).unwrap(),
        Path::new("o/s.jsonl"),
    )
    .unwrap()
}

#[test]
fn other_arguments_are_kept_and_quoted() {
    let rule = "data.rule={ kind = \"token-anywhere\", token = 1 }";
    let lines = list(&[
        "headlight",
        "sweep",
        "it's.toml",
        "--out=o/s.jsonl",
        "--set",
        rule,
        "--shards",
        "2",
        "--list",
    ]);
    assert_eq!(lines.len(), 2);
    assert_eq!(
        lines[1],
        format!("headlight sweep \"it's.toml\" --set '{rule}' --shard 2/2 --out o/s-2-of-2.jsonl")
    );
    let lines = list(&[
        "h",
        "sweep",
        "--shards=2",
        "--list",
        "--out",
        "o/s.jsonl",
        "--",
        "--list",
    ]);
    assert_eq!(
        lines[0],
        "h sweep --shard 1/2 --out o/s-1-of-2.jsonl -- --list"
    );
}

#[test]
fn shards_count_from_one_to_their_number() {
    for text in ["0/3", "4/3", "3", "a/3", "1/", "-1/3", "1/0"] {
        let message = text.parse::<Shard>().unwrap_err();
        assert!(message.contains(&format!("`{text}`")), "{message}");
    }
    for text in ["1/3", "3/3", "1/1"] {
        assert_eq!(text.parse::<Shard>().unwrap().to_string(), text);
    }
    assert_eq!("2/4".parse::<Shard>().unwrap().runs(10), 2..5);
    assert_eq!(Shard::WHOLE.runs(10), 0..10);
}

#[test]
fn a_scheduled_shard_may_be_a_rerun() {
    let slurm = |name: &str| match name {
        "SLURM_ARRAY_TASK_ID" | "SLURM_ARRAY_TASK_COUNT" => Some("2".to_owned()),
        "SLURM_ARRAY_TASK_MIN" => Some("1".to_owned()),
        _ => None,
    };
    let scheduled = Assignment::new(ShardRequest::Unspecified, slurm).unwrap();
    assert!(scheduled.is_scheduled());
    let flag = ShardRequest::This("2/2".parse().unwrap());
    assert!(!Assignment::new(flag, slurm).unwrap().is_scheduled());
    let whole = Assignment::new(ShardRequest::Unspecified, |_| None).unwrap();
    assert!(!whole.is_scheduled());
}

#[test]
fn arguments_must_be_unicode() {
    use std::os::unix::ffi::OsStringExt;
    let broken = vec![OsString::from_vec(b"c\xff.toml".to_vec())];
    let message = commands(broken, NonZeroUsize::MIN, Path::new("o.jsonl")).unwrap_err();
    assert!(message.to_string().contains("toml"), "{message}");
}
