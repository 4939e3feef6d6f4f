//! Whether brackets are balanced.

use headlight_schema::{InvalidValue, require, section};
use rand::Rng;

use super::rule::{Drawn, Rule};
use crate::cls::ClsPlace;
use crate::generator::Generator;
use crate::random::{uniform_below, uniform_unit};
use crate::sampler::Sampler;

section! {
    /// The brackets `opening` and `closing` are balanced; other tokens do not count.
    ///
    /// Half of the samples that are drawn are balanced, each with the same probability. Of the others, half are a balanced one with
    /// two brackets exchanged, and half are random brackets. With `padding`, strings have each even length with the same
    /// probability.
    #[derive(Copy, Eq)]
    pub struct BalancedBrackets {
        /// The token that opens.
        pub opening: u32,
        /// The token that closes.
        pub closing: u32,
        /// The token after the end of strings that are shorter than `seq_len`; if left out, none is shorter.
        #[omit(default)]
        pub padding: Option<u32> = None,
    }
}

impl BalancedBrackets {
    fn is_balanced(self, tokens: &[u32]) -> bool {
        let mut depth = 0_usize;
        for &token in tokens {
            if token == self.opening {
                depth += 1;
            } else if token == self.closing {
                match depth.checked_sub(1) {
                    Some(less) => depth = less,
                    None => return false,
                }
            }
        }
        depth == 0
    }

    /// A balanced string of an even length, drawn uniformly: of the paths of `left` steps from a depth to 0,
    /// `(depth + 2) (left - depth) / (2 left (depth + 1))` go up (Arnold and Sleep 1980, "Uniform Random Generation of Balanced
    /// Parenthesis Strings").
    fn balanced(self, length: usize, rng: &mut dyn Rng) -> Vec<u32> {
        let mut depth = 0_usize;
        let bracket = |step: usize| {
            let left = length - step;
            let up = ((depth + 2) * (left - depth)) as f64 / (2 * left * (depth + 1)) as f64;
            if uniform_unit(rng) < up {
                depth += 1;
                self.opening
            } else {
                depth -= 1;
                self.closing
            }
        };
        (0..length).map(bracket).collect()
    }

    fn unbalanced(self, length: usize, rng: &mut dyn Rng) -> Vec<u32> {
        let is_near = rng.next_u32().is_multiple_of(2);
        loop {
            let string = if is_near {
                let mut string = self.balanced(length, rng);
                let mut pick = |bracket: u32| {
                    let nth = uniform_below(length as u32 / 2, || rng.next_u32()) as usize;
                    let mut positions = (0..length).filter(|&position| string[position] == bracket);
                    positions.nth(nth)
                };
                if let (Some(open), Some(close)) = (pick(self.opening), pick(self.closing)) {
                    string.swap(open, close);
                }
                string
            } else {
                let mut bracket = || [self.opening, self.closing][(rng.next_u32() % 2) as usize];
                (0..length).map(|_| bracket()).collect()
            };
            if !self.is_balanced(&string) {
                return string;
            }
        }
    }

    /// A sample of a class.
    fn of_class(self, class: u32, sampler: Sampler, rng: &mut dyn Rng) -> Vec<u32> {
        let mut pairs = sampler.seq_len / 2;
        if self.padding.is_some() {
            pairs = 1 + uniform_below(pairs as u32, || rng.next_u32()) as usize;
        }
        let mut string = if class == 1 {
            self.balanced(2 * pairs, rng)
        } else {
            self.unbalanced(2 * pairs, rng)
        };
        string.resize(sampler.seq_len, self.padding.unwrap_or(self.opening));
        sampler.sample(|row| row.extend(string))
    }
}

impl Rule for BalancedBrackets {
    fn label_for(&self, tokens: &[u32], _cls: ClsPlace, _n_classes: usize) -> u32 {
        u32::from(self.is_balanced(tokens))
    }

    fn draw_of_class(&self, class: u32, _: usize, sampler: Sampler, rng: &mut dyn Rng) -> Drawn {
        Some(self.of_class(class, sampler, rng))
    }

    fn validate(&self, samples: Sampler) -> Result<(), InvalidValue> {
        samples.check_token("rule.opening", self.opening)?;
        samples.check_token("rule.closing", self.closing)?;
        require(
            self.opening != self.closing,
            "rule.closing",
            || "one token opens and closes; name two tokens",
        )?;
        if let Some(padding) = self.padding {
            samples.check_token("rule.padding", padding)?;
            let is_bracket = [self.opening, self.closing].contains(&padding);
            require(
                !is_bracket,
                "rule.padding",
                || "padding is a bracket; name another token",
            )?;
        }
        let has_length = self.padding.is_some() || samples.seq_len.is_multiple_of(2);
        require(
            has_length && samples.seq_len >= 2,
            "seq_len",
            || "a balanced string has an even number of brackets; set an even seq_len, or with rule.padding one of 2 or more",
        )
    }

    fn describe(&self) -> String {
        format!(
            "the brackets {} and {} are balanced",
            self.opening, self.closing
        )
    }

    fn deciding_place(&self) -> String {
        "all brackets together".to_owned()
    }

    fn generator(&self) -> Option<Generator> {
        Some(Generator::Chacha)
    }

    fn draw_any(&self, _held_out: bool, sampler: Sampler, rng: &mut dyn Rng) -> Vec<u32> {
        let class = rng.next_u32() % 2;
        self.of_class(class, sampler, rng)
    }
}
