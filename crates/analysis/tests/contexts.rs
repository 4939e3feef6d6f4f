//! The vectors of a word in its contexts, against the arrays of single forward passes.
#![allow(missing_docs, clippy::unwrap_used, clippy::float_cmp)]

use crate::common::{dataset, experiment, parse};
use headlight_analysis::contexts::{context_levels, occurrences};
use headlight_experiment::fused::{Array, forward};

#[test]
fn vectors_are_those_of_the_forward_pass_at_their_places() {
    let config = parse(&["model.n_layers=2", "model.d_ff=5"]).unwrap();
    let experiment = experiment(config, &[]);
    let (config, start) = (&experiment.config, &experiment.start);
    let weights: Vec<f32> = start.iter().flat_map(|own| own.values.clone()).collect();
    // `[0, 1, index, 1]`
    let samples = dataset(&[true, false, true]);
    let found = occurrences(config, &samples, &[1, 3], 100);
    let places: Vec<(u32, usize, u32)> = found
        .iter()
        .map(|found| (found.sample, found.position, found.token))
        .collect();
    let ones = [
        (0, 1, 1),
        (0, 2, 1),
        (0, 3, 1),
        (1, 1, 1),
        (1, 3, 1),
        (2, 1, 1),
        (2, 2, 3),
        (2, 3, 1),
    ];
    assert_eq!(places, ones);
    assert_eq!(occurrences(config, &samples, &[1, 3], 5), found[..5]);
    let threes = occurrences(config, &samples, &[3], 100);
    assert!(threes[0].is_asked && !found[0].is_asked);

    let levels = context_levels(config, &weights, &samples, &found).unwrap();
    let names: Vec<&str> = levels.iter().map(|level| level.name.as_str()).collect();
    assert_eq!(names, ["word", "position", "block_0", "block_1"]);
    let (width, positions) = (4, 4);
    let embedding = &start[0];
    assert_eq!(embedding.name, "token_embedding");
    for (index, &(sample, position, token)) in places.iter().enumerate() {
        let all = forward(config, start, &samples, &[sample], &[]).unwrap();
        let own = |level: usize| &levels[level].vectors[width * index..width * (index + 1)];
        assert_eq!(own(0), &embedding.values[width * token as usize..][..width]);
        assert_eq!(
            own(1),
            &all.arrays[Array::Embeddings][width * position..][..width]
        );
        for layer in 0..2 {
            let at = width * (layer * positions + position);
            assert_eq!(own(2 + layer), &all.arrays[Array::Output][at..at + width]);
        }
    }
}
