//! `headlight devices`: lists the devices of this build and the GPU adapters of this machine.

use clap::Args;
use headlight_report::Table;
use headlight_trainer::Failure;
use headlight_trainer::devices::DEVICES;
use headlight_trainer::session::opening::adapters;
use serde_json::json;

use crate::arguments::Form;
use crate::printing::{print, print_json};
use crate::terminal;

/// List the devices of this build and the GPU adapters of this machine
#[derive(Args, Debug)]
#[command(after_help = "Example: headlight devices")]
pub(crate) struct Arguments {
    #[command(flatten)]
    form: Form,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let has_gpu = DEVICES
        .iter()
        .any(|device| device.is_built && !device.is_cpu);
    let adapters = if has_gpu { adapters() } else { Vec::new() };
    if arguments.form.json {
        let devices = DEVICES.map(|device| {
            json!({"name": device.name, "description": device.description, "in_this_build": device.is_built})
        });
        return print_json(&json!({"devices": devices, "adapters": adapters}));
    }
    let rows = DEVICES.map(|device| {
        let name = device.name;
        let state = if device.is_built {
            "in this build".to_owned()
        } else {
            format!("build with --features {name}")
        };
        vec![name.to_owned(), device.description.to_owned(), state]
    });
    let header = ["device", "description", "state"];
    let table = Table::of_rows(&header, rows)
        .left_aligned(&header)
        .with_left_names();
    let mut text = table.text(terminal::options());
    text += match (has_gpu, &adapters[..]) {
        (false, _) => "\nGPU adapters: this build has no GPU device; build with --features wgpu\n",
        (true, []) => "\nGPU adapters: none seen on this machine\n",
        (true, _) => "\nGPU adapters:\n",
    };
    let adapters = adapters.iter();
    text.extend(adapters.map(|adapter| format!("  {adapter}\n")));
    print(&text)
}
