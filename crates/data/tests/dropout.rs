//! Tokens and values of the model that a step leaves out.

use headlight_data::{CLS, ClsPlace, Dataset, TokenDropout, dropout_numbers};

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

/// The numbers of places that differ in one thing, as shares of 1.
fn shares(seed: u64, step: u32, sample: u32, place: u32) -> impl Iterator<Item = f64> {
    let numbers = dropout_numbers(seed, step, sample, place, COUNT);
    numbers.map(|number| f64::from(number) / 65_536.0)
}

const COUNT: usize = 1 << 16;

/// 64 places have 4 million numbers. The bounds are 4.5 standard deviations: a chance of 1 in 100,000 for each of 3 rates. The seed
/// is fixed, so the test cannot fail by chance. A rate that is off by 0.002 would be 8 of them away at least, and be found with a probability of 99.9%.
#[test]
fn the_rate_is_the_share_of_values_that_are_left_out() {
    for rate in [0.1, 0.5, 0.9] {
        let mut out = 0;
        let places = (0..4).flat_map(|step| {
            (0..4).flat_map(move |sample| (0..4).map(move |place| (step, sample, place)))
        });
        for (step, sample, place) in places {
            out += shares(3, step, sample, place)
                .filter(|&share| share < rate)
                .count();
        }
        let count = 64.0 * COUNT as f64;
        let bound = 4.5 * (rate * (1.0 - rate) / count).sqrt();
        let apart = (out as f64 / count - rate).abs();
        assert!(apart < bound + 1.0 / 65_536.0, "{rate}: {apart}");
    }
}

/// The correlation of what is left out at two places, over 65,536 pairs: its standard deviation is 0.004, and the bound 4.5 of them. A
/// correlation of 0.04 would be found with a probability of 99.99%.
#[test]
fn places_samples_steps_and_seeds_are_independent() {
    let base = [3, 5, 7, 2];
    let of = |[seed, step, sample, place]: [u32; 4]| -> Vec<f64> {
        shares(u64::from(seed), step, sample, place).collect()
    };
    let numbers = of(base);
    let mut others: Vec<(String, Vec<f64>)> = Vec::new();
    for (index, name) in ["seed", "step", "sample", "place"].into_iter().enumerate() {
        for far in [1, 256, 65_536] {
            let mut other = base;
            other[index] += far;
            others.push((format!("{name} + {far}"), of(other)));
        }
    }
    for lag in [1, 2, 31, 32, 33, 1024] {
        let mut later = numbers.clone();
        later.rotate_left(lag);
        others.push((format!("index + {lag}"), later));
    }
    // A seed of more than 32 bits, and the same step and sample the other way round.
    others.push((
        "high seed".to_owned(),
        shares(3 + (1 << 32), 5, 7, 2).collect(),
    ));
    others.push(("exchanged".to_owned(), of([3, 7, 5, 2])));
    for rate in [0.1, 0.5] {
        for (name, other) in &others {
            let centred = |share: f64| f64::from(u8::from(share < rate)) - rate;
            let products = numbers
                .iter()
                .zip(other)
                .map(|(&a, &b)| centred(a) * centred(b));
            let correlation = products.sum::<f64>() / (COUNT as f64 * rate * (1.0 - rate));
            assert!(
                correlation.abs() < 4.5 / (COUNT as f64).sqrt(),
                "{name}: {correlation}"
            );
        }
    }
}

/// As `scripts/evidence/chacha.py` computes them from the definition of `ChaCha`, in the first block and the second.
#[test]
fn the_numbers_are_those_of_the_definition() {
    let numbers: Vec<u16> = dropout_numbers(3, 5, 1, 2, 36).collect();
    assert_eq!(numbers[..4], [43_435, 2_493, 42_640, 7_514]);
    assert_eq!(numbers[32..], [16_402, 64_497, 50_531, 47_558]);
}
