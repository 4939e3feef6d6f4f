//! TOML: configs, changes of configs, and walkthroughs.

use super::files;

/// A config file.
pub(crate) mod file {
    use std::path::Path;

    pub(crate) fn read(bytes: &[u8]) {
        if let Ok(text) = String::from_utf8(bytes.to_vec()) {
            let read = headlight_trainer::storage::config::parse(
                Path::new("c.toml"),
                text,
                std::iter::empty(),
            );
            if let Err(failure) = read {
                assert_eq!(failure.exit_code(), 2, "{failure}");
            }
        }
    }

    pub(crate) fn seeds() -> Vec<Vec<u8>> {
        let mut seeds = super::files("configs", "toml");
        seeds.extend(super::files("configs/claims", "toml"));
        seeds
    }
}

/// Values of `--set`, one per line.
pub(crate) mod set {
    use std::path::Path;
    use std::sync::OnceLock;

    use crate::targets::repository;

    pub(crate) fn read(bytes: &[u8]) {
        static QUICK: OnceLock<String> = OnceLock::new();
        let quick = QUICK
            .get_or_init(|| std::fs::read_to_string(repository("configs/quick.toml")).unwrap());
        if let Ok(text) = str::from_utf8(bytes) {
            let overrides = text.lines().map(|line| ("--set", line));
            let read = headlight_trainer::storage::config::parse(
                Path::new("quick.toml"),
                quick.clone(),
                overrides,
            );
            if let Err(failure) = read {
                assert_eq!(failure.exit_code(), 2, "{failure}");
            }
        }
    }

    pub(crate) fn seeds() -> Vec<Vec<u8>> {
        [
            "training.epochs=5\nmodel.d_model=16",
            "data.rule={ kind = \"token-anywhere\", token = 1 }",
            "dump.samples=[1, 2]\ncompute.engine=fused\ndump.formats=[\"csv\"]",
            "model.attention.mask=causal\nmodel.d_ff=8\nmodel.n_layers=2",
        ]
        .map(Into::into)
        .to_vec()
    }
}

/// Values of `--grid`, `--seeds` and `--shard`.
pub(crate) mod grid {
    use headlight_sweep::{Grid, Seeds, Shard};

    pub(crate) fn read(bytes: &[u8]) {
        if let Ok(text) = str::from_utf8(bytes) {
            let _ = text.parse::<Grid>();
            let _ = text.parse::<Seeds>();
            let _ = text.parse::<Shard>();
        }
    }

    pub(crate) fn seeds() -> Vec<Vec<u8>> {
        [
            "training.learning_rate=1e-3, 3e-3",
            "data.rule={ kind = \"token-anywhere\", token = 1 }",
            "training.token_second_moment=per-token,per-occurrence",
            "0..1000",
            "1/7",
        ]
        .map(Into::into)
        .to_vec()
    }
}

/// A walkthrough, computed and drawn.
pub(crate) mod walkthrough {
    use headlight_inspector::ColourMode;
    use headlight_inspector::terminal::Options;
    use headlight_walkthrough::Walkthrough;

    pub(crate) fn read(bytes: &[u8]) {
        if let Ok(walkthrough) = Walkthrough::read(bytes) {
            let options = Options {
                colour: ColourMode::Plain,
                width: 80,
            };
            let _ = walkthrough.document().text(options);
            let _ = walkthrough.document().html();
            let _ = walkthrough.json();
        }
    }

    pub(crate) fn seeds() -> Vec<Vec<u8>> {
        super::files("configs/walkthroughs", "toml")
    }
}
