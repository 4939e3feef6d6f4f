//! Rules, in a line each.
#![allow(dead_code, missing_docs, unreachable_pub)]

use headlight_data::LabelRule;
use headlight_data::rules::{
    Count, EqualPositions, SumMod, TokenAnywhere, TokenAtPosition, TokenBeforeToken,
};

pub fn at(token: u32, position: usize) -> LabelRule {
    TokenAtPosition { token, position }.into()
}

pub fn anywhere(token: u32) -> LabelRule {
    TokenAnywhere { token }.into()
}

pub fn before(first: u32, second: u32) -> LabelRule {
    TokenBeforeToken { first, second }.into()
}

pub fn equal(first: usize, second: usize) -> LabelRule {
    EqualPositions { first, second }.into()
}

pub fn count(token: u32) -> LabelRule {
    Count { token }.into()
}

pub fn sum(modulus: u32, positions: &[usize]) -> LabelRule {
    let positions = positions.to_vec();
    SumMod { modulus, positions }.into()
}
