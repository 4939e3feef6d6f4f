//! How much of a count the bounds decide.

use headlight_architecture::NormPlace::Post;

use super::certified;
use super::models::random;

/// When this was written, the engine computed 32,437 of 278,853 inputs.
const MOST_COMPUTED: u64 = 32_500;

/// Bounds that are too loose are no error in a count: the engine then computes what they leave open. Where there are no bounds, it
/// computes all.
#[test]
fn the_engine_computes_few_inputs() {
    let (mut computed, mut all) = (0, 0);
    for seed in 0..100 {
        let model = random(seed, 30_000);
        let own = &model.config.model;
        let certificate = certified(&model, 1);
        let norms = u8::from(own.norm == Post) + u8::from(own.has_final_norm());
        if own.d_ff + own.classifier_hidden > 0 || norms > 1 {
            assert_eq!(certificate.computed, certificate.inputs, "{}", model.text);
        } else {
            computed += certificate.computed;
            all += certificate.inputs;
        }
    }
    assert!(computed <= MOST_COMPUTED, "{computed} of {all}");
}
