//! The devices that Burn's tensors can live on, and which of them this build and this machine have.

use headlight_data::InvalidValue;
use headlight_experiment::config::ExperimentConfig;

/// A device by name. Each name is also the cargo feature that builds the device in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    /// The name in configs, on the command line and among cargo's features.
    pub name: &'static str,
    /// What it is, in a few words.
    pub description: &'static str,
    /// Whether it computes on the CPU, where the fused engine can replace it.
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
        // The fused engine computes what a build without Burn is asked to compute here.
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
/// Lists the names.
pub fn check(config: &ExperimentConfig) -> Result<(), InvalidValue> {
    find(&config.compute.device).map(|_| ()).map_err(|message| {
        let key = "compute.device";
        InvalidValue::new(key, format!("`{key}`: {message}"))
    })
}

/// The device of a name.
///
/// # Errors
/// When the name is unknown: lists the names.
pub fn find(name: &str) -> Result<Device, String> {
    let found = DEVICES.into_iter().find(|device| device.name == name);
    found.ok_or_else(|| {
        let names = names().join(", ");
        format!("unknown device `{name}`; it can be {names}")
    })
}

/// A device ready for tensors, and the hardware behind it.
#[derive(Clone, Debug)]
pub struct OpenDevice {
    /// Where tensors go.
    #[cfg(feature = "burn")]
    pub device: burn::tensor::Device,
    /// The GPU's name and its driver; `None` for a CPU.
    pub adapter: Option<String>,
}
