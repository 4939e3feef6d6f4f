//! The command line.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use headlight_experiment::config::{EngineName, ExperimentConfig};
use headlight_sweep::{Grid, Seeds, Shard};
use headlight_trainer::{Failure, config, devices};

/// Trains tiny transformer classifiers and shows where their attention looks.
#[derive(Debug, Parser)]
#[command(name = "headlight", version, about, max_term_width = 100)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Train a model and write a run directory
    #[command(
        after_help = "Example: headlight train configs/notebook.toml --set training.epochs=5 --run runs/longer"
    )]
    Train(TrainArguments),
    /// Write a config's dataset as .npz, .csv or .jsonl
    #[command(after_help = "Example: headlight data --out notebook.npz")]
    Data(DataArguments),
    /// Classify one sample with a run's model and show where `[CLS]` looks
    #[command(
        after_help = "Example: headlight predict runs/notebook-1 --tokens \"0 45 48 1 4 4 40\""
    )]
    Predict(PredictArguments),
    /// Write all that given weights compute for given samples
    #[command(
        after_help = "Example: headlight dump --weights model.safetensors --tokens samples.csv --out dump.npz"
    )]
    Dump(DumpArguments),
    /// Draw attention in the terminal, as a picture, or as a page
    #[command(
        after_help = "Example: headlight inspect runs/notebook-1 --sample 10 --step 500\nA page of two runs among a sweep's seeds: headlight inspect runs/notebook-1 runs/notebook-2 --html page.html --sweep seeds.jsonl --open"
    )]
    Inspect(InspectArguments),
    /// Put runs side by side
    #[command(after_help = "Example: headlight compare runs/notebook-1 runs/notebook-2")]
    Compare(CompareArguments),
    /// Train many seeds, over a grid if wanted, on all cores
    #[command(
        after_help = "Example: headlight sweep --seeds 0..1000 --grid training.learning_rate=1e-3,3e-3 --out seeds.jsonl\nIn 64 parts with GNU parallel: headlight sweep --seeds 0..100000 --out seeds.jsonl --shards 64 --list | parallel\nSlurm, HyperQueue and Kubernetes are in docs/clusters.md."
    )]
    Sweep(SweepArguments),
    /// Make one file of the results of shards
    #[command(after_help = "Example: headlight merge shard-*.jsonl --out all.jsonl")]
    Merge(MergeArguments),
    /// Show what a sweep's results say as a whole: tables, distributions, learning curves
    #[command(
        after_help = "Example: headlight report seeds.jsonl --html seeds.html\nA grid's runs by one of its keys: headlight report grid.jsonl --by training.learning_rate --svg grid.svg"
    )]
    Report(ReportArguments),
    /// Compute worked examples of attention and check them against what documents print
    #[command(
        after_help = "Example: headlight walkthrough she-did-not\nWithout a name it lists those there are. configs/walkthroughs has their files, to start one's own from."
    )]
    Walkthrough(WalkthroughArguments),
    /// List the devices of this build and this machine
    #[command(after_help = "Example: headlight devices")]
    Devices,
}

fn engines() -> impl TypedValueParser<Value = EngineName> {
    PossibleValuesParser::new(EngineName::ALL.map(EngineName::name))
        .try_map(|name| name.parse::<EngineName>())
}

/// Which experiment.
#[derive(Args, Debug)]
pub(crate) struct ConfigArguments {
    /// The experiment, as TOML [default: configs/notebook.toml]
    pub(crate) config: Option<PathBuf>,
    /// Change a value of the config, as often as needed
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) overrides: Vec<String>,
}

impl ConfigArguments {
    /// Reads the config with its changes.
    ///
    /// # Errors
    /// When it is missing or wrong.
    pub(crate) fn load(&self) -> Result<ExperimentConfig, Failure> {
        config::load(self.path(), &self.overrides)
    }

    /// The config file.
    pub(crate) fn path(&self) -> &Path {
        self.config
            .as_deref()
            .unwrap_or(Path::new("configs/notebook.toml"))
    }
}

/// What `train` takes.
#[derive(Args, Debug)]
pub(crate) struct TrainArguments {
    /// Which experiment
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// Where to compute, instead of the config's compute.device
    #[arg(long, value_parser = PossibleValuesParser::new(devices::names()))]
    pub(crate) device: Option<String>,
    /// What computes training steps, instead of the config's compute.engine
    #[arg(long, value_parser = engines())]
    pub(crate) engine: Option<EngineName>,
    /// The run directory, which must not exist [default: the next free runs/CONFIG-N]
    #[arg(long, value_name = "DIR")]
    pub(crate) run: Option<PathBuf>,
    /// Go on with the run in --run DIR where it stood, with its own config unless one is given;
    /// begin it if there is none
    #[arg(long, requires = "run")]
    pub(crate) resume: bool,
    /// Open the run's page in a browser once it is there
    #[arg(long)]
    pub(crate) open: bool,
}

/// What `data` takes.
#[derive(Args, Debug)]
pub(crate) struct DataArguments {
    /// Which experiment
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// The file to write; its ending names the format
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
}

/// What `predict` takes.
#[derive(Args, Debug)]
pub(crate) struct PredictArguments {
    /// A run directory
    pub(crate) run: PathBuf,
    /// Token ids, separated by blanks, `[CLS]` = 0 first
    #[arg(long)]
    pub(crate) tokens: String,
    /// Where to compute, instead of the run's device
    #[arg(long, value_parser = PossibleValuesParser::new(devices::names()))]
    pub(crate) device: Option<String>,
}

