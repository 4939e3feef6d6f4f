//! Takes 200 steps of `configs/equal_positions.toml`'s model with one part of it replaced, to count instructions:
//!
//!     valgrind --tool=callgrind target/release/examples/parts "pre-norm"
//!
//! Without a name, it prints all names.
#![allow(clippy::unwrap_used, clippy::too_many_lines)]

use headlight_fused::{
    Activation, Adam, AdamW, Architecture, CrossEntropy, Model, NormPlace, Norms, Optimizer,
    PositionEmbedding, Reads, Samples, Training, Weighting,
};

fn main() {
    let base = Architecture {
        vocab_size: 11,
        positions: 7,
        d_model: 16,
        n_heads: 2,
        n_layers: 2,
        ..Architecture::default()
    };
    let with = |change: &dyn Fn(&mut Architecture)| {
        let mut own = base.clone();
        change(&mut own);
        own
    };
    let placed = |place, is_rms| Norms {
        place,
        is_rms,
        is_last: place == NormPlace::Pre,
        ..Norms::default()
    };
    let adam = Training::from(Adam::default());
    let adam_w = Training {
        optimizer: Optimizer::AdamW(AdamW {
            adam: Adam::default(),
            weight_decay: 0.01,
        }),
        ..adam
    };
    let half = vec![0.6; 7 * 4];
    let parts: Vec<(&str, Architecture, Training)> = vec![
        ("nothing", base.clone(), adam),
        (
            "pre-norm",
            with(&|a| a.norms = placed(NormPlace::Pre, false)),
            adam,
        ),
        (
            "RMS norm",
            with(&|a| a.norms = placed(NormPlace::Post, true)),
            adam,
        ),
        (
            "no norm",
            with(&|a| a.norms = placed(NormPlace::None, false)),
            adam,
        ),
        ("embedding norm", with(&|a| a.norms.is_first = true), adam),
        (
            "no biases",
            with(&|a| (a.biases.attention, a.biases.output) = (false, false)),
            adam,
        ),
        (
            "rotary",
            with(&|a| {
                a.rotation = Some([half.clone(), half.clone()]);
                a.position_embedding = PositionEmbedding::None;
            }),
            adam,
        ),
        (
            "fixed positions",
            with(&|a| a.position_embedding = PositionEmbedding::Fixed(vec![0.1; 7 * 16])),
            adam,
        ),
        (
            "rate 0.5",
            with(&|a| a.weighting = Weighting::Mixed(0.5)),
            adam,
        ),
        (
            "no softmax",
            with(&|a| a.weighting = Weighting::Scores),
            adam,
        ),
        ("log_length", with(&|a| a.log_length = true), adam),
        (
            "identity values and output",
            with(&|a| (a.value_projection, a.output_projection) = (false, false)),
            adam,
        ),
        ("mean pooling", with(&|a| a.reads = Reads::Mean), adam),
        (
            "classifier_hidden 16",
            with(&|a| a.classifier_hidden = 16),
            adam,
        ),
        (
            "a logit per class",
            with(&|a| a.logit_per_class = true),
            adam,
        ),
        ("feed-forward 64, ReLU", with(&|a| a.d_ff = 64), adam),
        (
            "feed-forward 64, GELU",
            with(&|a| (a.d_ff, a.activation) = (64, Activation::Gelu)),
            adam,
        ),
        (
            "feed-forward 64, GELU by tanh",
            with(&|a| (a.d_ff, a.activation) = (64, Activation::GeluTanh)),
            adam,
        ),
        (
            "feed-forward 64, SiLU",
            with(&|a| (a.d_ff, a.activation) = (64, Activation::Silu)),
            adam,
        ),
        ("AdamW", base.clone(), adam_w),
        (
            "clipping",
            base.clone(),
            Training {
                max_grad_norm: Some(1.0),
                ..adam_w
            },
        ),
        (
            "accurate cross-entropy, smoothing",
            base.clone(),
            Training {
                cross_entropy: CrossEntropy {
                    is_accurate: true,
                    smoothing: 0.1,
                    ..CrossEntropy::default()
                },
                ..adam
            },
        ),
    ];
    let Some(name) = std::env::args().nth(1) else {
        for (name, ..) in &parts {
            println!("{name}");
        }
        return;
    };
    let (_, architecture, training) = parts.into_iter().find(|part| part.0 == name).unwrap();
    let spread = |index: usize| (index as f64 * 0.618_033_988_749_894_9).fract();
    let token = |i: usize| u32::from(!i.is_multiple_of(7)) * (1 + (spread(i) * 10.0) as u32);
    let tokens: Vec<u32> = (0..512 * 7).map(token).collect();
    let labels: Vec<u32> = (0..512)
        .map(|i| u32::from(tokens[i * 7 + 2] == tokens[i * 7 + 5]))
        .collect();
    let samples = Samples {
        tokens: &tokens,
        labels: &labels,
    };
    let count = architecture.parameter_count();
    let weights: Vec<f32> = (0..count).map(|i| (spread(i) - 0.5) as f32 / 2.0).collect();
    let mut model = Model::new(architecture, training, &weights).unwrap();
    let order: Vec<u32> = (0..512).collect();
    for batch in order.chunks(16).cycle().take(200) {
        model.step(samples, batch);
    }
}
