//! What the core describes for the page: `described.ts`. `UPDATE_GOLDEN=1` writes the file anew.
#![allow(missing_docs, clippy::unwrap_used)]

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use headlight_architecture::UNIFORM_BELOW;
use headlight_data::files::{LABELS, TEXTS};
use headlight_data::rules::{NumberKind, RuleOffer, SettingValue};
use headlight_data::{ClsPlace, LabelRule, MARKER, Sampler};
use headlight_experiment::config::{ExperimentConfig, toml};
use headlight_experiment::metrics::PAGE;
use serde::Serialize;
use serde_json::{Map, Value, json, to_string, to_value};

/// An object as JavaScript, with an entry on each line.
fn object(
    name: &str,
    of: &str,
    entries: impl Iterator<Item = (&'static str, impl Serialize)>,
) -> String {
    let entries = entries.map(|(key, value)| {
        format!(
            "  {}: {},\n",
            to_string(key).unwrap(),
            to_string(&value).unwrap()
        )
    });
    let entries: String = entries.collect();
    format!("export const {name}: Record<string, {of}> = {{\n{entries}}};\n")
}

/// A rule as the page has it: a parameter is a list.
#[derive(Serialize)]
struct Written {
    title: &'static str,
    question: &'static str,
    parameters: Vec<(&'static str, &'static str, NumberKind, u32)>,
    n_classes: usize,
    needs: &'static [(&'static str, SettingValue)],
}

impl From<RuleOffer> for Written {
    fn from(choice: RuleOffer) -> Self {
        let parameters = choice.parameters.iter();
        Self {
            title: choice.title,
            question: choice.question,
            parameters: parameters
                .map(|of| (of.key, of.name, of.counts, of.first))
                .collect(),
            n_classes: choice.n_classes,
            needs: choice.needs,
        }
    }
}

fn choices() -> impl Iterator<Item = (&'static str, RuleOffer)> {
    LabelRule::OFFERS.iter().copied()
}

/// The config of a file of texts, apart from what the file gives.
fn texts() -> Value {
    let text = include_str!("../../../configs/files/texts.toml");
    let given = "[data]\nfile = \"texts.csv\"\nvocab_size = 4\nseq_len = 1\n";
    let text = text.replacen("[data]\n", given, 1);
    let read = toml::parse("texts", &text, std::iter::empty(), |_| Ok(()), |_| Ok(()));
    let read: Result<ExperimentConfig, _> = read;
    let mut config = to_value(read.unwrap()).unwrap();
    let data = config["data"].as_object_mut().unwrap();
    data.retain(|key, _| ["seed", "cls"].contains(&key.as_str()));
    // What says how a run is computed and saved is not the page's to choose.
    let parts = config.as_object_mut().unwrap();
    parts.retain(|key, _| !["checkpoint", "compute"].contains(&key.as_str()));
    config
}

#[test]
fn the_page_has_what_the_core_describes() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../page/script/src/model/described.ts");
    let parts = [
        "// Written by `UPDATE_GOLDEN=1 cargo test -p headlight-experiment`: what the core describes.\n\nimport type { RuleChoice, Config } from \"./types\";\n".to_owned(),
        object(
            "RULES",
            "RuleChoice",
            choices().map(|(kind, choice)| (kind, Written::from(choice))),
        ),
        object(
            "MARKERS",
            "string",
            [("sentence", MARKER)].into_iter(),
        ),
    ];
    let metrics =
        PAGE.map(|(metric, decimals)| (metric.info().name, metric.info().label, decimals));
    let metrics = format!(
        "/** The metrics in tables: each with its key, its name and its decimals. */\nexport const METRICS: [key: string, name: string, decimals: number][] = {};\n",
        to_string(&metrics).unwrap()
    );
    let names = LABELS.iter().chain(&TEXTS);
    let texts = format!(
        "/** The config of the reader's texts, apart from what the texts give: that of `headlight train FILE`. */\nexport const TEXTS: Config = {};\n\n/** Names that columns of texts and labels usually have. */\nexport const COLUMNS = {};\n",
        texts(),
        to_string(&names.collect::<Vec<_>>()).unwrap()
    );
    let below = format!(
        "/** A row of weights that diverges from uniform attention by less than this, in nats, is close to it. */\nexport const UNIFORM_BELOW = {UNIFORM_BELOW};\n"
    );
    let parts = parts
        .into_iter()
        .chain([metrics, texts, below])
        .collect::<Vec<_>>();
    let described = parts.join("\n");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, &described).unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), described);
}

/// A rule is one that configs can name, and its question holds each of its parameters.
#[test]
fn a_choice_is_a_rule_of_a_config() {
    for (kind, choice) in choices() {
        let mut rule = Map::from_iter([("kind".to_owned(), json!(kind))]);
        for parameter in choice.parameters {
            rule.insert(parameter.key.to_owned(), json!(parameter.first));
            let held = format!("{{{}}}", parameter.key);
            assert!(choice.question.contains(&held), "{kind}: {held}");
        }
        let read: LabelRule = serde_json::from_value(rule.clone().into()).unwrap();
        assert_eq!(to_value(&read).unwrap(), json!(rule));
        let samples = Sampler {
            vocab_size: 51,
            seq_len: 6,
            cls: ClsPlace::First,
        };
        assert!(choice.n_classes <= read.most_classes(samples), "{kind}");
        let keys: HashSet<_> = choice.needs.iter().map(|(key, _)| key).collect();
        assert_eq!(keys.len(), choice.needs.len(), "{kind}");
    }
}

/// With what a rule needs, the config of `common` is valid.
#[test]
fn what_a_choice_needs_is_a_config() {
    for (kind, choice) in choices() {
        let numbers = choice.parameters.iter();
        let numbers = numbers.map(|of| format!("{} = {}", of.key, of.first));
        let numbers: Vec<_> = numbers.collect();
        let mut changes = vec![
            "data.vocab_size=51".to_owned(),
            "data.seq_len=6".to_owned(),
            format!("data.n_classes={}", choice.n_classes),
            format!("data.rule={{ kind = \"{kind}\", {} }}", numbers.join(", ")),
        ];
        let needs = choice.needs.iter();
        changes.extend(needs.map(|(key, value)| format!("{key}={}", to_string(value).unwrap())));
        let changes: Vec<&str> = changes.iter().map(|change| &**change).collect();
        let config = crate::common::parse(&changes).unwrap();
        config.data.validate().unwrap();
    }
}
