//! The position whose attention is shown and measured. Where the classifier reads one position, it is that one; where it
//! reads the mean of all, the last one that holds no padding stands for them, or `[CLS]`. Where it reads each, one of them is
//! shown at first: the first token's or, where that may look at no other or the next token is asked, the last one that holds no
//! padding.

use headlight_architecture::{Pooling, StrongestHead};

use crate::config::ExperimentConfig;

/// Which of several heads is shown, and why, as a sentence without its full stop. It is the
/// [strongest](headlight_architecture::strongest_head) one in the samples that the run of its model dumps or, where they are not at
/// hand, in one sample.
pub fn head_note(layer: usize, head: StrongestHead, of_run: bool) -> String {
    let samples = if of_run {
        "the samples that the run dumps"
    } else {
        "this sample"
    };
    let why = head.reason();
    format!(
        "Of the heads of layer {layer}, head {} is shown: in {samples}, it {why}",
        head.head
    )
}

impl ExperimentConfig {
    /// Whether the classifier reads the mean of all positions that are not padding.
    pub fn reads_mean(&self) -> bool {
        self.model.pooling == Some(Pooling::Mean)
    }

    /// The position of a sample whose attention is shown. It is not padding, unless the classifier reads just that.
    pub fn readout_position(&self, tokens: &[u32]) -> usize {
        let read = self.inputs().read_position;
        let padding = self.model.attention.padding_token;
        let reads_all = self.reads_mean() || self.data.task.is_per_position();
        if !reads_all || Some(tokens[read]) != padding {
            return read;
        }
        let last = tokens.iter().rposition(|&token| Some(token) != padding);
        last.unwrap_or(read)
    }

    /// The position whose attention is shown, as messages name it.
    pub fn displayed_readout_name(&self) -> String {
        let reads_all = self.reads_mean() || self.data.task.is_per_position();
        let [_, last] = self.data.cls.first_and_last(self.data.seq_len);
        let may_be_padding = self.model.attention.padding_token.is_some();
        if reads_all && may_be_padding && self.inputs().read_position == last {
            "the last token".to_owned()
        } else {
            self.readout_name()
        }
    }

    /// The position whose attention is measured, as messages name it: the one that is shown or, with a label per position, each that
    /// counts.
    pub fn measured_readout_name(&self) -> String {
        if self.data.task.is_per_position() {
            "the positions that count".to_owned()
        } else {
            self.displayed_readout_name()
        }
    }

    /// The readout position or, with a label per position, each, if the mask lets it look at no token but itself.
    pub fn blind_readout(&self) -> Option<String> {
        let (inputs, attention) = (self.inputs(), &self.model.attention);
        let is_blind = |query| attention.is_blind(query, inputs.positions);
        let (is_blind, reader) = if inputs.per_position {
            let each = "each position".to_owned();
            ((0..inputs.positions).all(is_blind), each)
        } else {
            let is_blind = !self.reads_mean() && is_blind(inputs.read_position);
            (is_blind, self.readout_name())
        };
        (is_blind && inputs.positions > 1).then_some(reader)
    }

    /// That the answer does not come from the position that is shown alone, if it does not.
    pub fn mean_note(&self) -> Option<String> {
        if self.data.task.is_per_position() {
            return Some(format!(
                "The model answers at each position; the attention shown is that of {}, one of them",
                self.displayed_readout_name()
            ));
        }
        let unpadded = match self.model.attention.padding_token {
            Some(_) => " that are not padding",
            None => "",
        };
        self.reads_mean().then(|| {
            format!(
                "The class is read from the mean of all positions{unpadded}; the attention shown is that of {}, one of them",
                self.displayed_readout_name()
            )
        })
    }
}
