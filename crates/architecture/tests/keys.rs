//! Keys, uniform attention and the strongest head, against values by hand.
#![allow(missing_docs, clippy::float_cmp, clippy::unwrap_used)]

use headlight_architecture::{
    AttentionConfig, HeadStrength, Keys, Mask, ReadoutAttention, StrongestHead, is_uniform,
    strongest_head,
};

fn keys(mask: Mask, padding_token: Option<u32>, query: usize, tokens: &[u32]) -> Keys {
    let attention = AttentionConfig {
        mask,
        padding_token,
        ..AttentionConfig::default()
    };
    attention.keys(query, tokens)
}

#[test]
fn uniform_attention_is_one_over_the_keys_that_a_query_may_look_at() {
    let tokens = [0, 4, 42, 5, 6, 7, 8];
    let all = keys(Mask::None, None, 0, &tokens);
    assert_eq!((all.count(), all.uniform(&[3])), (7, Some(1.0 / 7.0)));
    assert_eq!(all.uniform(&[3, 5]), Some(2.0 / 7.0));

    // The third query of a causal model sees three keys, and no later one.
    let third = keys(Mask::Causal, None, 2, &tokens);
    assert_eq!(third, [0, 1, 2].into_iter().collect());
    assert_eq!(third.uniform(&[1]), Some(1.0 / 3.0));
    assert_eq!(third.uniform(&[1, 3]), Some(1.0 / 3.0));
    assert_eq!(third.uniform(&[3]), Some(0.0));

    // Seven words in twelve positions.
    let padded = [0, 4, 5, 6, 7, 8, 9, 1, 1, 1, 1, 1];
    let words = keys(Mask::None, Some(1), 0, &padded);
    assert_eq!((words.count(), words.uniform(&[2])), (7, Some(1.0 / 7.0)));
    assert_eq!(keys(Mask::Causal, Some(1), 9, &padded).count(), 7);

    let mask = Mask::Matrix(vec![vec![false, false], vec![true, false]]);
    let none = keys(mask, None, 0, &[0, 4]);
    assert_eq!((none.count(), none.uniform(&[1])), (0, None));
}

/// Effective weights are `r` times the softmax, plus `1 - r` on each key.
#[test]
fn uniform_attention_follows_the_rate() {
    let four: Keys = (0..4).collect();
    let half = four.clone().with_attention_rate(Some(0.5));
    assert_eq!(half.uniform(&[1]), Some(0.5 / 4.0 + 0.5));
    assert_eq!(half.uniform_each(), Some(0.625));
    assert!((half.divergence(&[0.75, 0.75, 0.5, 0.5]) - 2.0_f64.ln()).abs() < 1e-12);
    assert_eq!(
        four.clone()
            .with_attention_rate(Some(0.0))
            .divergence(&[1.0; 4]),
        0.0
    );
    assert_eq!(four.clone().with_attention_rate(Some(1.0)), four);
    let without_softmax = four.with_attention_rate(None);
    assert_eq!(without_softmax.divergence(&[0.5, -2.0, 0.0, 1.0]), 3.5);
    assert_eq!(
        (
            without_softmax.uniform(&[1]),
            without_softmax.uniform_each()
        ),
        (None, None)
    );
}

#[test]
fn divergence_is_in_nats() {
    let keys: Keys = (0..4).collect();
    let close = |weights: [f32; 4], nats: f64| {
        let found = keys.divergence(&weights);
        assert!((found - nats).abs() < 1e-7, "{found}");
    };
    close([0.25; 4], 0.0);
    close([0.0, 1.0, 0.0, 0.0], 4.0_f64.ln());
    close([0.5, 0.5, 0.0, 0.0], 2.0_f64.ln());
    // 1/2 ln 2 + 1/4 ln 1 + 2 · 1/8 ln 1/2
    close([0.5, 0.25, 0.125, 0.125], 0.25 * 2.0_f64.ln());
    // A key that the query may not look at does not count.
    let two: Keys = [1, 2].into_iter().collect();
    assert!(two.divergence(&[0.0, 0.5, 0.5, 0.0]).abs() < 1e-12);
}

