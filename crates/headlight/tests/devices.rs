//! The same config and seed on every device of the build: the same start and order, and results that differ
//! by rounding only.
//!
//! The default build has one device, `flex`. There the comparisons have nothing to compare, and only a device
//! that repeats itself is tested; `.ci/full devices` builds the other devices and names those it expects.
#![cfg(feature = "burn")]
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use crate::common::{
    folder, has_gpu_adapter, metrics, read_dump, refuses_typed, set, typed, weights,
};
use headlight_dump::{Array, AttentionDump};
use headlight_trainer::devices::{DEVICES, find};

/// How far a device's numbers may differ from those of `flex`: after one forward pass, and after 40 steps.
///
/// CPU devices differ in the order of sums, and so does one device between processors; GPU drivers also round
/// `exp` and division differently. Training magnifies that, more so in deeper models: Adam divides by the root
/// of `v`, so a gradient of pure rounding still moves a weight.
fn tolerances(device: &str) -> [f32; 2] {
    match device {
        "ndarray" => [5e-6, 1e-4],
        _ => [1e-5, 1e-4],
    }
}

/// Whether the build has a device and the machine has an adapter for it.
fn is_available(device: &str) -> bool {
    let found = find(device).unwrap();
    match device {
        // Native SPIR-V crashes Mesa's software driver, which CI uses: `wgpu` is tested instead.
        "vulkan" => false,
        _ if found.is_cpu => found.is_built,
        _ => found.is_built && has_gpu_adapter(),
    }
}

/// The devices to compare with `flex`: none in the default build.
fn others() -> impl Iterator<Item = &'static str> {
    let names = DEVICES.into_iter().map(|device| device.name);
    names.filter(|&name| name != "flex" && is_available(name))
}

/// Every device of `HEADLIGHT_EXPECT` must be available, so that CI notices when it loses one.
#[test]
fn expected_devices_are_available() {
    let expected = std::env::var("HEADLIGHT_EXPECT").unwrap_or_default();
    for name in expected.split(',').filter(|name| !name.is_empty()) {
        assert!(is_available(name), "{name} is missing");
    }
}

/// The dumps before the first step and after the last.
fn dumps(path: &Path) -> [AttentionDump; 2] {
    ["000000", "000040"].map(|step| read_dump(path.join(format!("attention/step-{step}.npz"))))
}

fn furthest(ours: &[f32], theirs: &[f32]) -> f32 {
    assert_eq!(ours.len(), theirs.len());
    let both = ours.iter().zip(theirs);
    both.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

#[test]
fn every_device_trains_to_the_same_result() {
    same_on_every_device("devices", "");
}

/// Two layers with feed-forward layers, a causal mask and padding, so that some rows have no key.
#[test]
fn every_device_masks_alike() {
    same_on_every_device(
        "devices-masked",
        "model.n_layers=2 model.d_ff=8 model.attention.mask=causal model.attention.padding_token=1 \
         data.vocab_size=5 data.rule={kind=\"token-anywhere\",token=3} data.cls=last",
    );
}

fn same_on_every_device(name: &str, sets: &str) {
    if others().next().is_none() {
        println!("not tried: this build or machine has no device beside flex");
        return;
    }
    let folder = folder(name);
    let short = "data.samples=640 data.held_out=0 training.epochs=1 training.evaluate_every=0";
    let sets = set(&format!("{short} {sets}"));
    let train = |device: &str| {
        let train = format!("train quick --run {device} --engine burn --device {device} {sets}");
        typed(&folder, &train).done();
        folder.join(device)
    };
    let reference = dumps(&train("flex"));
    for device in others() {
        let path = train(device);
        let both = dumps(&path).into_iter().zip(&reference);
        for ((dump, reference), tolerance) in both.zip(tolerances(device)) {
            assert_eq!(dump.tokens, reference.tokens, "{device}");
            let of_array = |array| furthest(&dump.arrays[array], &reference.arrays[array]);
            let distances = [
                ("weights", of_array(Array::Weights)),
                ("context", of_array(Array::Context)),
                ("logits", furthest(&dump.logits, &reference.logits)),
            ];
            println!("{device}: {distances:?}");
            for (what, distance) in distances {
                assert!(distance <= tolerance, "{device}: {what} {distance}");
            }
        }
        let environment = fs::read_to_string(path.join("environment.json")).unwrap();
        let own = format!("\"device\": \"{device}\"");
        assert!(environment.contains(&own), "{environment}");
        assert_eq!(metrics(&path).len(), 2);
    }
}

#[test]
fn a_missing_gpu_is_refused() {
    if !find("wgpu").unwrap().is_built || is_available("wgpu") {
        return;
    }
    let folder = folder("devices_missing");
    refuses_typed(
        &folder,
        "train quick --device wgpu",
        &["`wgpu`", "--device flex"],
    );
}

/// A CPU device gives the same bytes when it repeats a run.
#[test]
fn every_cpu_device_repeats_itself() {
    let folder = folder("cpu_devices");
    let devices = ["flex", "ndarray"].into_iter();
    for device in devices.filter(|name| is_available(name)) {
        let [first, second] = ["first", "second"].map(|which| {
            let run = format!("{device}-{which}");
            let train = format!("train quick --run {run} --engine burn --device {device}");
            typed(&folder, &train).done();
            weights(&folder, &run)
        });
        assert_eq!(first, second, "{device}");
    }
}
