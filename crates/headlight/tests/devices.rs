//! The same config and seed on every device of the build: the same start and order, and results
//! that differ by rounding alone.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use std::fs;
use std::io::Cursor;
use std::path::Path;

use common::{folder, metrics, quick_run, run, text};
use headlight_dump::AttentionDump;
use headlight_trainer::devices::DeviceName;

/// How far a device's numbers may be from those of `flex`: of one forward pass, and after 40 steps.
///
/// CPU devices differ in the order of sums, and so does one device between processors; GPU drivers
/// also round `exp` and division their own way. Training magnifies that, and the more so the deeper
/// the model: Adam divides by the root of `v`, so a gradient of pure rounding still moves a weight.
fn tolerances(device: DeviceName) -> [f32; 2] {
    match device {
        DeviceName::Flex => [0.0, 0.0],
        DeviceName::Ndarray => [5e-6, 1e-4],
        DeviceName::Wgpu | DeviceName::Vulkan | DeviceName::Metal => [1e-5, 1e-4],
    }
}

/// Whether the build has a device and the machine an adapter for it, as `devices` says.
fn is_there(device: DeviceName) -> bool {
    match device {
        DeviceName::Flex | DeviceName::Ndarray => device.is_built(),
        // Native SPIR-V crashes Mesa's software driver, the one that CI has: `wgpu` stands for it.
        DeviceName::Vulkan => false,
        DeviceName::Wgpu | DeviceName::Metal => {
            device.is_built() && !run(&["devices"]).stdout.contains("none seen")
        }
    }
}

/// What `HEADLIGHT_EXPECT` names must be there, so that CI cannot lose a device unnoticed.
#[test]
fn expected_devices_are_there() {
    let expected = std::env::var("HEADLIGHT_EXPECT").unwrap_or_default();
    for name in expected.split(',').filter(|name| !name.is_empty()) {
        let device = DeviceName::ALL
            .into_iter()
            .find(|device| device.name() == name);
        assert!(device.is_some_and(is_there), "{name} is not there");
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
    let train = |device: DeviceName| {
        let path = folder.join(device.name());
        let mut arguments = vec!["--engine", "burn", "--device", device.name()];
        arguments.extend(short.iter().chain(sets).flat_map(|set| ["--set", set]));
        quick_run(&path, &arguments);
        path
    };
    let reference = dumps(&train(DeviceName::Flex));
    for device in DeviceName::ALL
        .into_iter()
        .filter(|&device| is_there(device))
    {
        let path = if device == DeviceName::Flex {
            folder.join("flex")
        } else {
            train(device)
        };
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
fn a_gpu_that_is_not_there_is_said() {
    if !DeviceName::Wgpu.is_built() || is_there(DeviceName::Wgpu) {
        return;
    }
    let finished = run(&["train", "configs/quick.toml", "--device", "wgpu"]);
    assert_eq!(finished.code, Some(2), "{}", finished.stderr);
    for part in [
        "device `wgpu` cannot be opened",
        "no adapter was seen",
        "--device flex",
    ] {
        assert!(finished.stderr.contains(part), "{}", finished.stderr);
    }
}

/// The same run twice on one CPU device gives the same bytes.
#[test]
fn every_cpu_device_repeats_itself() {
    let folder = folder("cpu_devices");
    for device in [DeviceName::Flex, DeviceName::Ndarray]
        .into_iter()
        .filter(|device| device.is_built())
    {
        let weights = ["1", "2"].map(|threads| {
            let path = folder.join(format!("{device}-{threads}"));
            let finished = common::headlight()
                .args([
                    "train",
                    "configs/quick.toml",
                    "--engine",
                    "burn",
                    "--device",
                    device.name(),
                    "--run",
                    text(&path),
                ])
                .env("RAYON_NUM_THREADS", threads)
                .output()
                .unwrap();
            common::Finished::from(finished).done();
            fs::read(path.join("model.safetensors")).unwrap()
        });
        assert_eq!(weights[0], weights[1], "{device}");
    }
}
