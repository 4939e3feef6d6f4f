//! Prints a hash of the weights after 1,500 steps of several architectures, with each instruction set at
//! hand: the same on every machine.
//!
//!     cargo run --release -p headlight-fused --example fingerprint
#![allow(clippy::unwrap_used, clippy::too_many_lines)]

use headlight_architecture::{
    Activation, DropoutRates, Inputs, Logits, Mask, ModelConfig, NormKind, NormPlace, Pooling,
    Positions, ProjectionKind,
};
use headlight_fused::{
    Adam, AdamW, Architecture, CrossEntropy, Dropout, Instructions, Model, Optimizer, Samples, Sgd,
    TrainingSettings,
};

/// Numbers that need no generator: the fractional parts of multiples of the golden ratio.
fn spread(index: usize) -> f32 {
    (index as f64 * 0.618_033_988_749_894_9).fract() as f32
}

fn fingerprint(
    model: &ModelConfig,
    inputs: Inputs,
    training: TrainingSettings,
    set: Instructions,
) -> u64 {
    let architecture = Architecture::new(model, inputs).unwrap();
    let weights: Vec<f32> = (0..architecture.parameter_count())
        .map(|i| 0.6 * (spread(i) - 0.5))
        .collect();
    let token = |i: usize| match i % inputs.positions {
        position if position == inputs.read_position && !model.tied_embeddings => 0,
        _ => 1 + (spread(7 * i) * (inputs.vocab_size - 1) as f32) as u32,
    };
    let tokens: Vec<u32> = (0..8000 * inputs.positions).map(token).collect();
    let third = |sample: usize| tokens[sample * inputs.positions + inputs.positions / 2];
    let labels: Vec<u32> = (0..8000)
        .map(|sample| u32::from(third(sample) % 7 == 3))
        .collect();
    let samples = Samples::new(&tokens, &labels);
    let mut model = Model::new(&architecture, training, &weights).with_instructions(set);
    let order: Vec<u32> = (0..8000).collect();
    for _ in 0..3 {
        for batch in order.chunks(16) {
            model.step(samples, batch);
        }
    }
    // FNV-1a over the bits of all parameters.
    model
        .parameters()
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, parameter| {
            (hash ^ u64::from(parameter.to_bits())).wrapping_mul(0x100_0000_01b3)
        })
}

/// A shape and a training, from the plain ones.
type Change = fn(&mut ModelConfig, &mut Inputs, &mut TrainingSettings);

