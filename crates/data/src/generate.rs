//! Datasets from a seed.

use std::collections::HashSet;

use headlight_schema::InvalidValue;
use rand_mt::Mt;

use crate::config::DatasetConfig;
use crate::dataset::Splits;
use crate::draws::ClassShares;
use crate::fresh::FreshSamples;
use crate::generator::Generator;
use crate::random::{Stream, shuffle};

impl DatasetConfig {
    /// Draws the dataset: training samples, unless [`FreshSamples`] draws those of each step, and held-out samples.
    ///
    /// # Errors
    /// When a value is invalid, or the samples come from a file.
    pub fn generate(&self) -> Result<Splits, InvalidValue> {
        self.validate()?;
        let draws = ClassShares::of(self)?;
        let (rule, sampler) = (draws.rule, draws.sampler);
        let samples = draws.draw_config.samples.count();
        let mut train = self.no_samples();
        let mut held_out = train.without_samples();
        match draws.draw_config.generator {
            Generator::Numpy => {
                let mut mt = Mt::new(self.seed as u32);
                for _ in 0..samples {
                    train.push_labelled(
                        &sampler.uniform_sample(|| mt.next_u32()),
                        rule,
                        self.n_classes,
                    );
                }
            }
            Generator::All => {
                let mut order: Vec<u32> = (0..sampler.count() as u32).collect();
                shuffle(&mut order, &mut Stream::Split.rng(self.seed));
                for (rank, &index) in order[..samples + self.held_out].iter().enumerate() {
                    let part = if rank < samples {
                        &mut train
                    } else {
                        &mut held_out
                    };
                    part.push_labelled(&sampler.nth_sample(index.into()), rule, self.n_classes);
                }
            }
            Generator::Chacha | Generator::Sentences => {
                let mut rng = Stream::Data.rng(self.seed);
                for class in draws.labels(0, samples, &mut rng) {
                    let row = draws.draw(class, false, &mut rng).ok_or_else(|| {
                        let key = draws.draw_config.positive_rate.map_or("balanced", |_| "positive_rate");
                        let class = class.unwrap_or_default();
                        let message = format!("no sample of class {class} was found; change {key}, or raise data.vocab_size");
                        InvalidValue::new(key, message)
                    })?;
                    train.push_labelled(&row, rule, self.n_classes);
                }
            }
        }
        if draws.draw_config.generator != Generator::All && self.held_out > 0 {
            let known: HashSet<&[u32]> = train.all_tokens().chunks(train.positions()).collect();
            let mut rng = Stream::Split.rng(self.seed);
            for class in draws.labels(0, self.held_out, &mut rng) {
                let row = draws.draw_unknown(class, true, &known, &mut rng);
                let row = row.map_err(|reason| {
                    let remedy =
                        "set held_out = 0, ask for fewer samples, or let chance decide the classes";
                    InvalidValue::new("held_out", format!("{reason}; {remedy}"))
                })?;
                held_out.push_labelled(&row, rule, self.n_classes);
            }
        }
        if let Some(fresh) = FreshSamples::new(self, &held_out, 1, 0) {
            fresh.check()?;
        }
        self.make_noisy(&mut train);
        Ok(Splits::new(train, held_out))
    }
}
