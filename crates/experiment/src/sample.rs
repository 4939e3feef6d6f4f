//! Checks that a sample from outside is valid for a config.

use headlight_data::CLS;

use crate::config::ExperimentConfig;

/// Checks that a sample has the config's length, `[CLS]` and vocabulary.
///
/// # Errors
/// Names the difference.
pub fn check_sample(tokens: &[u32], config: &ExperimentConfig) -> Result<(), String> {
    let positions = config.data.seq_len + 1;
    if tokens.len() != positions {
        return Err(format!(
            "{} tokens; this model takes {positions}: [CLS] = 0 and {} more",
            tokens.len(),
            positions - 1
        ));
    }
    let cls_position = config.data.cls.position(config.data.seq_len);
    if tokens[cls_position] != CLS {
        return Err(format!(
            "the {} token is {}; it must be [CLS] = 0",
            config.data.cls.name(),
            tokens[cls_position]
        ));
    }
    let last = config.data.vocab_size - 1;
    let mut others = tokens.iter().enumerate();
    let outside = others
        .find(|&(position, &token)| position != cls_position && (token == CLS || token > last));
    outside.map_or(Ok(()), |(_, token)| {
        Err(format!(
            "token {token} is outside the vocabulary; tokens other than [CLS] = 0 are 1 to {last}"
        ))
    })
}
