//! Opens devices.

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
