//! Writes the seed inputs of each target, including those of `corpus/`, to FOLDER/TARGET, and prints the names of
//! the targets.

use std::path::Path;
use std::{env, fs, io};

use headlight_fuzz::TARGETS;

fn main() -> io::Result<()> {
    let folder = env::args_os().nth(1);
    let folder = folder.ok_or_else(|| io::Error::other("usage: seeds FOLDER"))?;
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for target in TARGETS {
        let to = Path::new(&folder).join(target.name);
        fs::create_dir_all(&to)?;
        for (number, bytes) in (target.seeds)().iter().enumerate() {
            fs::write(to.join(format!("seed-{number}")), bytes)?;
        }
        let kept = kept.join(target.name);
        if kept.is_dir() {
            for entry in fs::read_dir(kept)? {
                let entry = entry?;
                fs::copy(entry.path(), to.join(entry.file_name()))?;
            }
        }
        println!("{}", target.name);
    }
    Ok(())
}
