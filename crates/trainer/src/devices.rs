//! The devices that Burn can compute on, and which of them this build has.

use headlight_experiment::config::ExperimentConfig;
use headlight_schema::InvalidValue;

/// A device. Its name is also the cargo feature that builds it in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    /// The name in configs, on the command line and in cargo's features.
    pub name: &'static str,
    /// A short description.
    pub description: &'static str,
    /// Whether it is the CPU. The fused engine can replace only such a device.
    pub is_cpu: bool,
    /// Whether this build has it.
    pub is_built: bool,
}

/// All devices.
pub const DEVICES: [Device; 5] = [
    Device {
        name: "flex",
        description: "CPU, pure Rust, deterministic",
        is_cpu: true,
        // In a build without Burn, the fused engine computes on this device.
        is_built: cfg!(feature = "flex") || cfg!(not(feature = "burn")),
    },
    Device {
        name: "ndarray",
        description: "CPU, ndarray, deterministic",
        is_cpu: true,
        is_built: cfg!(feature = "ndarray"),
    },
    Device {
        name: "wgpu",
        description: "GPU through the platform's graphics API",
        is_cpu: false,
        is_built: cfg!(feature = "wgpu"),
    },
    Device {
        name: "vulkan",
        description: "GPU through Vulkan, native shaders",
        is_cpu: false,
        is_built: cfg!(feature = "vulkan"),
    },
    Device {
        name: "metal",
        description: "GPU through Metal, native shaders",
        is_cpu: false,
        is_built: cfg!(feature = "metal"),
    },
];

/// Checks that `compute.device` names a device.
///
/// # Errors
/// When it does not; the message lists the names of this build.
pub fn check(config: &ExperimentConfig) -> Result<(), InvalidValue> {
    find(&config.compute.device).map(|_| ()).map_err(|message| {
        let key = "compute.device";
        InvalidValue::new(key, format!("`{key}`: {message}"))
    })
}

/// Finds a device by name.
///
/// # Errors
/// When the name is unknown; the message lists those of this build.
pub fn find(name: &str) -> Result<Device, String> {
    let found = DEVICES.into_iter().find(|device| device.name == name);
    found.ok_or_else(|| {
        let fitting: &[&str] = match name {
            "cuda" | "nvidia" | "rocm" => &["vulkan", "wgpu"],
            "mps" | "apple" => &["metal", "wgpu"],
            "gpu" => &["wgpu"],
            "cpu" => &["flex", "ndarray"],
            _ => &[],
        };
        let built = DEVICES.iter().filter(|device| device.is_built);
        let built: Vec<&str> = built.map(|device| device.name).collect();
        let instead = match fitting.iter().find(|name| built.contains(name)) {
            Some(ready) => format!("; choose `{ready}`"),
            None if fitting.is_empty() => "; `headlight devices` lists all".to_owned(),
            None => format!(
                "; for `{name}`, build the program with --features {}",
                fitting.join(" or ")
            ),
        };
        format!(
            "unknown device `{name}`; this build has {}{instead}",
            built.join(", ")
        )
    })
}

/// An opened device.
#[derive(Clone, Debug)]
pub struct OpenDevice {
    /// The device of Burn's tensors.
    #[cfg(feature = "burn")]
    pub device: burn::tensor::Device,
    /// The GPU's name and its driver; `None` for a CPU.
    pub adapter: Option<String>,
}
