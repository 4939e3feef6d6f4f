//! The devices that Burn can compute on, and which of them this build has.

use headlight_experiment::config::ExperimentConfig;
use headlight_keys::InvalidValue;

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

/// The names of all devices.
pub fn names() -> [&'static str; DEVICES.len()] {
    DEVICES.map(|device| device.name)
}

/// Checks that `compute.device` names a device.
///
/// # Errors
/// When it does not; the message lists the names.
pub fn check(config: &ExperimentConfig) -> Result<(), InvalidValue> {
    find(&config.compute.device).map(|_| ()).map_err(|message| {
        let key = "compute.device";
        InvalidValue::new(key, format!("`{key}`: {message}"))
    })
}

/// Finds a device by name.
///
/// # Errors
/// When the name is unknown; the message lists the names.
pub fn find(name: &str) -> Result<Device, String> {
    let found = DEVICES.into_iter().find(|device| device.name == name);
    found.ok_or_else(|| {
        let names = names().join(", ");
        let instead = match name {
            "cuda" | "nvidia" | "rocm" => "; for this GPU choose `vulkan` or `wgpu`",
            "mps" | "apple" => "; for this GPU choose `metal` or `wgpu`",
            "gpu" => "; for a GPU choose `wgpu`",
            "cpu" => "; for the CPU choose `flex`",
            _ => "",
        };
        format!("unknown device `{name}`; choose one of {names}{instead}")
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
