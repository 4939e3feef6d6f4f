//! Where tensors live: what this build and this machine offer.

use std::fmt;

use burn::tensor::Device;
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::Failure;

/// A device by name. Each name but `flex` is also the cargo feature that builds it in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum DeviceName {
    /// Burn's default CPU backend: pure Rust, one thread, the same bytes every time.
    #[default]
    Flex,
    /// Burn's older CPU backend.
    Ndarray,
    /// A GPU through the graphics API of the platform.
    Wgpu,
    /// A GPU through Vulkan, with native shaders.
    Vulkan,
    /// A GPU through Metal, with native shaders.
    Metal,
}

impl DeviceName {
    /// All names.
    pub const ALL: [Self; 5] = [
        Self::Flex,
        Self::Ndarray,
        Self::Wgpu,
        Self::Vulkan,
        Self::Metal,
    ];

    /// The name in configs, on the command line and among cargo's features.
    pub fn name(self) -> &'static str {
        match self {
            Self::Flex => "flex",
            Self::Ndarray => "ndarray",
            Self::Wgpu => "wgpu",
            Self::Vulkan => "vulkan",
            Self::Metal => "metal",
        }
    }

    /// What kind of device it is, in a few words.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Flex => "CPU, pure Rust, deterministic",
            Self::Ndarray => "CPU, ndarray, deterministic",
            Self::Wgpu => "GPU through the platform's graphics API",
            Self::Vulkan => "GPU through Vulkan, native shaders",
            Self::Metal => "GPU through Metal, native shaders",
        }
    }

    /// Whether this build has it.
    pub fn is_built(self) -> bool {
        match self {
            Self::Flex => cfg!(feature = "flex"),
            Self::Ndarray => cfg!(feature = "ndarray"),
            Self::Wgpu => cfg!(feature = "wgpu"),
            Self::Vulkan => cfg!(feature = "vulkan"),
            Self::Metal => cfg!(feature = "metal"),
        }
    }

    /// Opens the device.
    ///
    /// # Errors
    /// When the build lacks it (names the feature) or the machine does (lists what it has).
    pub fn open(self) -> Result<OpenDevice, Failure> {
        match self {
            #[cfg(feature = "flex")]
            Self::Flex => Ok(OpenDevice::cpu(Device::flex())),
            #[cfg(feature = "ndarray")]
            #[allow(deprecated)]
            // Upstream retires the backend; here it is asked for and supported.
            Self::Ndarray => Ok(OpenDevice::cpu(Device::ndarray())),
            #[cfg(feature = "wgpu")]
            Self::Wgpu => gpu::open(self, burn::tensor::wgpu::WgpuBackend::Auto),
            #[cfg(feature = "vulkan")]
            Self::Vulkan => gpu::open(self, burn::tensor::wgpu::WgpuBackend::Vulkan),
            #[cfg(feature = "metal")]
            Self::Metal => gpu::open(self, burn::tensor::wgpu::WgpuBackend::Metal),
            #[allow(unreachable_patterns)] // Reached by whatever the features leave out.
            missing => Err(Failure::Input(format!(
                "device `{missing}` is not in this build; build it in with `cargo run --release --features {missing} -- ...`"
            ))),
        }
    }
}

impl fmt::Display for DeviceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A device ready for tensors, and what is behind it.
#[derive(Clone, Debug)]
pub struct OpenDevice {
    /// Where tensors go.
    pub device: Device,
    /// The GPU's name and its driver; nothing for a CPU.
    pub adapter: Option<String>,
}

impl OpenDevice {
    #[allow(dead_code)] // Unused only in a build without any CPU backend.
    fn cpu(device: Device) -> Self {
        Self {
            device,
            adapter: None,
        }
    }
}

/// The GPU adapters of this machine, one a line; empty in a build without GPU devices.
pub fn adapters() -> Vec<String> {
    #[cfg(feature = "wgpu")]
    return gpu::adapters();
    #[cfg(not(feature = "wgpu"))]
    Vec::new()
}

#[cfg(feature = "wgpu")]
mod gpu {
    use burn::tensor::Device;
    use burn::tensor::wgpu::{WgpuBackend, wgpu};

    use super::{DeviceName, OpenDevice};
    use crate::Failure;

    pub(super) fn open(name: DeviceName, api: WgpuBackend) -> Result<OpenDevice, Failure> {
        let options = Device::wgpu_options().graphics_api(api);
        let (device, setup) = options.init_with_setup().map_err(|error| {
            let seen = match adapters().as_slice() {
                [] => "no adapter was seen on this machine".to_owned(),
                seen => format!("adapters seen: {}", seen.join("; ")),
            };
            Failure::Input(format!(
                "device `{name}` cannot be opened ({error}); {seen}; `--device flex` runs on the CPU"
            ))
        })?;
        Ok(OpenDevice {
            device,
            adapter: Some(describe(&setup.adapter.get_info())),
        })
    }

    pub(super) fn adapters() -> Vec<String> {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()))
            .iter()
            .map(|adapter| describe(&adapter.get_info()))
            .collect()
    }

    fn describe(info: &wgpu::AdapterInfo) -> String {
        let driver = [info.driver.as_str(), info.driver_info.as_str()].join(" ");
        format!(
            "{} ({:?}, {:?}{}{})",
            info.name,
            info.device_type,
            info.backend,
            if driver.trim().is_empty() {
                ""
            } else {
                ", driver "
            },
            driver.trim()
        )
    }
}
