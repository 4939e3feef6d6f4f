//! The position whose attention is shown and measured. Where the classifier reads one position, it is that one; where it
//! reads the mean of all, the last one that holds no padding stands for them, or `[CLS]`.

use headlight_architecture::Pooling;

use crate::config::ExperimentConfig;

impl ExperimentConfig {
    /// Whether the classifier reads the mean of all positions that are not padding.
    pub fn reads_mean(&self) -> bool {
        self.model.pooling == Some(Pooling::Mean)
    }

    /// The position of a sample whose attention is shown. It is not padding, unless the classifier reads just that.
    pub fn shown_position(&self, tokens: &[u32]) -> usize {
        let read = self.inputs().read_position;
        let padding = self.model.attention.padding_token;
        if !self.reads_mean() || padding.is_none() || self.reads_cls() {
            return read;
        }
        let last = tokens.iter().rposition(|&token| Some(token) != padding);
        last.unwrap_or(read)
    }

    /// The position whose attention is shown, as messages name it.
    pub fn shown_reader(&self) -> String {
        let differs = self.model.attention.padding_token.is_some() && !self.reads_cls();
        if self.reads_mean() && differs {
            "the last token".to_owned()
        } else {
            self.reader()
        }
    }

    /// That the answer does not come from the position that is shown alone, if it does not.
    pub fn mean_note(&self) -> Option<String> {
        let unpadded = match self.model.attention.padding_token {
            Some(_) => " that are not padding",
            None => "",
        };
        self.reads_mean().then(|| {
            format!(
                "The class is read from the mean of all positions{unpadded}; the attention shown is that of {}, one of them",
                self.shown_reader()
            )
        })
    }
}
