//! Inputs that once did harm, and inputs that were made to: each is read without a panic and within
//! memory. A file's name says what it is.
#![allow(missing_docs, clippy::unwrap_used)]

use std::alloc::System;
use std::fs;
use std::path::{Path, PathBuf};

use cap::Cap;
use headlight_fuzz::{MEMORY_LIMIT, TARGETS, target};

/// Memory beyond the limit ends the test.
#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, MEMORY_LIMIT);

#[test]
fn kept_inputs_do_no_harm() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut read = 0;
    for folder in fs::read_dir(corpus).unwrap() {
        let folder = folder.unwrap().path();
        let name = folder.file_name().unwrap().to_str().unwrap();
        let target = target(name).unwrap_or_else(|| panic!("corpus/{name} is no target's"));
        let mut paths: Vec<PathBuf> = fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        paths.sort();
        for path in paths {
            println!("{name}: {}", path.display());
            (target.read)(&fs::read(&path).unwrap());
            read += 1;
        }
    }
    assert!(read > 0, "there is no corpus");
    for target in TARGETS {
        let seeds = (target.seeds)();
        assert!(!seeds.is_empty(), "{} has no seeds", target.name);
        for seed in seeds {
            (target.read)(&seed);
        }
    }
}
