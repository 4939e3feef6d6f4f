//! Where `[CLS]` is in the samples of a file, and what fills them up.

use crate::common::{completed, read};
use crate::files::{of_file, read_as, read_lines, refused, with_cls};
use headlight_data::files::{FileKeys, Format};
use headlight_data::{ClsPlace, DatasetConfig, DrawConfig, Generator, Source};

/// `[CLS]` first and last, in the file and added.
#[test]
fn cls_is_where_the_config_has_it_or_is_added_there() {
    let cases = [
        (ClsPlace::First, "[0,5,4],[0,3,3]", [[0, 5, 4], [0, 3, 3]]),
        (ClsPlace::First, "[5,4],[3,3]", [[0, 5, 4], [0, 3, 3]]),
        (ClsPlace::Last, "[5,4,0],[3,3,0]", [[5, 4, 0], [3, 3, 0]]),
        (ClsPlace::Last, "[5,4],[3,3]", [[5, 4, 0], [3, 3, 0]]),
    ];
    for (cls, tokens, expected) in cases {
        let lines = tokens
            .split_inclusive("],")
            .enumerate()
            .map(|(label, tokens)| {
                let tokens = tokens.trim_end_matches(',');
                format!("{{\"label\":{label},\"tokens\":{tokens}}}\n")
            });
        let rows = read_as("a.jsonl", lines.collect::<String>()).unwrap();
        let (config, padding_token) = completed(&rows, with_cls(cls));
        assert_eq!(
            (config.seq_len, config.vocab_size, padding_token),
            (2, 6, None)
        );
        let splits = rows.fit(&config, None).unwrap();
        assert_eq!(splits.train.all_tokens(), expected.concat(), "{tokens}");
        let other = match cls {
            ClsPlace::First => ClsPlace::Last,
            ClsPlace::Last | ClsPlace::None => ClsPlace::First,
        };
        let (config, _) = completed(&rows, with_cls(other));
        assert_eq!(rows.fit(&config, None).is_err(), tokens.contains('0'));
    }
}

#[test]
fn shorter_samples_are_padded_before_a_last_cls() {
    let text = "label,token_0,token_1,token_2\n0,5,4,3\n1,6\n0,2,2,\n";
    let rows = read_as("ragged.csv", text).unwrap();
    for (cls, expected) in [
        (ClsPlace::First, "0 5 4 3 0 6 7 7 0 2 2 7"),
        (ClsPlace::Last, "5 4 3 0 6 7 7 0 2 2 7 0"),
        (ClsPlace::None, "5 4 3 6 7 7 2 2 7"),
    ] {
        let (config, padding_token) = completed(&rows, with_cls(cls));
        assert_eq!((config.vocab_size, padding_token), (8, Some(7)));
        let splits = rows.fit(&config, padding_token).unwrap();
        let tokens = splits.train.all_tokens().iter().map(ToString::to_string);
        assert_eq!(tokens.collect::<Vec<_>>().join(" "), expected);
    }
}

/// Without `[CLS]`, token 0 is a token like the others, wherever it stands, and it may be padding.
#[test]
fn without_cls_token_0_is_a_token() {
    let keys = with_cls(ClsPlace::None);
    let text = "label,token_0,token_1\n0,0,4\n1,0,0\n0,3,0\n";
    let rows = read_as("zeros.csv", text).unwrap();
    let (config, padding_token) = completed(&rows, keys.clone());
    assert_eq!(
        (config.vocab_size, config.seq_len, padding_token),
        (5, 2, None)
    );
    let splits = rows.fit(&config, padding_token).unwrap();
    assert_eq!(splits.train.all_tokens(), [0, 4, 0, 0, 3, 0]);
    assert_eq!(splits.train.positions(), 2);
    let text = "label,token_0,token_1\n0,5,4\n1,3\n";
    let rows = read_as("ragged.csv", text).unwrap();
    let (config, padding_token) = completed(
        &rows,
        FileKeys {
            padding_token: Some(0),
            ..keys
        },
    );
    let splits = rows.fit(&config, padding_token).unwrap();
    assert_eq!(splits.train.all_tokens(), [5, 4, 3, 0]);
    let bytes = crate::common::written(&splits, &config, padding_token, Format::Npz);
    let again = read(bytes, Format::Npz).unwrap();
    let found = completed(&again, with_cls(ClsPlace::None));
    assert_eq!(found, (config.clone(), Some(0)));
    assert_eq!(again.fit(&config, padding_token), Ok(splits));
}

#[test]
fn a_config_sets_padding_length_and_vocabulary() {
    let text = "label,token_0,token_1\n0,5,4\n1,3\n";
    let rows = read_as("ragged.csv", text).unwrap();
    let with = |change: fn(&mut FileKeys)| {
        let mut keys = FileKeys::default();
        change(&mut keys);
        completed(&rows, keys)
    };
    let (config, padding_token) = with(|keys| keys.padding_token = Some(9));
    assert_eq!((config.vocab_size, padding_token), (10, Some(9)));
    let (config, padding_token) = with(|keys| keys.seq_len = Some(4));
    let splits = rows.fit(&config, padding_token).unwrap();
    assert_eq!(splits.train.tokens(1), [0, 3, 6, 6, 6]);
    let (config, padding_token) = with(|keys| keys.seq_len = Some(1));
    assert!(rows.fit(&config, padding_token).is_err());
    // All ids of a vocabulary that the config sets are tokens, so none of them can be taken for padding.
    let (config, padding_token) = with(|keys| keys.vocab_size = Some(20));
    assert_eq!(padding_token, None);
    let error = rows.fit(&config, None).unwrap_err().to_string();
    assert!(
        error.contains("line 3: ") && error.contains("padding_token"),
        "{error}"
    );
}

#[test]
fn padding_has_a_limit() {
    let short = "{\"label\":0,\"tokens\":[1]}\n{\"label\":1,\"tokens\":[1]}\n".repeat(1000);
    let long = "1,".repeat(99_999);
    let lines = format!("{short}{{\"label\":1,\"tokens\":[{long}1]}}\n");
    refused("long.jsonl", lines, "line 2001: ");
}

/// Padding may fill up a sample, but an unknown token must not be taken for padding.
#[test]
fn padding_is_refused_between_tokens() {
    let config = DatasetConfig {
        seq_len: 3,
        rule: None,
        ..of_file(0)
    };
    let dataset = |config: &DatasetConfig, text: &str| {
        let rows = read_lines(text).unwrap();
        let dataset = rows.dataset(config, Some(8));
        dataset.map(|dataset| dataset.all_tokens().to_vec())
    };
    assert_eq!(dataset(&config, "3 8"), Ok(vec![0, 3, 8, 8]));
    assert_eq!(dataset(&config, "8 3 4"), Ok(vec![0, 8, 3, 4]));
    for text in ["3 8 4", "8 8", "8"] {
        let message = dataset(&config, text).unwrap_err().message;
        assert!(
            message.contains("token 8") && message.contains("1 to 7"),
            "{message}"
        );
    }
    // A rule counts tokens that receive no attention, too.
    let generated = DatasetConfig {
        source: Source::Generated(DrawConfig::new(Generator::Numpy, 2)),
        ..config
    };
    assert_eq!(dataset(&generated, "3 8 4"), Ok(vec![0, 3, 8, 4]));
}
