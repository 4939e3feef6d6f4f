//! Valid inputs, inputs that once did harm, and inputs that were made to: each is read without a panic and within
//! memory. A file's name says what it is.
#![allow(missing_docs, clippy::unwrap_used)]

use std::alloc::System;
use std::fs;
use std::path::{Path, PathBuf};

use cap::Cap;
use headlight_fuzz::{MEMORY_LIMIT, TARGETS};

/// Memory beyond the limit ends the test.
#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, MEMORY_LIMIT);

#[test]
fn kept_inputs_do_no_harm() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    assert_eq!(fs::read_dir(&corpus).unwrap().count(), TARGETS.len());
    for (name, read) in TARGETS {
        let paths = fs::read_dir(corpus.join(name)).unwrap();
        let mut paths: Vec<PathBuf> = paths.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        assert!(!paths.is_empty(), "{name} has no inputs");
        for path in paths {
            println!("{name}: {}", path.display());
            read(&fs::read(&path).unwrap());
        }
    }
}
