//! `headlight devices`: what this build and this machine can use.

use std::fmt::Write;

use crate::Failure;
use crate::devices::{DeviceName, adapters};
use crate::files::print;

/// Lists devices and adapters.
///
/// # Errors
/// When standard output cannot be written to.
pub fn run() -> Result<(), Failure> {
    let mut text = String::new();
    for device in DeviceName::ALL {
        let state = if device.is_built() {
            "in this build".to_owned()
        } else {
            format!("build with --features {device}")
        };
        let name = device.name();
        let _ = writeln!(text, "{name:8} {:40} {state}", device.describe());
    }
    text.push('\n');
    if !DeviceName::Wgpu.is_built() {
        text.push_str("GPU adapters: this build cannot see any; build with --features wgpu\n");
        return print(&text);
    }
    match adapters().as_slice() {
        [] => text.push_str("GPU adapters: none seen on this machine\n"),
        seen => {
            text.push_str("GPU adapters:\n");
            for adapter in seen {
                let _ = writeln!(text, "  {adapter}");
            }
        }
    }
    print(&text)
}
