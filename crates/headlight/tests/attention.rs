//! The switches of `[model]` and `[model.attention]`, through the binary: their effect on a run and its
//! dumps, and which values are refused.
#![cfg(feature = "burn")]
#![allow(missing_docs, clippy::unwrap_used, clippy::float_cmp)]

use std::fs;
use std::path::Path;

use crate::common::{
    folder, last_dump, mentions, metrics, printed, refuses_typed, set, table, typed, weights,
};
use headlight_dump::{Array, AttentionDump};

/// Trains the quick config with settings; returns its last dump.
fn trained(folder: &Path, run: &str, sets: &str) -> AttentionDump {
    let train = format!("train quick --run {run} {}", set(sets));
    typed(folder, &train).done();
    last_dump(&folder.join(run))
}

/// The row of one position, for each sample of a dump's first layer and head.
fn rows(dump: &AttentionDump, query: usize) -> Vec<Vec<f32>> {
    let positions = dump.dims.positions;
    (0..dump.dims.samples)
        .map(|sample| dump.weights(sample, 0, 0)[query * positions..][..positions].to_vec())
        .collect()
}

#[test]
fn every_switch_trains_and_is_in_the_dump() {
    let folder = folder("switches");
    let switches = "model.n_layers=2 model.n_heads=2 model.d_ff=12 model.attention.mask=causal \
        model.attention.padding_token=50 model.attention.projections=shared model.attention.scale=0.5 \
        model.attention.temperature=1.5 model.positions=false data.cls=last training.epochs=1 \
        data.rule={kind=\"token-anywhere\",token=42}";
    let dump = trained(&folder, "run", switches);
    let positions = dump.dims.positions;
    let mask = dump.attention_mask.as_ref().unwrap();
    for sample in 0..dump.dims.samples {
        let tokens = dump.tokens(sample);
        assert_eq!(tokens.last(), Some(&0), "[CLS] is last");
        for query in 0..positions {
            for (key, &token) in tokens.iter().enumerate() {
                let cell = (sample * positions + query) * positions + key;
                assert_eq!(mask[cell], key <= query && token != 50);
                for layer in 0..2 {
                    for head in 0..2 {
                        let weight = dump.weights(sample, layer, head)[query * positions + key];
                        assert!(mask[cell] || weight == 0.0);
                    }
                }
            }
        }
    }
    assert!(dump.worst_row_sum() < 1e-6);
    let hidden = &dump.arrays[Array::FeedForwardHidden];
    let rows = dump.dims.samples * 2 * positions;
    assert_eq!(hidden.len(), rows * 12);
    assert!(hidden.iter().all(|&value| value >= 0.0));
    for array in [Array::FeedForwardResidual, Array::Output] {
        assert_eq!(dump.arrays[array].len(), rows * dump.dims.d_model);
    }
    // One projection for all three.
    assert_eq!(dump.arrays[Array::Query], dump.arrays[Array::Key]);
    assert_eq!(dump.arrays[Array::Query], dump.arrays[Array::Value]);
    // Scores are before the mask: products times 0.5 / 1.5, and all of them numbers.
    let d_head = dump.dims.d_head;
    let product: f32 = (0..d_head)
        .map(|i| dump.arrays[Array::Query][i] * dump.arrays[Array::Key][d_head + i])
        .sum();
    assert!((dump.scores(0, 0, 0)[1] - product / 3.0).abs() < 1e-6);

    // The resolved config repeats the run.
    typed(&folder, "train run/config.toml --run again").done();
    assert!(weights(&folder, "run") == weights(&folder, "again"));
    assert_eq!(metrics(&folder.join("run")), metrics(&folder.join("again")));

    // Its samples can be dumped again, and one of them predicted.
    typed(&folder, "data run/config.toml --out data.csv").done();
    let dumped =
        "dump run/config.toml --weights run/model.safetensors --samples data.csv --out d.npz";
    typed(&folder, dumped).done();
    let tokens: Vec<String> = dump.tokens(0).iter().map(ToString::to_string).collect();
    let predict = format!("predict run --tokens '{}'", tokens.join(" "));
    let told = printed(&folder, &predict);
    let probability = format!("{:.6}", dump.probabilities[0]);
    assert!(mentions(&told, &probability), "{told}");
}

