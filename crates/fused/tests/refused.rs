//! Shapes and samples that a model refuses.
#![allow(clippy::unwrap_used)]

use std::panic::{AssertUnwindSafe, catch_unwind};

use headlight_fused::{Adam, Instructions, InvalidShape, Model, Samples, Shape, State};

fn adam() -> Adam {
    Adam {
        learning_rate: 1e-2,
        ..Adam::default()
    }
}

const SHAPE: Shape = Shape {
    vocab_size: 4,
    positions: 3,
    d_model: 6,
    n_heads: 2,
};

fn model() -> Model {
    Model::new(SHAPE, 1e-6, adam(), &vec![0.1; SHAPE.parameter_count()]).unwrap()
}

#[test]
fn invalid_shapes() {
    assert_eq!(SHAPE.validate(), Ok(SHAPE));
    let changes: [fn(&mut Shape); 5] = [
        |shape| shape.vocab_size = 0,
        |shape| shape.positions = 0,
        |shape| shape.d_model = 0,
        |shape| shape.n_heads = 0,
        |shape| shape.n_heads = 4,
    ];
    for change in changes {
        let mut shape = SHAPE;
        change(&mut shape);
        assert_eq!(shape.validate(), Err(InvalidShape(shape)));
        let message = InvalidShape(shape).to_string();
        assert!(message.contains(&format!("{shape:?}")), "{message}");
        assert!(message.contains("n_heads"), "{message}");
    }
}

#[test]
fn wrong_samples_and_states() {
    let (tokens, labels) = (&[0, 1, 2, 0, 3, 1][..], &[true, false][..]);
    let stepped = |tokens: &[u32], labels: &[bool], batch: &[u32]| {
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
    assert!(!stepped(tokens, &[true], &[0]), "a label too few");
    assert!(!stepped(&[0, 1, 2, 3, 0, 1], labels, &[1]), "no [CLS]");
    assert!(
        !stepped(&[0, 1, 4, 0, 3, 1], labels, &[0]),
        "a token too high"
    );

    let short = catch_unwind(|| Model::new(SHAPE, 1e-6, adam(), &[0.0]).is_ok());
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
    assert_eq!(Instructions::Avx2.available(), avx2);
    let best = if avx2 {
        Instructions::Avx2
    } else {
        Instructions::Baseline
    };
    assert_eq!(Instructions::best(), best);
    assert!(Instructions::Baseline.available());
}