fn main() {
    // Six shapes of the notebook's samples, and thirteen shapes and trainings that use every part of the engine.
    let notebook: [(&str, [usize; 4], Change); 6] = [
        ("d_model 8, n_heads 1", [8, 1, 1, 0], |_, _, _| {}),
        ("d_model 6, n_heads 2", [6, 2, 1, 0], |_, _, _| {}),
        ("d_model 20, n_heads 1", [20, 1, 1, 0], |_, _, _| {}),
        ("two blocks", [16, 2, 2, 0], |_, _, _| {}),
        ("feed-forward", [6, 3, 1, 20], |_, _, _| {}),
        ("shared, causal", [10, 2, 2, 0], |model, inputs, _| {
            inputs.read_position = 6;
            model.attention.projections = ProjectionKind::Shared;
            model.attention.mask = Mask::Causal;
            model.attention.padding_token = Some(1);
        }),
    ];
    let parts: [(&str, [usize; 4], Change); 13] = [
        ("pre-norm, gelu", [8, 2, 2, 12], |model, _, training| {
            (model.norm, model.activation) = (NormPlace::Pre, Activation::Gelu);
            *training = adam_w(0.01);
        }),
        (
            "RMS norm first, no biases",
            [16, 4, 1, 12],
            |model, _, _| {
                (model.norm, model.norm_kind) = (NormPlace::Pre, NormKind::Rms);
                (model.embedding_norm, model.norm_bias) = (true, Some(false));
                without_biases(model);
            },
        ),
        ("no norm", [8, 2, 1, 12], |model, _, training| {
            model.norm = NormPlace::None;
            without_biases(model);
            *training = adam_w(1.0);
        }),
        (
            "post-norm without gain, gelu-tanh",
            [10, 1, 2, 12],
            |model, _, training| {
                (model.norm_gain, model.norm_bias) = (false, Some(false));
                model.activation = Activation::GeluTanh;
                *training = sgd();
            },
        ),
        ("rotary, silu", [8, 2, 2, 12], |model, _, training| {
            (model.d_head, model.positions) = (Some(6), Positions::Rotary);
            (model.norm, model.norm_kind) = (NormPlace::Pre, NormKind::Rms);
            model.activation = Activation::Silu;
            *training = adam_w(0.1);
        }),
        (
            "fixed positions, rate 0.4",
            [10, 2, 1, 12],
            |model, _, _| {
                model.positions = Positions::Sinusoidal;
                model.attention.rate = 0.4;
            },
        ),
        (
            "shared positions, log length",
            [8, 1, 1, 12],
            |model, _, training| {
                model.positions_shared_from = Some(2);
                model.attention.log_length = true;
                model.attention.padding_token = Some(1);
                *training = adam_w(0.01);
            },
        ),
        ("scores as weights", [8, 2, 1, 12], |model, _, training| {
            model.norm = NormPlace::None;
            model.attention.softmax = false;
            *training = adam_w(0.0);
            training.max_grad_norm = Some(0.5);
        }),
        (
            "mean, hidden classifier",
            [8, 2, 1, 12],
            |model, inputs, training| {
                (model.pooling, model.classifier_hidden) = (Some(Pooling::Mean), 9);
                model.attention.padding_token = Some(1);
                inputs.n_classes = 4;
                training.cross_entropy = CrossEntropy {
                    smoothing: 0.1,
                    ..ACCURATE
                };
            },
        ),
        (
            "identity values and output",
            [9, 3, 1, 12],
            |model, _, _| {
                (
                    model.attention.value_projection,
                    model.attention.output_projection,
                ) = (false, false);
            },
        ),
        (
            "tied embeddings",
            [8, 2, 1, 12],
            |model, inputs, training| {
                model.tied_embeddings = true;
                (inputs.n_classes, inputs.read_position) = (17, 5);
                *training = adam_w(0.01);
            },
        ),
        (
            "a logit per class, wide heads",
            [6, 2, 3, 12],
            |model, _, training| {
                (model.logits, model.d_head) = (Logits::PerClass, Some(11));
                *training = sgd();
            },
        ),
        ("dropout", [9, 3, 2, 12], |model, _, training| {
            model.attention.padding_token = Some(1);
            let rates = DropoutRates {
                embedding: 0.1,
                attention: 0.1,
                hidden: 0.2,
                residual: 0.1,
            };
            training.dropout = Dropout { rates, seed: 5 };
        }),
    ];
    let notebook = notebook.map(|kind| (kind, 51, 7));
    for ((name, sizes, change), vocab_size, positions) in
        notebook.into_iter().chain(parts.map(|kind| (kind, 17, 6)))
    {
        let [d_model, n_heads, n_layers, d_ff] = sizes;
        let mut model = ModelConfig {
            d_ff,
            ..ModelConfig::new(d_model, n_heads, n_layers)
        };
        let mut inputs = Inputs {
            vocab_size,
            positions,
            cls: None,
            read_position: 0,
            n_classes: 2,
            per_position: false,
        };
        let mut training = TrainingSettings::from(Adam::default());
        change(&mut model, &mut inputs, &mut training);
        inputs.cls = (!model.tied_embeddings).then_some(inputs.read_position);
        let mut hashes = Instructions::ALL
            .into_iter()
            .filter(|set| set.available())
            .map(|set| fingerprint(&model, inputs, training, set));
        let hash = hashes.next().unwrap();
        assert!(hashes.all(|other| other == hash), "instruction sets differ");
        println!("{name}: {hash:016x}");
    }
}

const ACCURATE: CrossEntropy = CrossEntropy {
    is_accurate: true,
    smoothing: 0.0,
    per_sample: false,
    is_weighted: false,
};

fn adam_w(weight_decay: f64) -> TrainingSettings {
    let adam = Adam {
        epsilon: 1e-8,
        ..Adam::default()
    };
    TrainingSettings {
        optimizer: Optimizer::AdamW(AdamW { adam, weight_decay }),
        cross_entropy: ACCURATE,
        ..TrainingSettings::default()
    }
}

fn sgd() -> TrainingSettings {
    TrainingSettings {
        optimizer: Optimizer::Sgd(Sgd {
            learning_rate: 0.05,
            momentum: 0.9,
        }),
        max_grad_norm: Some(1.0),
        ..TrainingSettings::default()
    }
}

fn without_biases(model: &mut ModelConfig) {
    model.attention.bias = false;
    model.attention.output_bias = false;
    model.classifier_bias = false;
}
