//! `headlight generate`: texts from a model of the next token.

use clap::Args;
use headlight_analysis::generate::{Generation, Sampling, generate};
use headlight_architecture::Parameter;
use headlight_data::words::Encoder;
use headlight_trainer::Failure;
use serde_json::json;

use crate::arguments::{Form, number, whole};
use crate::model::{ModelArguments, RunModel};
use crate::printing::{print, print_json};

/// Continue a text, or write one, with a run's model of the next token
#[derive(Args, Debug)]
#[command(
    after_help = "Example: headlight generate runs/names-1 --count 20\nNames that start with \"mar\": headlight generate runs/names-1 --prompt mar --temperature 0.7"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    model: ModelArguments,
    /// The text to continue, for a run that was trained on texts [default: none; the model begins by itself]
    #[arg(long, value_name = "TEXT")]
    prompt: Option<String>,
    /// The token ids to continue, separated by spaces or commas, for a run that was trained on token ids
    #[arg(long, value_name = "IDS", conflicts_with = "prompt")]
    tokens: Option<String>,
    /// The number of texts to write
    #[arg(long, default_value_t = 10, value_parser = whole::<u16>(1, 65_535))]
    count: u16,
    /// Divide the logits by this: above 1, rare tokens are drawn more often; 0 always takes the most probable token
    #[arg(long, default_value_t = 1.0, value_parser = number(1e6))]
    temperature: f64,
    /// Draw only from the K most probable tokens
    #[arg(long, value_name = "K", value_parser = whole::<u32>(1, u32::MAX.into()))]
    top_k: Option<u32>,
    /// The most tokens of a text, those of the prompt among them [default: those of the run's samples]; a model of one long text can go on
    #[arg(long, value_name = "TOKENS", value_parser = whole::<u32>(1, 1 << 20))]
    length: Option<u32>,
    /// The seed of the random draws
    #[arg(long, default_value_t = 0, value_parser = whole::<u64>(0, u64::MAX))]
    seed: u64,
    #[command(flatten)]
    form: Form,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let model = RunModel::open(&arguments.model, None, None)?;
    let (config, weights) = (&model.config, Parameter::weights(&model.parameters));
    let words = config.data.words.as_ref();
    let prompt = match (words, &arguments.prompt, &arguments.tokens) {
        (_, None, None) => Vec::new(),
        (Some(words), Some(text), _) => {
            let known = Encoder::new(words).known(text);
            known.map_err(|lacking| Failure::Input(format!("--prompt: {lacking}")))?
        }
        (_, _, Some(ids)) => ids_of(ids)?,
        (None, Some(_), None) => {
            let message = "--prompt: the run was trained on token ids; give them with --tokens";
            return Err(Failure::Input(message.to_owned()));
        }
    };
    let sampling = Sampling {
        temperature: arguments.temperature,
        top_k: arguments.top_k.map(|k| k as usize),
        seed: arguments.seed,
        length: arguments.length.map(|length| length as usize),
    };
    let all = generate(config, &weights, &prompt, arguments.count.into(), sampling)?;
    let text = |one: &Generation| {
        if let Some(words) = words {
            return words.join(&one.tokens);
        }
        let ids: Vec<String> = one.tokens.iter().map(u32::to_string).collect();
        ids.join(" ")
    };
    if arguments.form.json {
        let samples = all.iter().map(|one| {
            json!({
                "text": words.map(|_| text(one)),
                "tokens": one.tokens,
                "ended": one.has_ended,
                "log_probability": one.log_probability,
            })
        });
        return print_json(&json!({
            "prompt": prompt,
            "temperature": sampling.temperature,
            "top_k": sampling.top_k,
            "seed": sampling.seed,
            "samples": samples.collect::<Vec<_>>(),
        }));
    }
    let lines: String = all.iter().map(|one| text(one) + "\n").collect();
    print(&lines)
}

/// Token ids as typed.
fn ids_of(text: &str) -> Result<Vec<u32>, Failure> {
    let ids = text.split(|c: char| c.is_whitespace() || c == ',');
    let ids = ids.filter(|id| !id.is_empty());
    ids.map(|id| {
        id.parse().map_err(|_| {
            let reason = if id.bytes().all(|byte| byte.is_ascii_digit()) {
                "too large for a token id"
            } else {
                "not a token id; write whole numbers"
            };
            Failure::Input(format!("--tokens: `{id}` is {reason}"))
        })
    })
    .collect()
}
