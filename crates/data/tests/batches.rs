//! Datasets and their batches, sample by sample.

use headlight_data::rules::TokenAnywhere;
use headlight_data::{Batch, Batches, ClsPlace, Dataset, LabelRule};

/// Samples of two tokens: 1 2 (positive), 2 3, 3 1 (positive), 2 2.
fn dataset() -> Dataset {
    let mut dataset = Dataset::empty(2, ClsPlace::First);
    let rule = LabelRule::from(TokenAnywhere { token: 1 });
    for tokens in [[0, 1, 2], [0, 2, 3], [0, 3, 1], [0, 2, 2]] {
        dataset.push_labelled(&tokens, &rule, 2);
    }
    dataset
}

#[test]
fn a_dataset_gives_back_its_samples() {
    let dataset = dataset();
    assert_eq!((dataset.len(), dataset.positions()), (4, 3));
    assert_eq!(dataset.tokens(2), [0, 3, 1]);
    assert_eq!(dataset.all_tokens(), [0, 1, 2, 0, 2, 3, 0, 3, 1, 0, 2, 2]);
    assert_eq!(dataset.labels(), [1, 0, 1, 0]);
    assert_eq!((dataset.label(0), dataset.label(1)), (1, 0));
    assert_eq!(dataset.positives().collect::<Vec<_>>(), [0, 2]);
    assert_eq!(dataset.of_class(0).collect::<Vec<_>>(), [1, 3]);
    assert!(!dataset.is_empty() && Dataset::empty(2, ClsPlace::First).is_empty());
}

#[test]
fn samples_have_cls_in_its_place() {
    for (cls, right, wrong) in [
        (
            ClsPlace::First,
            &[0, 2, 1][..],
            [&[1, 2, 0][..], &[0, 1], &[0, 1, 2, 3]],
        ),
        (ClsPlace::Last, &[1, 2, 0], [&[0, 1, 2], &[1, 0], &[1, 2]]),
        (ClsPlace::None, &[1, 0], [&[0, 1, 2], &[1, 2, 0], &[1]]),
    ] {
        let mut dataset = Dataset::empty(2, cls);
        dataset.push(right, 1);
        assert_eq!(dataset.tokens(0), right);
        assert_eq!(dataset.positions(), right.len());
        for wrong in wrong {
            let pushed = std::panic::catch_unwind(|| Dataset::empty(2, cls).push(wrong, 1));
            assert!(pushed.is_err(), "{wrong:?}");
        }
    }
}

#[test]
fn a_batch_holds_chosen_samples() {
    let batch = Batch::gather(&dataset(), &[2, 1, 0]);
    assert_eq!(batch.tokens, [0, 3, 1, 0, 2, 3, 0, 1, 2]);
    assert_eq!(batch.labels, [1, 0, 1]);
    assert_eq!((batch.len(), batch.positions), (3, 3));
    assert!(!batch.is_empty() && Batch::gather(&dataset(), &[]).is_empty());
}

#[test]
fn the_last_batch_may_be_smaller() {
    let batches = Batches::in_order(&dataset(), 3);
    assert_eq!(batches.iter().collect::<Vec<_>>(), [&[0, 1, 2][..], &[3]]);
    assert_eq!((batches.len(), batches.is_empty()), (2, false));
    let given = Batches::of_order(vec![3, 0, 1], 2);
    assert_eq!(given.iter().collect::<Vec<_>>(), [&[3, 0][..], &[1]]);
    let none = Batches::in_order(&Dataset::empty(2, ClsPlace::First), 3);
    assert_eq!((none.len(), none.is_empty()), (0, true));
}
