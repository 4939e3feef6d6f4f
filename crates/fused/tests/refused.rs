//! Shapes and samples that a model refuses.
#![allow(clippy::unwrap_used)]

use std::panic::{AssertUnwindSafe, catch_unwind};

mod common;

use common::{adam, inputs};
use headlight_architecture::{Inputs, InvalidValue, Mask, ModelConfig};
use headlight_fused::{Architecture, Instructions, Model, Samples, State};

fn with(change: impl FnOnce(&mut ModelConfig, &mut Inputs)) -> Result<Model, InvalidValue> {
    let (mut config, mut inputs) = (ModelConfig::new(8, 1, 1), inputs(4, 3));
    change(&mut config, &mut inputs);
    let architecture = Architecture::new(&config, inputs)?;
    let weights = vec![0.1; architecture.parameter_count()];
    Ok(Model::new(&architecture, adam(), &weights))
}

fn model() -> Model {
    with(|_, _| {}).unwrap()
}

#[test]
fn invalid_architectures() {
    let refused = |change: fn(&mut ModelConfig, &mut Inputs)| with(change).unwrap_err().key;
    assert_eq!(refused(|config, _| config.n_heads = 3), "n_heads");
    let mask = |config: &mut ModelConfig, _: &mut Inputs| {
        config.attention.mask = Mask::Matrix(vec![vec![true; 3]; 2]);
    };
    assert_eq!(refused(mask), "attention.mask");
    let changes: [fn(&mut ModelConfig, &mut Inputs); 4] = [
        |_, inputs| inputs.vocab_size = 0,
        |_, inputs| inputs.positions = 0,
        |_, inputs| inputs.n_classes = 1,
        |_, inputs| inputs.read_position = 3,
    ];
    for change in changes {
        assert!(catch_unwind(|| with(change).is_ok()).is_err());
    }
}

#[test]
fn wrong_samples_and_states() {
    let (tokens, labels) = (&[0, 1, 2, 0, 3, 1][..], &[1, 0][..]);
    let stepped = |tokens: &[u32], labels: &[u32], batch: &[u32]| {
        let mut model = model();
        catch_unwind(AssertUnwindSafe(|| {
            model.step(Samples::new(tokens, labels), batch)
        }))
        .is_ok()
    };
    assert!(stepped(tokens, labels, &[0, 1]));
    assert!(!stepped(tokens, labels, &[]), "no samples");
    assert!(!stepped(tokens, labels, &[2]), "a sample out of range");
    assert!(!stepped(&tokens[1..], labels, &[0]), "a token too few");
    assert!(!stepped(tokens, &[1], &[0]), "a label too few");
    let apart = &[0, 1, 2, 3, 0, 1];
    assert!(!stepped(apart, labels, &[1]), "no [CLS]");
    assert!(!stepped(tokens, &[2, 0], &[0]), "no such class");
    assert!(
        !stepped(&[0, 1, 4, 0, 3, 1], labels, &[0]),
        "a token too high"
    );

    let mut model_apart = with(|_, inputs| inputs.cls = None).unwrap();
    let samples_apart = Samples::new(apart, labels);
    assert!(model_apart.step(samples_apart, &[1]).is_finite());

    let notebook = common::notebook(1).architecture();
    let short = catch_unwind(|| Model::new(&notebook, adam(), &[0.0]));
    assert!(short.is_err());
    let restored = |state: State| {
        let mut model = model();
        catch_unwind(AssertUnwindSafe(|| model.restore(&state))).is_ok()
    };
    let state = model().state();
    assert!(restored(state.clone()));
    for part in 0..3 {
        let mut state = state.clone();
        [&mut state.parameters, &mut state.first, &mut state.second][part].pop();
        assert!(!restored(state));
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn the_widest_instructions_are_used() {
    let avx2 = std::arch::is_x86_feature_detected!("avx2");
    let avx512 = avx2 && std::arch::is_x86_feature_detected!("avx512f");
    assert_eq!(Instructions::Avx2.available(), avx2);
    assert_eq!(Instructions::Avx512.available(), avx512);
    let best = match (avx2, avx512) {
        (_, true) => Instructions::Avx512,
        (true, false) => Instructions::Avx2,
        (false, false) => Instructions::Baseline,
    };
    assert_eq!(Instructions::best(), best);
    assert!(Instructions::Baseline.available());
}
