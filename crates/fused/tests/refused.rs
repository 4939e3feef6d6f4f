//! Shapes and samples that a model refuses.
#![allow(clippy::unwrap_used)]

use std::panic::{AssertUnwindSafe, catch_unwind};

mod common;

use common::adam;
use headlight_fused::{Architecture, Instructions, Model, Samples, State};

fn sizes() -> Architecture {
    Architecture {
        vocab_size: 4,
        positions: 3,
        d_model: 8,
        ..Architecture::default()
    }
}

fn model() -> Model {
    Model::new(sizes(), adam(), &vec![0.1; sizes().parameter_count()]).unwrap()
}

#[test]
fn invalid_architectures() {
    assert!(sizes().validate().is_ok());
    let changes: [fn(&mut Architecture); 9] = [
        |sizes| sizes.vocab_size = 0,
        |sizes| sizes.positions = 0,
        |sizes| sizes.d_model = 0,
        |sizes| sizes.n_heads = 0,
        |sizes| sizes.n_heads = 3,
        |sizes| sizes.n_layers = 0,
        |sizes| sizes.n_classes = 1,
        |sizes| sizes.read_position = 3,
        |sizes| sizes.mask = Some(vec![true; 8]),
    ];
    for change in changes {
        let mut changed = sizes();
        change(&mut changed);
        let error = changed.clone().validate().unwrap_err();
        assert_eq!(*error.0, changed);
        assert!(
            error.to_string().contains(&format!("{changed:?}")),
            "{error}"
        );
    }
}

#[test]
fn wrong_samples_and_states() {
    let (tokens, labels) = (&[0, 1, 2, 0, 3, 1][..], &[1, 0][..]);
    let stepped = |tokens: &[u32], labels: &[u32], batch: &[u32]| {
        let mut model = model();
        catch_unwind(AssertUnwindSafe(|| {
            model.step(Samples { tokens, labels }, batch)
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

    let sizes_apart = Architecture {
        starts_with_cls: false,
        ..sizes()
    };
    let mut model_apart = Model::new(sizes_apart, adam(), &model().parameters()).unwrap();
    let samples_apart = Samples {
        tokens: apart,
        labels,
    };
    assert!(model_apart.step(samples_apart, &[1]).is_finite());

    let short = catch_unwind(|| Model::new(sizes(), adam(), &[0.0]).is_ok());
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
