//! Runs libFuzzer on the target that `HEADLIGHT_FUZZ` names.

#![no_main]

use std::alloc::System;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use cap::Cap;
use headlight_fuzz::{MEMORY_LIMIT, Target, target};
use libfuzzer_sys::fuzz_target;

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, MEMORY_LIMIT);

/// The peak of memory that was printed last.
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn chosen() -> &'static Target {
    static CHOSEN: OnceLock<Target> = OnceLock::new();
    CHOSEN.get_or_init(|| {
        let name = std::env::var("HEADLIGHT_FUZZ").unwrap_or_default();
        target(&name).unwrap_or_else(|| panic!("HEADLIGHT_FUZZ: unknown target `{name}`"))
    })
}

fuzz_target!(|bytes: &[u8]| {
    (chosen().read)(bytes);
    let peak = ALLOCATOR.max_allocated();
    if peak > PEAK.load(Ordering::Relaxed) + (1 << 16) {
        PEAK.store(peak, Ordering::Relaxed);
        eprintln!("peak {:.1} MB", peak as f64 / 1e6);
    }
});