/// What `dump` takes.
#[derive(Args, Debug)]
pub(crate) struct DumpArguments {
    /// Which experiment
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// The weights, as safetensors
    #[arg(long, value_name = "FILE")]
    pub(crate) weights: PathBuf,
    /// The samples: a dataset file, or a .txt file with a line of token ids a sample
    #[arg(long, value_name = "FILE")]
    pub(crate) tokens: PathBuf,
    /// The file to write: .npz, .json or .csv
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Where to compute, instead of the config's compute.device
    #[arg(long, value_parser = PossibleValuesParser::new(devices::names()))]
    pub(crate) device: Option<String>,
}

/// What `inspect` takes.
#[derive(Args, Debug)]
pub(crate) struct InspectArguments {
    /// A run directory or an npz dump
    pub(crate) source: PathBuf,
    /// More of them, for one page that compares all
    #[arg(value_name = "OTHER", requires = "html")]
    pub(crate) others: Vec<PathBuf>,
    /// The sample: its index in the training set, or its row where the dump is of other samples
    /// [default: the dump's first]
    #[arg(long)]
    pub(crate) sample: Option<usize>,
    /// The step, of a run [default: the last]
    #[arg(long)]
    pub(crate) step: Option<usize>,
    /// Follow a run while it trains: draw each new dump, until the run has ended
    #[arg(long, conflicts_with_all = ["step", "svg", "png"])]
    pub(crate) watch: bool,
    /// The block
    #[arg(long, default_value_t = 0)]
    pub(crate) layer: usize,
    /// The head
    #[arg(long, default_value_t = 0)]
    pub(crate) head: usize,
    /// Show scores, before the softmax, instead of weights
    #[arg(long)]
    pub(crate) scores: bool,
    /// Write the heatmap as an SVG picture instead of printing it
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Write the heatmap as a PNG picture instead of printing it
    #[arg(long, value_name = "FILE")]
    pub(crate) png: Option<PathBuf>,
    /// Write a page of all samples, steps and heads instead of drawing one of them
    #[arg(long, value_name = "FILE", conflicts_with_all = ["sample", "step", "layer", "head", "scores", "svg", "png", "watch"])]
    pub(crate) html: Option<PathBuf>,
    /// Show a sweep's seeds in the page too: the results of `headlight sweep` with the run's config
    #[arg(long, value_name = "RESULTS", requires = "html")]
    pub(crate) sweep: Option<PathBuf>,
    /// Open the page in a browser
    #[arg(long, requires = "html")]
    pub(crate) open: bool,
}

/// What `sweep` takes.
#[derive(Args, Debug)]
pub(crate) struct SweepArguments {
    /// Which experiment
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// Seeds from A up to, but without, B
    #[arg(long, value_name = "A..B")]
    pub(crate) seeds: Seeds,
    /// Values that a key of the config is to have, each with every seed; as often as needed
    #[arg(long, value_name = "KEY=V1,V2")]
    pub(crate) grid: Vec<Grid>,
    /// Only this part of the runs [default: that of this task of a Slurm array, or all]
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<Shard>,
    /// In so many parts: that of this task of a scheduler's array, to a file of its own beside --out,
    /// FILE-I-of-N.jsonl
    #[arg(long, value_name = "N", conflicts_with = "shard")]
    pub(crate) shards: Option<NonZeroUsize>,
    /// Print the command of each part, one a line, and do nothing else
    #[arg(long, requires = "shards")]
    pub(crate) list: bool,
    /// Runs at a time [default: a core each]
    #[arg(long)]
    pub(crate) threads: Option<NonZeroUsize>,
    /// What computes training steps, instead of the config's compute.engine
    #[arg(long, value_parser = engines())]
    pub(crate) engine: Option<EngineName>,
    /// The results, a line a run (.jsonl); runs that are in it already are not repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
}

/// What `merge` takes.
#[derive(Args, Debug)]
pub(crate) struct MergeArguments {
    /// Results of shards, in any order
    #[arg(required = true)]
    pub(crate) results: Vec<PathBuf>,
    /// The file to write: .jsonl, .csv with a column for each epoch and position, or .parquet with lists
    /// (a build with --features parquet)
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
}

/// What `report` takes.
#[derive(Args, Debug)]
pub(crate) struct ReportArguments {
    /// The results of `headlight sweep` or `headlight merge` (.jsonl)
    pub(crate) results: PathBuf,
    /// Compare the values of this key of the grid; as often as needed [default: each key that varies]
    #[arg(long, value_name = "KEY")]
    pub(crate) by: Vec<String>,
    /// Measure attention on this position, `[CLS]` being 0; on several, added up, if given again
    /// [default: the one with the most]
    #[arg(long, value_name = "N")]
    pub(crate) position: Vec<usize>,
    /// Write the pictures too
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Write tables and pictures as a page too
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

/// What `walkthrough` takes.
#[derive(Args, Debug)]
pub(crate) struct WalkthroughArguments {
    /// A walkthrough's name, or a TOML file of one's own
    #[arg(value_name = "NAME|FILE")]
    pub(crate) walkthrough: Option<String>,
    /// Write it as an HTML page instead of printing it
    #[arg(long, value_name = "FILE", requires = "walkthrough")]
    pub(crate) html: Option<PathBuf>,
    /// Write it as an SVG picture instead of printing it
    #[arg(long, value_name = "FILE", requires = "walkthrough")]
    pub(crate) svg: Option<PathBuf>,
    /// Write its numbers as JSON instead of printing them
    #[arg(long, value_name = "FILE", requires = "walkthrough")]
    pub(crate) json: Option<PathBuf>,
}

/// What `compare` takes.
#[derive(Args, Debug)]
pub(crate) struct CompareArguments {
    /// Run directories
    #[arg(required = true)]
    pub(crate) runs: Vec<PathBuf>,
}
