//! The `numpy` generator against NumPy itself.

use crate::common::{at, fnv1a};
use headlight_data::DatasetConfig;
use serde_json::json;

/// Indices with label 1, as the notebook printed them (seed 0, 8,000 samples, token 42 at
/// position 3).
const NOTEBOOK_POSITIVES: [usize; 168] = [
    10, 11, 135, 208, 222, 300, 349, 401, 427, 448, 462, 478, 482, 488, 493, 564, 570, 585, 590,
    607, 620, 675, 723, 800, 831, 884, 933, 973, 1043, 1108, 1115, 1137, 1151, 1166, 1215, 1389,
    1496, 1513, 1598, 1638, 1647, 1680, 1688, 1808, 1830, 1857, 1893, 1901, 1903, 1922, 1944, 2080,
    2087, 2121, 2130, 2199, 2269, 2335, 2391, 2443, 2444, 2508, 2531, 2571, 2595, 2642, 2666, 2674,
    2693, 2718, 2804, 2856, 2867, 2890, 2985, 2993, 3025, 3036, 3094, 3163, 3213, 3365, 3418, 3496,
    3504, 3523, 3539, 3547, 3556, 3560, 3588, 3729, 3761, 3808, 3824, 3831, 3934, 3939, 4043, 4084,
    4092, 4128, 4148, 4184, 4221, 4290, 4294, 4360, 4579, 4630, 4685, 4723, 4729, 4743, 4751, 4786,
    4821, 5048, 5133, 5150, 5163, 5165, 5278, 5294, 5316, 5378, 5440, 5518, 5544, 5572, 5802, 5902,
    5918, 5972, 6146, 6172, 6232, 6373, 6428, 6470, 6594, 6611, 6634, 6673, 6751, 6849, 7018, 7035,
    7101, 7214, 7307, 7311, 7330, 7417, 7482, 7552, 7565, 7587, 7599, 7765, 7849, 7850, 7888, 7895,
    7898, 7909, 7911, 7966,
];

fn config(seed: u64, samples: usize, vocab_size: u32, seq_len: usize) -> DatasetConfig {
    crate::common::config(json!({
        "seed": seed, "generator": "numpy", "samples": samples, "vocab_size": vocab_size, "seq_len": seq_len,
        "rule": { "kind": "token-anywhere", "token": 1 },
    }))
}

#[test]
fn the_notebook_positives_come_back() {
    let mut config = config(0, 8_000, 51, 6);
    config.rule = Some(at(42, 3));
    let train = config.generate().unwrap().train;
    assert_eq!(train.positives().collect::<Vec<_>>(), NOTEBOOK_POSITIVES);
    assert_eq!(train.tokens(0), [0, 45, 48, 1, 4, 4, 40]);
    assert_eq!(train.tokens(10), [0, 16, 5, 42, 43, 32, 2]);
}

#[derive(serde::Deserialize)]
struct Expectation {
    seed: u64,
    vocab_size: u32,
    seq_len: usize,
    samples: usize,
    first: Vec<u32>,
    last: Vec<u32>,
    fnv1a: String,
}

/// Origin: `scripts/evidence/test_numpy.py`.
#[test]
fn every_recorded_randint_comes_back() {
    let recorded = include_str!("../../../data/numpy_randint.json");
    let recorded: Vec<Expectation> = serde_json::from_str(recorded).unwrap();
    assert_eq!(recorded.len(), 60);
    for case in recorded {
        let config = config(case.seed, case.samples, case.vocab_size, case.seq_len);
        let train = config.generate().unwrap().train;
        let what = format!(
            "seed {} vocab {} length {}",
            case.seed, case.vocab_size, case.seq_len
        );
        assert_eq!(train.tokens(0)[1..], case.first, "{what}");
        assert_eq!(train.tokens(case.samples - 1)[1..], case.last, "{what}");
        let bytes = (0..case.samples)
            .flat_map(|sample| &train.tokens(sample)[1..])
            .flat_map(|&token| i64::from(token).to_le_bytes());
        assert_eq!(format!("{:016x}", fnv1a(bytes)), case.fnv1a, "{what}");
    }
}

#[test]
fn seeds_that_numpy_refuses_are_refused() {
    let error = config(1 << 32, 1, 51, 6)
        .generate()
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("np.random.seed takes 0 to 4294967295"),
        "{error}"
    );
}
