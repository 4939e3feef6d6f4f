//! What a certificate says.

use core::ops::Range;

use serde::{Deserialize, Serialize};

use super::search::Tally;
use super::smallest::Example;

/// Tokens that a class shows, at most.
const MOST_COMMON: usize = 3;

/// A token is shown if the wrong inputs of a class hold it so many times as often as its right ones.
const NOTABLE: f64 = 2.0;

/// How a model answers all inputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// All inputs.
    pub inputs: u64,
    /// The inputs that are answered wrongly.
    pub wrong: u64,
    /// Their share.
    pub share: f64,
    /// The smallest margin of any input; `None` if no examples were asked for.
    pub smallest_margin: Option<f64>,
    /// Inputs that the engine computed one by one to count them, since their margins were near 0.
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
    /// The inputs that are answered wrongly.
    pub wrong: u64,
    /// The smallest margin; `None` if it has no inputs, or no examples were asked for.
    pub smallest_margin: Option<f64>,
    /// The inputs with the smallest margins, the smallest first; those that are answered wrongly come before all others.
    pub worst: Vec<Example>,
    /// What the wrong ones have in common, and the right ones have not; empty if all are wrong.
    pub common: Vec<CommonToken>,
    /// Of the wrong ones, those with each token at each position; tokens count from the first that a position can hold.
    /// `[position][token]`
    #[serde(skip)]
    pub tokens: Vec<Vec<u64>>,
}

/// A token that is more frequent in the wrong inputs of a class than in its right ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommonToken {
    /// The token.
    pub token: u32,
    /// How many positions of a wrong input hold it, on average.
    pub per_wrong_input: f64,
    /// How many of a right input, on average.
    pub per_right_input: f64,
    /// The share of the wrong inputs that hold it, at each position. `[position]`
    pub positions: Vec<f64>,
}

impl Certificate {
    pub(super) fn new(tally: Tally, of_positions: &[Range<u32>]) -> Self {
        let worst = tally.smallest.into_iter().map(|smallest| smallest.found);
        let classes = worst.zip(tally.tokens).enumerate();
        let answers = |(class, (worst, tokens)): (usize, (Vec<Example>, Vec<Vec<u64>>))| {
            let (inputs, wrong) = (tally.inputs[class], tally.wrong[class]);
            ClassAnswers {
                class: class as u32,
                inputs,
                wrong,
                smallest_margin: worst.first().map(|example| example.margin),
                worst,
                common: common([&tokens, &tally.all[class]], [wrong, inputs], of_positions),
                tokens,
            }
        };
        let classes: Vec<ClassAnswers> = classes.map(answers).collect();
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

/// The tokens that wrong inputs hold much more often than right ones, the most frequent first. Counts are those of the wrong inputs of a
/// class and of all of them.
fn common(
    [tokens, all]: [&[Vec<u64>]; 2],
    [wrong, inputs]: [u64; 2],
    of_positions: &[Range<u32>],
) -> Vec<CommonToken> {
    let right = inputs - wrong;
    let free: Vec<usize> = (0..tokens.len())
        .filter(|&position| tokens[position].len() > 1)
        .collect();
    let Some(&position) = free.first().filter(|_| wrong > 0 && right > 0) else {
        return Vec::new();
    };
    let of_token = |token: usize| {
        let mut positions = vec![0.0; tokens.len()];
        let mut per_right_input = 0.0;
        for &position in &free {
            let in_wrong = tokens[position][token];
            positions[position] = in_wrong as f64 / wrong as f64;
            per_right_input += (all[position][token] - in_wrong) as f64 / right as f64;
        }
        CommonToken {
            token: of_positions[position].start + token as u32,
            per_wrong_input: positions.iter().sum(),
            per_right_input,
            positions,
        }
    };
    let every = (0..tokens[position].len()).map(of_token);
    let mut common: Vec<_> = every
        .filter(|token| token.per_wrong_input > 0.0)
        .filter(|token| token.per_wrong_input >= NOTABLE * token.per_right_input)
        .collect();
    common.sort_by(|a, b| b.per_wrong_input.total_cmp(&a.per_wrong_input));
    common.truncate(MOST_COMMON);
    common
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four wrong inputs and six right ones of two positions; tokens are 1 to 3, and `[CLS]` is between.
    #[test]
    fn tokens_of_wrong_inputs_are_compared_with_right_ones() {
        let tokens = [vec![4, 0, 0], vec![4], vec![3, 1, 0]];
        let all = [vec![5, 3, 2], vec![10], vec![5, 2, 3]];
        let found = common([&tokens, &all], [4, 10], &[1..4, 0..1, 1..4]);
        let expected = CommonToken {
            token: 1,
            per_wrong_input: 1.75,
            per_right_input: 0.5,
            positions: vec![1.0, 0.0, 0.75],
        };
        assert_eq!(found, [expected]);
        assert_eq!(common([&tokens, &tokens], [4, 4], &[1..4, 0..1, 1..4]), []);
    }
}
