//! An outcome in words.

use super::baselines::{Baseline, Guess};
use super::judgement::{FEWEST_JUDGED, Outcome, Verdict};

/// With fewer samples than these, a sentence also gives the interval of the accuracy.
const FEW: usize = 500;

impl Outcome {
    /// All of it, in a paragraph; `class_name` names a class, `f1_of` that of F1 where two classes have names, and `counted` says
    /// what samples consist of: words, or values.
    pub fn sentences(
        &self,
        class_name: impl Fn(u32) -> String,
        f1_of: Option<&str>,
        counted: &str,
    ) -> String {
        let lines = [self.verdict_text(&class_name, f1_of)].into_iter();
        let baselines = self.baseline_texts(&class_name, counted);
        let compared = match &*baselines.join("; ") {
            "" => None,
            all => Some(format!("For comparison, {all}")),
        };
        let lines = lines
            .chain(compared)
            .chain(self.remarks(class_name, counted));
        let sentences: Vec<String> = lines.map(|line| line + ".").collect();
        sentences.join(" ")
    }

    /// The verdict, without a full stop.
    pub fn verdict_text(&self, class_name: impl Fn(u32) -> String, f1_of: Option<&str>) -> String {
        let judged = self.judged();
        let samples = samples_text(self.samples);
        let accuracy = self.accuracy;
        let [low, high] = self.accuracy_interval;
        let of = f1_of.map_or_else(String::new, |class| format!(" of {class}"));
        let f1 = format!("F1{of} {}", decimals(self.f1));
        let of_step = self.of_step();
        let of = if self.whole_samples.or(self.bits).is_some() {
            "accuracy per position"
        } else {
            "accuracy"
        };
        let measured = format!(
            "{judged} {of} {accuracy:.3} ({low:.3} to {high:.3}), {f1}, {samples}{of_step}"
        );
        let measured = match self.bits {
            Some(bits) => format!(
                "{judged} loss {:.3} nats per token, {measured}",
                bits * std::f64::consts::LN_2
            ),
            None => measured,
        };
        match (self.verdict, self.one_class) {
            (Verdict::NothingToLearn, class) => format!(
                "Nothing to learn: all {} samples are of class {}",
                if self.is_fresh { judged } else { "training" },
                class.map_or_else(String::new, class_name)
            ),
            (Verdict::Learned, _) if self.samples < FEW => format!(
                "Learned: {judged} {f1}, accuracy {accuracy:.3} ({low:.3} to {high:.3}), on {samples}{}",
                self.first_text()
            ),
            (Verdict::Learned, _) => {
                format!("Learned: {judged} {f1} on {samples}{}", self.first_text())
            }
            (Verdict::BetterThanBaselines, _) => format!("Better than its baselines: {measured}"),
            (Verdict::NoBetterThanBaselines, _) => {
                let is_worse =
                    self.bits.is_none() && self.baselines.iter().any(|other| other.accuracy > high);
                let how = if self.samples < FEWEST_JUDGED {
                    "Too few samples to judge the model"
                } else if is_worse {
                    "Worse than its best baseline"
                } else {
                    "Not clearly better than its baselines"
                };
                format!("{how}: {measured}")
            }
        }
    }

    /// What each baseline scores, without full stops; empty if there is nothing to learn.
    pub fn baseline_texts(&self, class_name: impl Fn(u32) -> String, counted: &str) -> Vec<String> {
        if self.verdict == Verdict::NothingToLearn {
            return Vec::new();
        }
        let text = |Baseline {
                        guess,
                        accuracy,
                        f1,
                    }: &Baseline| {
            let guess = guess.name(&class_name, counted);
            format!("{guess}: F1 {}, accuracy {accuracy:.3}", decimals(*f1))
        };
        self.baselines.iter().map(text).collect()
    }

