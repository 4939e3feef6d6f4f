//! The config of an experiment.

use headlight_architecture::{Inputs, Mask, ModelConfig, Pooling};
use headlight_data::words::PAD;
use headlight_data::{CLS, ClsPlace, Dataset, DatasetConfig, SampleShape, Task, TestSet};
use headlight_schema::{ConfigSection, InvalidValue, section};

use super::class_weights::ClassWeights;
use super::compute::ComputeConfig;
use super::recording::{CheckpointConfig, DumpConfig, ReportConfig};
use super::training::{TokenSecondMoment, TrainingConfig};

section! {
    /// The config of an experiment, with a field for each section.
    #[complete(ExperimentConfig::complete)]
    pub struct ExperimentConfig {
        /// Seed of the initial parameters, the order of batches, dropout, and samples that steps draw.
        pub seed: u64 = 0,
        /// The samples.
        pub data: DatasetConfig,
        /// Samples that the model is tested on besides the held-out ones.
        #[omit(default)]
        pub tests: Vec<TestSet> = Vec::new(),
        /// The model.
        pub model: ModelConfig,
        /// How the model is trained.
        pub training: TrainingConfig,
        /// Which attention dumps to write.
        pub dump: DumpConfig = DumpConfig::default(),
        /// How often to save the state, so that the run can be resumed.
        pub checkpoint: CheckpointConfig = CheckpointConfig::default(),
        /// How to report what came of training.
        #[omit(default)]
        pub report: ReportConfig = ReportConfig::default(),
        /// The engine and the device.
        pub compute: ComputeConfig = ComputeConfig::default(),
    }
}

impl ExperimentConfig {
    /// Checks every value except `compute.device`; the table of devices is not in this crate.
    ///
    /// # Errors
    /// Names the first invalid value with its full key, such as `data.rule.position`.
    pub fn validate(&self) -> Result<(), InvalidValue> {
        let within = |section| move |invalid: InvalidValue| invalid.within(section);
        self.data.validate().map_err(within("data"))?;
        let padding = self.model.attention.padding_token;
        if self.data.words.is_some() && padding != Some(PAD) {
            let message = format!("the token that pads texts is {PAD}; set padding_token = {PAD}");
            return Err(InvalidValue::new("model.attention.padding_token", message));
        }
        self.model.validate().map_err(within("model"))?;
        self.check_size()?;
        let fits = self.model.validate_for(self.inputs());
        fits.map_err(within("model"))?;
        self.validate_task()?;
        self.validate_fresh()?;
        self.validate_tests()?;
        self.training.validate().map_err(within("training"))?;
        if let Some(weights) = &self.training.class_weights {
            let checked = weights.list(&self.data, &self.data.no_samples());
            checked.map_err(within("training"))?;
        }
        if self.model.tied_embeddings
            && self.training.token_second_moment.value == TokenSecondMoment::PerOccurrence
        {
            return Err(InvalidValue::new(
                "training.token_second_moment",
                "\"per-occurrence\" squares the gradients of tokens, and tied embeddings (model.tied_embeddings) also get gradients from the classifier; \
                 set \"per-token\"",
            ));
        }
        if self.training.token_dropout > 0.0 && padding.is_none() {
            return Err(InvalidValue::new(
                "training.token_dropout",
                "padding takes the place of tokens that are left out; set model.attention.padding_token",
            ));
        }
        if self.training.dropout.hidden > Some(0.0) && self.model.d_ff == 0 {
            return Err(InvalidValue::new(
                "training.dropout.hidden",
                "the model has no feed-forward layer; set model.d_ff, or remove this key",
            ));
        }
        self.report.check_ranges().map_err(within("report"))?;
        if self.dump.formats.is_empty() {
            return Err(InvalidValue::new(
                "dump.formats",
                "the list is empty; name at least one of npz, json and csv",
            ));
        }
        Ok(())
    }

    fn validate_task(&self) -> Result<(), InvalidValue> {
        let task = self.data.task;
        if self.training.loss_per_sample && !task.is_per_position() {
            return Err(InvalidValue::new(
                "training.loss_per_sample",
                "samples have one label, so their losses are averaged anyway; remove this key",
            ));
        }
        if task != Task::NextToken {
            return Ok(());
        }
        if self.data.cls == ClsPlace::Last {
            return Err(InvalidValue::new(
                "data.cls",
                "no token follows the last one; set \"first\", so that [CLS] comes before the first token, or \"none\"",
            ));
        }
        let positions = self.inputs().positions;
        let is_causal = match &self.model.attention.mask {
            Mask::None => positions == 1,
            Mask::Causal => true,
            Mask::Matrix(rows) => {
                let mut rows = rows.iter().enumerate();
                !rows.any(|(query, row)| row.iter().skip(query + 1).any(|&may| may))
            }
        };
        if !is_causal {
            return Err(InvalidValue::new(
                "model.attention.mask",
                "with data.task = \"next-token\", a query must not see the tokens after it; set mask = \"causal\"",
            ));
        }
        Ok(())
    }

