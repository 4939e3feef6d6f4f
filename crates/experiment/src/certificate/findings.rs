//! What a certificate says.

use serde::{Deserialize, Serialize};

use super::search::Tally;
use super::worst::Example;

/// Tokens that a class shows, at most.
const MOST_COMMON: usize = 3;

/// A token is shown if wrong inputs hold it so many times as often as all inputs.
const NOTABLE: f64 = 2.0;

/// How a model answers all inputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// All inputs.
    pub inputs: u64,
    /// Those that are answered wrongly.
    pub wrong: u64,
    /// Their share.
    pub share: f64,
    /// The smallest margin of any input; `None` if no examples were asked for.
    pub smallest_margin: Option<f64>,
    /// Inputs that the engine computed one by one to count them, since bounds did not decide.
    pub computed: u64,
    /// The answers to the inputs of each class.
    pub classes: Vec<ClassAnswers>,
}

/// How a model answers the inputs of a class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassAnswers {
    /// The class.
    pub class: u32,
    /// All of its inputs.
    pub inputs: u64,
    /// Those that are answered wrongly.
    pub wrong: u64,
    /// The smallest margin; `None` if it has no inputs, or no examples were asked for.
    pub smallest_margin: Option<f64>,
    /// The inputs with the smallest margins, the smallest first; those that are answered wrongly come before all others.
    pub worst: Vec<Example>,
    /// What the wrong ones have in common.
    pub common: Vec<CommonToken>,
    /// Of the wrong ones, those with each token at each position; tokens count from the first that a position can hold.
    /// `[position][token]`
    #[serde(skip)]
    pub tokens: Vec<Vec<u64>>,
}

/// A token that is more frequent in the wrong inputs of a class than in all inputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommonToken {
    /// The token.
    pub token: u32,
    /// How many positions of a wrong input hold it, on average.
    pub per_wrong_input: f64,
    /// How many of any input, on average.
    pub per_input: f64,
    /// The share of the wrong inputs that hold it, at each position. `[position]`
    pub positions: Vec<f64>,
}

impl Certificate {
    pub(super) fn new(tally: Tally, worst: Vec<Vec<Example>>, first: &[u32]) -> Self {
        let parts = tally
            .inputs
            .into_iter()
            .zip(tally.wrong)
            .zip(tally.tokens)
            .zip(worst);
        let classes = parts
            .enumerate()
            .map(|(class, (((inputs, wrong), tokens), worst))| ClassAnswers {
                class: class as u32,
                inputs,
                wrong,
                smallest_margin: worst.first().map(|example| example.margin),
                worst,
                common: common(&tokens, wrong, first),
                tokens,
            });
        let classes: Vec<ClassAnswers> = classes.collect();
        let (inputs, wrong) = (
            classes.iter().map(|class| class.inputs).sum(),
            classes.iter().map(|class| class.wrong).sum(),
        );
        let margins = classes.iter().filter_map(|class| class.smallest_margin);
        Self {
            inputs,
            wrong,
            share: wrong as f64 / inputs as f64,
            smallest_margin: margins.reduce(f64::min),
            computed: tally.computed,
            classes,
        }
    }
}

/// The tokens that are most over-represented, by how much more often they occur.
fn common(tokens: &[Vec<u64>], wrong: u64, first: &[u32]) -> Vec<CommonToken> {
    let free = |position: usize| tokens[position].len() > 1;
    let places = (0..tokens.len()).filter(|&position| free(position)).count();
    let Some(position) = (0..tokens.len())
        .find(|&position| free(position))
        .filter(|_| wrong > 0)
    else {
        return Vec::new();
    };
    let count = tokens[position].len();
    let of_token = |token: usize| {
        let share = |position: usize| {
            let own = tokens[position].get(token).filter(|_| free(position));
            own.map_or(0.0, |&own| own as f64 / wrong as f64)
        };
        let positions: Vec<f64> = (0..tokens.len()).map(share).collect();
        CommonToken {
            token: first[position] + token as u32,
            per_wrong_input: positions.iter().sum(),
            per_input: places as f64 / count as f64,
            positions,
        }
    };
    let all = (0..count).map(of_token);
    let mut all: Vec<_> = all
        .filter(|own| own.per_wrong_input >= NOTABLE * own.per_input)
        .collect();
    all.sort_by(|a, b| b.per_wrong_input.total_cmp(&a.per_wrong_input));
    all.truncate(MOST_COMMON);
    all
}