    /// What else a reader should know, without full stops.
    pub fn remarks(&self, class_name: impl Fn(u32) -> String, counted: &str) -> Vec<String> {
        let mut remarks = Vec::new();
        let judged = self.judged();
        if let Some(share) = self.whole_samples {
            let share = 100.0 * share;
            remarks.push(format!(
                "All answers are right in {share:.1}% of the {judged} samples"
            ));
        }
        if let Some(bits) = self.bits {
            let pairs = self.bits_of_pairs.map(|bits| {
                let nats = bits * std::f64::consts::LN_2;
                format!("; a model that counts pairs of tokens has {bits:.3} bits, {nats:.3} nats")
            });
            remarks.push(format!(
                "The {judged} loss is {bits:.3} bits per token{}",
                pairs.unwrap_or_default()
            ));
        }
        if self.samples < FEWEST_JUDGED && self.learned().is_some() {
            let samples = samples_text(self.samples);
            remarks.push(format!(
                "The model is judged on {samples}, too few to tell a good model from a lucky one; hold out {FEWEST_JUDGED} or more (data.held_out)"
            ));
        }
        let rivals = self.baselines.iter().filter(|other| self.is_rival(other));
        let rivals: Vec<String> = rivals
            .map(|other| other.guess.name(&class_name, counted))
            .collect();
        if !rivals.is_empty() {
            let (accuracy, [low, high]) = (self.accuracy, self.accuracy_interval);
            remarks.push(format!(
                "Accuracy is {accuracy:.3} (95% interval {low:.3} to {high:.3}), which is not clearly above that of {}",
                rivals.join(", nor of ")
            ));
        }
        if !self.held_out {
            remarks.push(
                "No samples were held out, so the model is judged on the training samples"
                    .to_owned(),
            );
        }
        if let Some(overfitting) = self.overfitting {
            remarks.push(format!(
                "Overfitting: accuracy is {:.3} on the training samples and {:.3} on held-out ones",
                overfitting.train_accuracy, self.accuracy
            ));
        }
        if let (Some(class), Some(_)) = (self.one_class, self.learned()) {
            let class = class_name(class);
            remarks.push(format!("The model predicts {class} for all samples"));
        }
        if let (Some(step), Some(false)) = (self.first_learned_at_step, self.learned()) {
            let from = self.learned_from;
            remarks.push(format!(
                "{judged} F1 had reached {from} at the evaluation of step {step}"
            ));
        }
        if let Some((criterion, patience)) = self.stopped_by {
            remarks.push(format!(
                "Training ended early, because {} had not improved for {patience} evaluations; training.patience = 0 trains to \
                 the end",
                criterion.name()
            ));
        }
        if let Some(reader) = &self.blind {
            remarks.push(format!(
                "The mask lets {reader} look at no token but itself"
            ));
        }
        if self.uniform_attention {
            let reader = &self.reader;
            remarks.push(format!("Attention from {reader} is still close to uniform"));
        }
        remarks
    }

    /// Whether a baseline may be as accurate as a model that learned, so that this task does not show that it did.
    fn is_rival(&self, baseline: &Baseline) -> bool {
        self.verdict == Verdict::Learned && baseline.accuracy >= self.accuracy_interval[0]
    }

    fn first_text(&self) -> String {
        let first = self.first_learned_at_step.unwrap_or(self.step);
        format!(" (first measured at step {first}{})", self.of_step())
    }

    /// Which model this is, if it is not the last one.
    fn of_step(&self) -> String {
        let (step, steps) = (self.step, self.steps);
        match step {
            _ if step == steps => String::new(),
            0 => format!("; the model kept is that of step 0 of {steps}: untrained"),
            _ => format!("; this model is of step {step} of {steps}"),
        }
    }

    fn judged(&self) -> &'static str {
        if self.held_out {
            "held-out"
        } else {
            "training"
        }
    }
}

impl Guess {
    fn name(self, class_name: impl Fn(u32) -> String, counted: &str) -> String {
        match self {
            Self::Majority { class } => format!("always {}", class_name(class)),
            Self::Token => "the most frequent class of the token alone".to_owned(),
            Self::WordCounts => format!("counts of {counted} (naive Bayes)"),
        }
    }
}

fn samples_text(samples: usize) -> String {
    match samples {
        1 => "1 sample".to_owned(),
        all => format!("{} samples", with_thousands(&all)),
    }
}

fn decimals(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.3}"))
}

/// A whole number with a comma between thousands.
pub fn with_thousands(count: &impl ToString) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