/// `[CLS]` at position 0 sees only itself; after the tokens it sees them all, and the model learns.
#[test]
fn a_causal_mask_blinds_cls_unless_it_is_last() {
    let folder = folder("causal");
    let first = trained(&folder, "first", "model.attention.mask=causal");
    for row in rows(&first, 0) {
        assert_eq!(row[0], 1.0);
        assert!(row[1..].iter().all(|&weight| weight == 0.0));
    }
    let probabilities = &first.probabilities;
    assert!(
        probabilities.iter().all(|p| p == &probabilities[0]),
        "it answers all samples alike"
    );
    let last = "model.attention.mask=causal data.cls=last data.rule.position=2";
    trained(&folder, "last", last);
    let lines = metrics(&folder.join("last"));
    assert_eq!(lines.last().unwrap()["held_out_f1"], 1.0);
}

/// Without positions the best answer is "positive" wherever 42 occurs; the model learns it.
#[test]
fn without_positions_the_best_possible_is_reached() {
    let folder = folder("positions");
    let path = folder.join("run");
    let short = set("training.epochs=1 training.learning_rate=1e-2 data.held_out=2000");
    let train = format!("train claims/without_positions --run run {short}");
    typed(&folder, &train).done();
    let config = headlight_trainer::files::config::load(&path.join("config.toml"), &[]).unwrap();
    let held_out = config.data.generate().unwrap().held_out;
    let occurs = |sample: &usize| held_out.tokens(*sample).contains(&42);
    let found = held_out.positives().filter(occurs).count();
    let false_alarms = held_out.of_class(0).filter(occurs).count();
    assert_eq!(found, 1000, "42 occurs in every positive");
    let best = 2.0 * found as f64 / (2 * found + false_alarms) as f64;
    assert!(false_alarms > 50);
    let reached = metrics(&path).last().unwrap()["held_out_f1"]
        .as_f64()
        .unwrap();
    assert!((reached - best).abs() < 1e-12, "{reached} {best}");
}

const INVALID: &str = r#"
model.attention.mask=causl           | mask=causl: `model.attention.mask` | "none" | "causal"
model.attention.mask=[[1,0],[1]]     | mask | 2 | 7
model.attention.mask=[[2]]           | mask | 2 | 0 | 1
model.attention.scale=big            | `model.attention.scale` | number
model.attention.scale=nan            | scale | float32
model.attention.temperature=0        | temperature | 0
model.attention.padding_token=51     | 51
model.attention.padding_token=0      | 0
model.attention.projections=two      | `two`
model.attention.projection=none      | `projection` | `projections`
model.d_ff=20000                     | d_ff | 20000 | 0 | 16384
data.cls=middle                      | `middle`
"#;

#[test]
fn invalid_switches_are_refused() {
    let folder = folder("refused");
    for cells in table(INVALID) {
        let train = format!("train quick --run run --set {}", cells[0]);
        let finished = refuses_typed(&folder, &train, &cells[1..]);
        let place = format!("error: --set {}: ", cells[0]);
        assert!(finished.stderr.starts_with(&place), "{}", finished.stderr);
    }
    // A position that [CLS] takes, and a file whose [CLS] has another place.
    let taken = "train quick --run run --set data.cls=last --set data.rule.position=6";
    refuses_typed(&folder, taken, &["6", "0", "5"]);
    typed(&folder, "data quick --out data.csv").done();
    let config = "[data]\nfile = \"data.csv\"\nvocab_size = 51\nseq_len = 6\ncls = \"last\"\n\
                  [model]\nd_model = 8\n[training]\nepochs = 1\n";
    fs::write(folder.join("file.toml"), config).unwrap();
    let parts = ["data.csv", "data.cls", "\"last\""];
    refuses_typed(&folder, "train file.toml --run run", &parts);
}
