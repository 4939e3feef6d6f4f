//! Measures of a trained model: numbers that answer a question about how it works, beside the metrics, which say how well.
//! A config names those that it wants in `report.measures`. Each is a file here, which has all that Headlight knows of it.
//!
//! The table of [`MeasureName`] has their names and sentences everywhere. What computes them needs the feature `measures`,
//! which the module of the page leaves out.

#[cfg(feature = "measures")]
mod attended;
#[cfg(feature = "measures")]
mod circularity;
#[cfg(feature = "measures")]
mod components;
#[cfg(feature = "measures")]
mod deciding_attention;
#[cfg(feature = "measures")]
mod deciding_uniform;
#[cfg(feature = "measures")]
mod distance_irrelevance;
#[cfg(feature = "measures")]
mod gradient_symmetricity;
#[cfg(feature = "measures")]
mod kendall;
#[cfg(feature = "measures")]
mod kendall_gradient;
#[cfg(feature = "measures")]
mod kendall_removal;
#[cfg(feature = "measures")]
mod subject;
#[cfg(feature = "measures")]
mod sums;

use headlight_keys::choices;
use serde::Serialize;

#[cfg(feature = "measures")]
use crate::config::ExperimentConfig;
#[cfg(feature = "measures")]
use subject::Subject;

/// Lists the measures, each with its name in configs and rows, and the file that computes it.
macro_rules! measures {
    ($( $(#[doc = $doc:literal])+ $measure:ident = $name:literal in $file:ident, )*) => {
        choices! {
            /// A measure of a trained model. The order is that of the columns of rows.
            #[derive(PartialOrd, Ord)]
            pub enum MeasureName {
                $( $(#[doc = $doc])+ $measure = $name, )*
            }
        }

        impl MeasureName {
            /// What it measures.
            pub fn sentence(self) -> String {
                match self {
                    $( Self::$measure => headlight_keys::sentence(&[$($doc),+]), )*
                }
            }

            /// Which models have it, what its values can be, and how it is computed.
            #[cfg(feature = "measures")]
            pub fn info(self) -> &'static MeasureInfo {
                match self {
                    $( Self::$measure => &$file::INFO, )*
                }
            }
        }
    };
}

measures! {
    /// The attention that the position which is read pays to the positions that decide a sample's label, for each block and
    /// head: a list of lists. Mean over samples.
    DecidingAttention = "deciding_attention" in deciding_attention,
    /// What `deciding_attention` would be if attention were uniform: the share of the keys that decide. Mean over samples.
    DecidingUniform = "deciding_uniform" in deciding_uniform,
    /// How little a - b matters to the logit of the right class of (a + b) mod p (Zhong et al. 2023): 1 if it depends on a + b
    /// alone, 0 if it depends on a - b alone.
    DistanceIrrelevance = "distance_irrelevance" in distance_irrelevance,
    /// How alike the two numbers of a sum modulo p act on a logit (Zhong et al. 2023): the mean cosine between the gradients by
    /// their embeddings.
    GradientSymmetricity = "gradient_symmetricity" in gradient_symmetricity,
    /// How close to circles the embeddings of the numbers modulo p lie (Zhong et al. 2023): the largest share of power at one
    /// frequency, mean over the first four principal components.
    Circularity = "circularity" in circularity,
    /// Whether the words that get more attention are those with the larger gradient (Jain and Wallace 2019): Kendall's tau-b
    /// over the words of a sample, mean over samples.
    KendallGradient = "kendall_gradient" in kendall_gradient,
    /// Whether the words that get more attention are those that change the prediction most when they are left out (Jain and
    /// Wallace 2019): Kendall's tau-b over the words of a sample, mean over samples.
    KendallRemoval = "kendall_removal" in kendall_removal,
}

/// What is known of a measure besides its name.
#[cfg(feature = "measures")]
#[derive(Debug)]
pub struct MeasureInfo {
    /// Digits after the decimal point in tables.
    pub decimals: usize,
    /// The least and the largest value that it can have.
    pub range: [f64; 2],
    /// Whether it has a value for each block and head.
    pub is_per_head: bool,
    /// Why a config's models do not have it, as the rest of a sentence that begins with its name.
    check: fn(&ExperimentConfig) -> Result<(), String>,
    /// Its value for a model.
    value: fn(&mut Subject<'_>) -> Result<Measured, crate::Error>,
}

/// The value of a measure; `null` in JSON if no sample of the model defines it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Measured {
    /// It is not defined.
    Undefined,
    /// One number.
    Number(f64),
    /// `[layer][head]`
    PerHead(Vec<Vec<f64>>),
}

impl From<Option<f64>> for Measured {
    fn from(value: Option<f64>) -> Self {
        value
            .filter(|value| value.is_finite())
            .map_or(Self::Undefined, Self::Number)
    }
}

#[cfg(feature = "measures")]
impl MeasureName {
    /// Checks that the models of a config have it.
    ///
    /// # Errors
    /// Says in a sentence why they do not.
    pub fn check(self, config: &ExperimentConfig) -> Result<(), String> {
        (self.info().check)(config).map_err(|why| format!("{} {why}", self.name()))
    }
}

/// The measures that a config asks for, of a model with these weights, which are in the model's order one after the other. The
/// samples are the held-out ones of a run, or else those that it was trained on.
///
/// All passes are the fused engine's, whichever engine trained the model, so values are the same bytes on every machine.
///
/// # Errors
/// When the weights are not those of such a model, or not finite.
#[cfg(feature = "measures")]
pub fn measured(
    config: &ExperimentConfig,
    weights: &[f32],
    samples: &headlight_data::Dataset,
) -> Result<Vec<(MeasureName, Measured)>, crate::Error> {
    let mut subject = Subject::new(config, weights, samples)?;
    let names = config.report.measures.iter();
    let measured = names.map(|&name| Ok((name, (name.info().value)(&mut subject)?)));
    measured.collect()
}
