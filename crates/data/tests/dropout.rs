//! Tokens that a step leaves out.

use headlight_data::{CLS, ClsPlace, Dataset, TokenDropout};

const PAD: u32 = 1;
const POSITIONS: usize = 11;

/// 200 samples of ten different tokens.
fn samples() -> Dataset {
    let mut dataset = Dataset::empty(POSITIONS - 1, ClsPlace::First);
    for sample in 0..200 {
        let mut tokens = vec![CLS];
        tokens.extend((0..POSITIONS as u32 - 1).map(|position| 2 + sample * 10 + position));
        dataset.push(&tokens, sample % 3);
    }
    dataset
}

fn left_out(share: f64, seed: u64, step: usize, batch: &[u32]) -> Vec<u32> {
    let train = samples();
    let mut dropout = TokenDropout::new(share, PAD, seed);
    let (found, all) = dropout.apply(&train, step, batch);
    assert_eq!(all, (0..batch.len() as u32).collect::<Vec<_>>());
    for (row, &sample) in batch.iter().enumerate() {
        assert_eq!(found.label(row), train.label(sample as usize));
        let both = found.tokens(row).iter().zip(train.tokens(sample as usize));
        for (position, (found, given)) in both.enumerate() {
            assert!(found == given || *found == PAD && position > 0);
        }
    }
    found.all_tokens().to_vec()
}

#[test]
fn about_the_share_is_left_out_and_never_cls() {
    let all: Vec<u32> = (0..200).collect();
    let count = |share| {
        let tokens = left_out(share, 1, 0, &all);
        tokens.iter().filter(|&&token| token == PAD).count()
    };
    assert_eq!(count(0.0), 0);
    // 2,000 draws: four standard deviations are 82.
    assert!((518..=682).contains(&count(0.3)), "{}", count(0.3));
    assert!(count(0.999) > 1950);
}

#[test]
fn seed_step_and_place_decide() {
    let batch = [7, 3, 7];
    let found = left_out(0.5, 4, 9, &batch);
    assert_eq!(found, left_out(0.5, 4, 9, &batch));
    assert_ne!(found, left_out(0.5, 5, 9, &batch));
    assert_ne!(found, left_out(0.5, 4, 10, &batch));
    // The same sample in another place loses other tokens.
    assert_ne!(found[..POSITIONS], found[2 * POSITIONS..]);
    // What follows in the batch does not matter.
    assert_eq!(found[..POSITIONS], left_out(0.5, 4, 9, &[7])[..]);
    // A smaller share leaves out some of the same tokens, and no others.
    let fewer = left_out(0.2, 4, 9, &batch);
    let both = fewer.iter().zip(&found);
    assert!(
        both.clone()
            .all(|(fewer, more)| *fewer != PAD || *more == PAD)
    );
}
