//! Which runs a shard has, and its file.
#![allow(missing_docs, clippy::unwrap_used)]

use std::path::Path;

use headlight_sweep::Shard;

#[test]
fn shards_cover_every_run_once() {
    for runs in [0, 1, 6, 7, 200, 1003] {
        let shard = |index| format!("{index}/7").parse::<Shard>().unwrap();
        let all = (1..=7).flat_map(|index| shard(index).runs(runs));
        assert_eq!(all.collect::<Vec<_>>(), (0..runs).collect::<Vec<_>>());
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