    /// Checks what has no meaning without epochs.
    fn validate_fresh(&self) -> Result<(), InvalidValue> {
        if !self.data.is_fresh() {
            return Ok(());
        }
        let none =
            "data.samples is \"fresh\": each step draws its own samples, and there are no epochs";
        let refused =
            |key: &str, remedy: &str| Err(InvalidValue::new(key, format!("{none}; {remedy}")));
        if self.training.epochs.is_some() {
            return refused(
                "training.epochs",
                "remove training.epochs, and set training.steps",
            );
        }
        if self.training.steps.is_none() {
            return refused("training.steps", "set training.steps");
        }
        if self.training.class_weights == Some(ClassWeights::Balanced) {
            let remedy = "\"balanced\" has no fixed samples to count; give a weight for each class that should not have 1, such as { 1 = 5.0 }";
            return refused("training.class_weights", remedy);
        }
        if self.dump.every_epochs.value > 0 && self.dump.every_epochs.is_given {
            return refused(
                "dump.every_epochs",
                "remove dump.every_epochs, and set dump.every_steps",
            );
        }
        if self.checkpoint.every_epochs > 0 {
            return refused(
                "checkpoint.every_epochs",
                "remove checkpoint.every_epochs, and set checkpoint.every_steps",
            );
        }
        Ok(())
    }

    /// Defaults that depend on the samples.
    fn complete(&mut self) {
        if self.data.is_fresh() {
            self.dump.every_epochs.adapt(0);
        }
    }

    /// The form that all samples have.
    pub fn sample_shape(&self) -> SampleShape {
        SampleShape::new(&self.data, self.model.attention.padding_token)
    }

    /// The properties of the samples that determine the shape of the model.
    pub fn inputs(&self) -> Inputs {
        let data = &self.data;
        let (cls, positions) = (
            data.cls.position(data.seq_len),
            data.cls.positions(data.seq_len),
        );
        let last = positions.saturating_sub(1);
        Inputs {
            vocab_size: data.vocab_size as usize,
            positions,
            cls,
            read_position: match self.model.pooling {
                // Of one that may look at no other, attention shows nothing.
                None if data.task == Task::TokenClassification => {
                    let [first, last] = data.cls.first_and_last(data.seq_len);
                    let is_blind = self.model.attention.is_blind(first, positions);
                    if is_blind { last } else { first }
                }
                None if data.task == Task::NextToken => last,
                None | Some(Pooling::Cls | Pooling::Mean) => cls.unwrap_or(last),
                Some(Pooling::Last) => last,
                Some(Pooling::Position(position)) => position,
            },
            n_classes: data.n_classes,
            per_position: data.task.is_per_position(),
        }
    }

    /// The readout position, as messages name it: `[CLS]`, or its number.
    pub fn readout_name(&self) -> String {
        if self.reads_cls() {
            "[CLS]".to_owned()
        } else {
            format!("position {}", self.inputs().read_position)
        }
    }

    /// Whether the class is read from `[CLS]`.
    pub fn reads_cls(&self) -> bool {
        let inputs = self.inputs();
        inputs.cls == Some(inputs.read_position)
    }

    /// Samples to run a model on, with `[CLS]` where samples have it: their labels mean nothing. `[sample][position]`
    ///
    /// # Errors
    /// When a sample has another length, lacks `[CLS]`, or holds a token that the config lacks.
    pub fn unlabelled(
        &self,
        samples: impl IntoIterator<Item: AsRef<[u32]>>,
    ) -> Result<Dataset, String> {
        let inputs = self.inputs();
        let mut dataset = self.data.no_samples();
        for (index, tokens) in samples.into_iter().enumerate() {
            let tokens = tokens.as_ref();
            let length = inputs.positions;
            if tokens.len() != length {
                let (count, given) = (self.data.seq_len, tokens.len());
                let with_cls = inputs
                    .cls
                    .map_or_else(String::new, |_| format!(", with [CLS] {length}"));
                return Err(format!(
                    "a sample has {count} tokens{with_cls}; sample {index} has {given}"
                ));
            }
            if let Some(at) = inputs.cls
                && tokens[at] != CLS
            {
                return Err(format!(
                    "sample {index}: position {at} is not [CLS], which is token 0"
                ));
            }
            let size = self.data.vocab_size;
            if let Some(token) = tokens.iter().find(|&&token| token >= size) {
                return Err(format!(
                    "sample {index}: token {token} is not below data.vocab_size, {size}"
                ));
            }
            dataset.push(tokens, 0);
        }
        Ok(dataset)
    }
}
