//! Opens devices, and chooses the engine that computes on them.

use headlight_experiment::config::{EngineName, ExperimentConfig};

use crate::Failure;
use crate::devices::{OpenDevice, find};

/// Opens a device by name.
///
/// # Errors
/// When the name is unknown, the build lacks the device (the message names the feature), or the machine lacks
/// it (the message lists the machine's adapters).
pub fn open_device(name: &str) -> Result<OpenDevice, Failure> {
    let device =
        find(name).map_err(|message| Failure::Input(format!("`compute.device`: {message}")))?;
    if !device.is_built {
        return Err(Failure::Input(format!(
            "device `{name}` is not in this build; build it in with \
             `cargo run --release --features {name} -- ...`"
        )));
    }
    #[cfg(feature = "burn")]
    return crate::burn::device::open(name);
    #[cfg(not(feature = "burn"))]
    Ok(OpenDevice { adapter: None })
}

/// The GPU adapters of this machine, one per line; empty in a build without GPU devices.
pub fn adapters() -> Vec<String> {
    #[cfg(feature = "wgpu")]
    return crate::burn::device::adapters();
    #[cfg(not(feature = "wgpu"))]
    Vec::new()
}

/// The device of a config if the fused engine does not compute on it.
pub fn unsupported_by_fused(config: &ExperimentConfig) -> Option<String> {
    let device = &config.compute.device;
    let on_cpu = find(device).is_ok_and(|device| device.is_cpu);
    (!on_cpu).then(|| format!("compute.device = \"{device}\""))
}

/// The engine that runs a config: resolves `auto`.
///
/// # Errors
/// When the config's engine does not support it; the message names the setting.
pub fn engine_for(config: &ExperimentConfig) -> Result<EngineName, Failure> {
    match (config.compute.engine, unsupported_by_fused(config)) {
        (EngineName::Auto | EngineName::Fused, None) => Ok(EngineName::Fused),
        (EngineName::Fused, Some(reason)) => Err(Failure::Input(format!(
            "`compute.engine`: `fused` does not support {reason}; set it to \"burn\" or \"auto\""
        ))),
        (EngineName::Auto | EngineName::Burn, _) => Ok(EngineName::Burn),
    }
}
