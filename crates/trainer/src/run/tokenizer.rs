//! `tokenizer.json`: the words of a run, in the format of Hugging Face's `tokenizers`.

use headlight_data::words::{PAD, PATTERN, SPECIAL, TokenLevel};
use headlight_data::{CLS, ClsPlace, DatasetConfig, Words};
use serde_json::{Map, Value, json};

/// The file's content: it encodes a text as Headlight does, with `[CLS]`, which texts always have, and cut to the length of a
/// sample.
///
/// The special tokens are no `added_tokens`: those are looked for in texts, where `[CLS]` is but a word in brackets. With
/// `[CLS]` at the end there is no padding, which would come after it.
pub(crate) fn json(config: &DatasetConfig, words: &Words) -> Value {
    let positions = config.cls.positions(config.seq_len);
    let entries = words.vocabulary.iter().map(String::as_str);
    let tokens = SPECIAL.into_iter().chain(entries).zip(0..);
    let vocabulary: Map<String, Value> = tokens
        .map(|(name, id): (_, u32)| (name.to_owned(), id.into()))
        .collect();
    let cls = json!({"SpecialToken": {"id": "[CLS]", "type_id": 0}});
    let text = json!({"Sequence": {"id": "A", "type_id": 0}});
    let (template, padding) = match config.cls {
        ClsPlace::First => (
            [cls, text],
            json!({
                "strategy": {"Fixed": positions},
                "direction": "Right",
                "pad_to_multiple_of": null,
                "pad_id": PAD,
                "pad_type_id": 0,
                "pad_token": "[PAD]",
            }),
        ),
        ClsPlace::Last | ClsPlace::None => ([text, cls], Value::Null),
    };
    let mut normalizers = vec![
        json!({"type": "NFC"}),
        json!({"type": "Replace", "pattern": {"String": "’"}, "content": "'"}),
    ];
    normalizers.extend(words.lowercase.then(|| json!({"type": "Lowercase"})));
    json!({
        "version": "1.0",
        "truncation": {
            "direction": "Right",
            "max_length": positions,
            "strategy": "LongestFirst",
            "stride": 0,
        },
        "padding": padding,
        "added_tokens": [],
        "normalizer": {"type": "Sequence", "normalizers": normalizers},
        "pre_tokenizer": {
            "type": "Split",
            "pattern": {"Regex": match words.level {
                TokenLevel::Word => PATTERN,
                TokenLevel::Character => "(?s).",
            }},
            "behavior": "Removed",
            "invert": true,
        },
        "post_processor": {
            "type": "TemplateProcessing",
            "single": template,
            "pair": [],
            "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [CLS], "tokens": ["[CLS]"]}},
        },
        "decoder": null,
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"},
    })
}
