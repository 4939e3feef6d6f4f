//! Runs libFuzzer on the target that `HEADLIGHT_FUZZ` names, after writing its seed inputs, and those that `corpus/` keeps,
//! to the folder `HEADLIGHT_FUZZ_SEEDS`. Without a name, prints the names of all targets.

#![no_main]

use std::alloc::System;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, io};

use cap::Cap;
use headlight_fuzz::{MEMORY_LIMIT, TARGETS, Target, target};
use libfuzzer_sys::fuzz_target;

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, MEMORY_LIMIT);

/// The peak of memory that was printed last.
static PEAK: AtomicUsize = AtomicUsize::new(0);

static CHOSEN: OnceLock<Target> = OnceLock::new();

fn prepare() {
    let Ok(name) = env::var("HEADLIGHT_FUZZ") else {
        for target in TARGETS {
            println!("{}", target.name);
        }
        std::process::exit(0);
    };
    let Some(target) = target(&name) else {
        panic!("HEADLIGHT_FUZZ: unknown target `{name}`");
    };
    if let Some(folder) = env::var_os("HEADLIGHT_FUZZ_SEEDS")
        && let Err(error) = write_seeds(target, Path::new(&folder))
    {
        panic!("HEADLIGHT_FUZZ_SEEDS: {error}");
    }
    CHOSEN.get_or_init(|| target);
}

fn write_seeds(target: Target, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for (number, bytes) in (target.seeds)().iter().enumerate() {
        fs::write(folder.join(format!("seed-{number}")), bytes)?;
    }
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let kept = corpus.join(target.name);
    if kept.is_dir() {
        for entry in fs::read_dir(kept)? {
            let entry = entry?;
            fs::copy(entry.path(), folder.join(entry.file_name()))?;
        }
    }
    Ok(())
}

fuzz_target!(init: prepare(), |bytes: &[u8]| {
    let Some(target) = CHOSEN.get() else {
        return;
    };
    (target.read)(bytes);
    let peak = ALLOCATOR.max_allocated();
    if peak > PEAK.load(Ordering::Relaxed) + (1 << 16) {
        PEAK.store(peak, Ordering::Relaxed);
        eprintln!("peak {:.1} MB", peak as f64 / 1e6);
    }
});
