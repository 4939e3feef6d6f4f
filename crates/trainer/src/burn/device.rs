//! Opens the devices of `crate::devices`.

use burn::tensor::Device;

use crate::Failure;
use crate::devices::OpenDevice;

/// Opens a device that this build has.
pub(crate) fn open(name: &str) -> Result<OpenDevice, Failure> {
    match name {
        #[cfg(feature = "ndarray")]
        #[allow(deprecated)] // Upstream retires the backend; Headlight still supports it.
        "ndarray" => Ok(cpu(Device::ndarray())),
        #[cfg(feature = "wgpu")]
        "wgpu" => gpu::open(name, burn::tensor::wgpu::WgpuBackend::Auto),
        #[cfg(feature = "vulkan")]
        "vulkan" => gpu::open(name, burn::tensor::wgpu::WgpuBackend::Vulkan),
        #[cfg(feature = "metal")]
        "metal" => gpu::open(name, burn::tensor::wgpu::WgpuBackend::Metal),
        #[cfg(feature = "flex")]
        "flex" => Ok(cpu(Device::flex())),
        _ => Err(Failure::Input(format!(
            "device `{name}` is not in this build"
        ))),
    }
}

#[cfg(any(feature = "flex", feature = "ndarray"))]
fn cpu(device: Device) -> OpenDevice {
    OpenDevice {
        device,
        adapter: None,
    }
}

#[cfg(feature = "wgpu")]
pub(crate) use gpu::adapters;

#[cfg(feature = "wgpu")]
mod gpu {
    use std::sync::{Mutex, PoisonError};

    use burn::tensor::Device;
    use burn::tensor::wgpu::{WgpuBackend, wgpu};

    use super::OpenDevice;
    use crate::Failure;

    /// The devices that are open, by name: a process cannot open one twice.
    static OPEN: Mutex<Vec<(String, OpenDevice)>> = Mutex::new(Vec::new());

    pub(super) fn open(name: &str, api: WgpuBackend) -> Result<OpenDevice, Failure> {
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, device)) = open.iter().find(|(opened, _)| opened == name) {
            return Ok(device.clone());
        }
        let options = Device::wgpu_options().graphics_api(api);
        let (device, setup) = options.init_with_setup().map_err(|error| {
            let found = match adapters().as_slice() {
                [] => "this machine has no adapter".to_owned(),
                adapters => format!("adapters of this machine: {}", adapters.join("; ")),
            };
            Failure::Input(format!(
                "device `{name}` cannot be opened ({error}); {found}; `--device flex` runs on the CPU"
            ))
        })?;
        let device = OpenDevice {
            device,
            adapter: Some(describe(&setup.adapter.get_info())),
        };
        open.push((name.to_owned(), device.clone()));
        Ok(device)
    }

    /// The GPU adapters of this machine, one per line.
    pub(crate) fn adapters() -> Vec<String> {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()))
            .iter()
            .map(|adapter| describe(&adapter.get_info()))
            .collect()
    }

    fn describe(info: &wgpu::AdapterInfo) -> String {
        let driver = [info.driver.as_str(), info.driver_info.as_str()].join(" ");
        let driver = match driver.trim() {
            "" => String::new(),
            driver => format!(", driver {driver}"),
        };
        format!(
            "{} ({:?}, {:?}{driver})",
            info.name, info.device_type, info.backend
        )
    }
}
