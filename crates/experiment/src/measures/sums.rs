//! Models that add two numbers modulo p: their samples, and which tokens are the numbers 0 to p - 1.

use headlight_data::{CLS, ClsPlace, LabelRule};

use crate::config::ExperimentConfig;

/// The samples of two numbers.
pub(super) struct Sums {
    pub(super) modulus: u32,
    /// The token of each number. Without `[CLS]`, a number is its own token; with it, that of 0 is p.
    pub(super) tokens: Vec<u32>,
    /// The positions of the two numbers.
    pub(super) positions: [usize; 2],
    cls: ClsPlace,
}

impl Sums {
    /// Of a config's rule.
    ///
    /// # Errors
    /// Says why the config has no such samples, as the rest of a sentence about a measure.
    pub(super) fn of(config: &ExperimentConfig) -> Result<Self, String> {
        let data = &config.data;
        let Some(LabelRule::SumMod(rule)) = &data.rule else {
            return Err(
                "is a measure of sums modulo p; it needs data.rule.kind = \"sum-mod\"".to_owned(),
            );
        };
        let first = usize::from(data.cls == ClsPlace::First);
        let positions = [first, first + 1];
        let mut added = rule.positions.clone();
        added.sort_unstable();
        if data.seq_len != 2 {
            return Err(format!(
                "is a measure of sums of two numbers; it needs data.seq_len = 2, not {}",
                data.seq_len
            ));
        }
        if !(added.is_empty() || added == positions) {
            let message = "is a measure of sums of two numbers; leave out data.rule.positions, so that both are added";
            return Err(message.to_owned());
        }
        let modulus = rule.modulus;
        let padding = config.model.attention.padding_token;
        let token = |number: u32| {
            let numbers = data.cls.first_token()..data.vocab_size;
            let mut same = numbers.filter(|token| token % modulus == number);
            same.find(|token| Some(*token) != padding)
        };
        let Some(tokens) = (0..modulus).map(token).collect::<Option<Vec<u32>>>() else {
            return Err(format!(
                "needs a token for each number modulo {modulus}; raise data.vocab_size"
            ));
        };
        Ok(Self {
            modulus,
            tokens,
            positions,
            cls: data.cls,
        })
    }

    /// The sample of two numbers.
    pub(super) fn sample(&self, [a, b]: [u32; 2]) -> Vec<u32> {
        let [a, b] = [a, b].map(|number| self.tokens[number as usize]);
        match self.cls {
            ClsPlace::First => vec![CLS, a, b],
            ClsPlace::Last => vec![a, b, CLS],
            ClsPlace::None => vec![a, b],
        }
    }
}
