//! The same config and seed on every device of the build: the same start and order, and results
//! that differ by rounding alone.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use std::fs;
use std::io::Cursor;
use std::path::Path;

use common::{folder, metrics, quick_run, run};
use headlight_dump::AttentionDump;
use headlight_trainer::devices::{DEVICES, find};

/// How far a device's numbers may be from those of `flex`: of one forward pass, and after 40 steps.
///
/// CPU devices differ in the order of sums, and so does one device between processors; GPU drivers
/// also round `exp` and division their own way. Training magnifies that, the more so the deeper
/// the model: Adam divides by the root of `v`, so a gradient of pure rounding still moves a weight.
fn tolerances(device: &str) -> [f32; 2] {
    match device {
        "ndarray" => [5e-6, 1e-4],
        _ => [1e-5, 1e-4],
    }
}

/// Whether the build has a device and the machine an adapter for it.
fn is_there(device: &str) -> bool {
    let found = find(device).unwrap();
    match device {
        // Native SPIR-V crashes Mesa's software driver, the one that CI has: `wgpu` stands for it.
        "vulkan" => false,
        _ if found.is_cpu => found.is_built,
        _ => found.is_built && !run(&["devices"]).stdout.contains("none seen"),
    }
}

/// The devices that can be compared with `flex`: none in the default build, which `.ci/full` therefore
/// does not rely on.
fn others() -> impl Iterator<Item = &'static str> {
    let names = DEVICES.into_iter().map(|device| device.name);
    names.filter(|&name| name != "flex" && is_there(name))
}

/// Every device of `HEADLIGHT_EXPECT` must be there, so that CI cannot lose one unnoticed.
#[test]
fn expected_devices_are_there() {
    let expected = std::env::var("HEADLIGHT_EXPECT").unwrap_or_default();
    for name in expected.split(',').filter(|name| !name.is_empty()) {
        assert!(is_there(name), "{name} is missing");
    }
}

/// The dumps before the first step and after the last.
fn dumps(path: &Path) -> [AttentionDump; 2] {
    ["000000", "000040"].map(|step| {
        let bytes = fs::read(path.join(format!("attention/step-{step}.npz"))).unwrap();
        AttentionDump::read_npz(Cursor::new(bytes)).unwrap()
    })
}

fn furthest(ours: &[f32], theirs: &[f32]) -> f32 {
    assert_eq!(ours.len(), theirs.len());
    ours.iter()
        .zip(theirs)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f32::max)
}

#[test]
fn every_device_trains_to_the_same_result() {
    same_on_every_device("devices", &[]);
}

/// Two blocks with feed-forward layers, a causal mask, padding, and so rows without any key.
#[test]
fn every_device_masks_alike() {
    same_on_every_device(
        "devices-masked",
        &[
            "model.n_layers=2",
            "model.d_ff=8",
            "model.attention.mask=causal",
            "model.attention.padding_token=1",
            "data.vocab_size=5",
            "data.rule={ kind = \"token-anywhere\", token = 3 }",
            "data.cls=last",
        ],
    );
}

fn same_on_every_device(name: &str, sets: &[&str]) {
    let folder = folder(name);
    let short = [
        "data.samples=640",
        "data.held_out=0",
        "training.epochs=1",
        "training.evaluate_every=0",
    ];
    let train = |device: &str| {
        let path = folder.join(device);
        let mut arguments = vec!["--engine", "burn", "--device", device];
        arguments.extend(short.iter().chain(sets).flat_map(|set| ["--set", set]));
        quick_run(&path, &arguments);
        path
    };
    let reference = dumps(&train("flex"));
    for device in others() {
        let path = train(device);
        let both = dumps(&path).into_iter().zip(&reference);
        for ((dump, reference), tolerance) in both.zip(tolerances(device)) {
            assert_eq!(dump.tokens, reference.tokens, "{device}");
            let distances = [
                (
                    "weights",
                    furthest(&dump.attention_weights, &reference.attention_weights),
                ),
                ("context", furthest(&dump.context, &reference.context)),
                ("logits", furthest(&dump.logits, &reference.logits)),
            ];
            println!("{device}: {distances:?}");
            for (what, distance) in distances {
                assert!(distance <= tolerance, "{device}: {what} {distance}");
            }
        }
        let environment = fs::read_to_string(path.join("environment.json")).unwrap();
        assert!(
            environment.contains(&format!("\"device\": \"{device}\"")),
            "{environment}"
        );
        assert_eq!(metrics(&path).len(), 2);
    }
}

#[test]
fn a_missing_gpu_is_refused() {
    if !find("wgpu").unwrap().is_built || is_there("wgpu") {
        return;
    }
    let finished = run(&["train", "configs/quick.toml", "--device", "wgpu"]);
    assert_eq!(finished.code, Some(2), "{}", finished.stderr);
    for part in ["`wgpu`", "adapter", "--device flex"] {
        assert!(finished.stderr.contains(part), "{}", finished.stderr);
    }
}

/// The same run twice on one CPU device gives the same bytes.
#[test]
fn every_cpu_device_repeats_itself() {
    let folder = folder("cpu_devices");
    for device in ["flex", "ndarray"]
        .into_iter()
        .filter(|name| is_there(name))
    {
        let weights = ["first", "second"].map(|which| {
            let path = folder.join(format!("{device}-{which}"));
            quick_run(&path, &["--engine", "burn", "--device", device]);
            fs::read(path.join("model.safetensors")).unwrap()
        });
        assert_eq!(weights[0], weights[1], "{device}");
    }
}