#[test]
fn a_weight_is_a_multiple_of_uniform_attention_where_there_are_keys() {
    let padded = [0, 4, 5, 6, 7, 8, 9, 1, 1, 1, 1, 1];
    let words = keys(Mask::None, Some(1), 0, &padded);
    assert_eq!(words.times_uniform(1.0 / 7.0), Some(1.0));
    assert_eq!(
        keys(Mask::Causal, None, 2, &padded).times_uniform(0.5),
        Some(1.5)
    );
    let none: Keys = [].into_iter().collect();
    assert_eq!(none.times_uniform(0.0), None);
}

#[test]
fn a_head_is_uniform_if_each_of_its_rows_is() {
    let (one, four): (Keys, Keys) = ((0..1).collect(), (0..4).collect());
    let even: &[f32] = &[0.26, 0.24, 0.25, 0.25];
    // 1/2 ln 2 + 3/6 ln 2/3 = 0.14 nats.
    let sharp: &[f32] = &[0.5, 0.17, 0.17, 0.16];
    let first: &[f32] = &[1.0, 0.0, 0.0, 0.0];
    assert!(is_uniform([(&one, first), (&four, even), (&four, even)]));
    // Many even rows do not hide one that is not.
    let rows = std::iter::repeat_n((&four, even), 1000);
    assert!(!is_uniform(rows.chain([(&four, sharp)])));
    assert!(!is_uniform([(&one, first)]));
    assert!(!is_uniform([]));
}

fn look<'a>(
    weights: &[&'a [f32]],
    label: Option<u32>,
    deciding: &'a [usize],
) -> ReadoutAttention<'a> {
    ReadoutAttention {
        weights: weights.to_vec(),
        keys: (0..3).collect(),
        label,
        deciding,
    }
}

#[test]
fn the_strongest_head_looks_most_at_what_decides() {
    let even: &[f32] = &[0.25, 0.25, 0.5];
    let at_one: &[f32] = &[0.25, 0.5, 0.25];
    let sharp: &[f32] = &[1.0, 0.0, 0.0];
    // Means on position 1 in label 1 or more: 0.25, 0.375, 0.25. Negatives do not count.
    let looks = [
        look(&[even, at_one, even], Some(1), &[1]),
        look(&[even, even, even], Some(2), &[1]),
        look(&[at_one, sharp, sharp], Some(0), &[1]),
    ];
    let strongest = |looks: &[ReadoutAttention<'_>]| {
        strongest_head(looks).map(|StrongestHead { head, by }| (head, by))
    };
    assert_eq!(strongest(&looks), Some((1, HeadStrength::Deciding)));
    let low = [look(&[sharp, even], Some(1), &[1])];
    assert_eq!(
        strongest(&low),
        Some((1, HeadStrength::DecidingBelowUniform))
    );
    // Of equal heads the first.
    let equal = [look(&[sharp, at_one, at_one], Some(1), &[1])];
    assert_eq!(strongest(&equal), Some((1, HeadStrength::Deciding)));
    // Without a rule, or without a positive, the head that is furthest from uniform attention.
    for (weights, label, deciding, head) in [
        (&[even, at_one, sharp][..], Some(1), &[][..], 2),
        (&[sharp, even, sharp], None, &[], 0),
        (&[even, sharp], Some(0), &[1], 1),
    ] {
        let looks = [look(weights, label, deciding)];
        assert_eq!(strongest(&looks), Some((head, HeadStrength::Divergence)));
    }
    // Scores are no softmax: nothing is uniform, and the head with the largest weights is the strongest.
    let mut looks = [look(&[even, &[0.0, -2.0, 1.0]], Some(0), &[])];
    looks[0].keys = looks[0]
        .keys
        .clone()
        .with_attention_rate(None)
        .restricted_to(&[0, 1, 2]);
    assert_eq!(strongest(&looks), Some((1, HeadStrength::Size)));
    assert_eq!(strongest(&[]), None);
}
