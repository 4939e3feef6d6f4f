//! Runs libFuzzer on the target that `HEADLIGHT_FUZZ` names. Without a name, prints the names of all targets.

#![no_main]

use std::alloc::System;
use std::env;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use cap::Cap;
use headlight_fuzz::{MEMORY_LIMIT, Read, TARGETS};
use libfuzzer_sys::fuzz_target;

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, MEMORY_LIMIT);

/// The peak of memory that was printed last.
static PEAK: AtomicUsize = AtomicUsize::new(0);

static CHOSEN: OnceLock<Read> = OnceLock::new();

fn prepare() {
    let Ok(name) = env::var("HEADLIGHT_FUZZ") else {
        for (name, _) in TARGETS {
            println!("{name}");
        }
        std::process::exit(0);
    };
    let Some((_, read)) = TARGETS.into_iter().find(|(own, _)| *own == name) else {
        panic!("HEADLIGHT_FUZZ: unknown target `{name}`");
    };
    CHOSEN.get_or_init(|| read);
}

fuzz_target!(init: prepare(), |bytes: &[u8]| {
    let Some(read) = CHOSEN.get() else {
        return;
    };
    read(bytes);
    let peak = ALLOCATOR.max_allocated();
    if peak > PEAK.load(Ordering::Relaxed) + (1 << 16) {
        PEAK.store(peak, Ordering::Relaxed);
        eprintln!("peak {:.1} MB", peak as f64 / 1e6);
    }
});
