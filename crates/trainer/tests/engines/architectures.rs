//! 200 random architectures of older kinds: layers, heads, feed-forward layers, masks, padding, projections, scales.

use crate::compare::{DEEP, compare, session};

/// 200 architectures: layers, heads, feed-forward layers, masks, padding, projections, places of `[CLS]`, scales,
/// 2 to 10 classes.
#[test]
fn random_architectures_take_the_same_course() {
    let mut state = 15_u64;
    let mut draw = |choices: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % choices
    };
    for case in 0..200 {
        let heads = 1 + draw(8);
        let seq_len = 2 + draw(8);
        let positions = seq_len + 1;
        let mask = match draw(3) {
            0 => "none".to_owned(),
            1 => "causal".to_owned(),
            _ => {
                let mut row = || {
                    (0..positions)
                        .map(|_| u32::from(draw(3) > 0))
                        .collect::<Vec<_>>()
                };
                format!("{:?}", (0..positions).map(|_| row()).collect::<Vec<_>>())
            }
        };
        let mut sets = vec![
            format!("seed={case}"),
            format!("model.n_heads={heads}"),
            format!(
                "model.d_model={}",
                heads * (1 + draw(6)).max(4_usize.div_ceil(heads))
            ),
            format!("model.n_layers={}", 1 + draw(4)),
            format!("model.d_ff={}", [0, 0, 5, 16, 64][draw(5)]),
            format!("model.positions={}", draw(3) > 0),
            format!(
                "model.attention.projections={}",
                ["separate", "shared", "none"][draw(3)]
            ),
            format!(
                "model.attention.scale={}",
                ["true", "false", "0.3"][draw(3)]
            ),
            format!("model.attention.temperature={}", ["1", "0.5", "2"][draw(3)]),
            format!("model.attention.mask={mask}"),
            // Small variances make a norm steep, and rounding large.
            "model.layer_norm_eps=1e-3".to_owned(),
            format!("data.cls={}", ["first", "last"][draw(2)]),
            format!("data.seq_len={seq_len}"),
            "data.vocab_size=9".to_owned(),
            "data.rule={ kind = \"count\", token = 3 }".to_owned(),
            format!("data.n_classes={}", 2 + draw(seq_len.min(9))),
            "data.samples=100".to_owned(),
            "data.held_out=0".to_owned(),
            format!("training.batch_size={}", 1 + draw(20)),
            format!(
                "training.token_second_moment={}",
                ["per-token", "per-occurrence"][draw(2)]
            ),
        ];
        if draw(3) == 0 {
            sets.push("model.attention.padding_token=2".to_owned());
        }
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        compare(&session(&sets), &format!("{sets:?}"), 10, &DEEP);
    }
}
