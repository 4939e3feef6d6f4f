//! The command line.

use std::borrow::Cow;
use std::num::{IntErrorKind, NonZeroUsize, ParseIntError};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use headlight_data::Source;
use headlight_experiment::config::{EngineName, ExperimentConfig, toml};
use headlight_inspector::ColourRange;
use headlight_sweep::{Grid, Seeds, Shard};
use headlight_trainer::outputs::Output;
use headlight_trainer::printing::{Verbosity, complain};
use headlight_trainer::standard::STANDARD;
use headlight_trainer::{Failure, built_in, config, devices};
use serde::Serialize;

/// Reads the command line. Ends the program after `--help`, or with a message about a mistake.
pub(crate) fn parse() -> Cli {
    Cli::try_parse().unwrap_or_else(|mut error| {
        let (ErrorKind::UnknownArgument, Some(ContextValue::String(unknown))) =
            (error.kind(), error.get(ContextKind::InvalidArg).cloned())
        else {
            error.exit()
        };
        // The tip to write `-- --epochs`: no command takes such a value.
        error.remove(ContextKind::Suggested);
        let name = unknown.trim_start_matches('-').replace('-', "_");
        if let Some(key) = toml::key_of(&name) {
            error.remove(ContextKind::SuggestedArg);
            let _ = error.print();
            complain(&format!(
                "\n{unknown} is a key of the config; write --set {key}=VALUE"
            ));
            std::process::exit(error.exit_code());
        }
        error.exit()
    })
}

/// Trains tiny transformer classifiers and shows where their attention looks.
#[derive(Debug, Parser)]
#[command(name = "headlight", version, max_term_width = 100)]
pub(crate) struct Cli {
    /// Print only results and errors, without notes and progress
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Also print what Headlight uses, such as the engine, and how long the work took
    #[arg(short, long, global = true)]
    verbose: bool,
    /// The command to run.
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// What the command prints besides its result.
    pub(crate) fn verbosity(&self) -> Verbosity {
        match (self.quiet, self.verbose) {
            (true, _) => Verbosity::Quiet,
            (_, true) => Verbosity::Verbose,
            _ => Verbosity::Usual,
        }
    }
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Write a built-in config to a file in the current folder, for you to edit
    #[command(after_help = "Example: headlight init token_anywhere")]
    Init(InitArguments),
    /// Train a model and write a run directory
    #[command(
        after_help = "Example: headlight train notebook --set training.epochs=5 --run runs/longer"
    )]
    Train(TrainArguments),
    /// Write a config's dataset as .npz, .csv or .jsonl
    #[command(after_help = "Example: headlight data --out notebook.npz")]
    Data(DataArguments),
    /// Classify one sample with a run's model and show where `[CLS]` looks, or classify the samples of a file
    #[command(
        after_help = "Example: headlight predict runs/notebook-1 --tokens \"0 45 48 1 4 4 40\"\nA file: headlight predict runs/notebook-1 --tokens samples.csv --out predictions.csv"
    )]
    Predict(PredictArguments),
    /// Evaluate a run's model on labelled samples: confusion matrix, F1, ROC-AUC, thresholds, calibration
    #[command(
        after_help = "Example: headlight evaluate runs/notebook-1\nOn other samples, with curves: headlight evaluate runs/notebook-1 samples.csv --html evaluation.html\nFor a script: headlight evaluate runs/notebook-1 --json"
    )]
    Evaluate(EvaluateArguments),
    /// Show how far a word's vectors move apart in its sentences, and write the vectors as CSV
    #[command(
        after_help = "Example: headlight embed runs/bank-1 --word bank\nThe vectors: headlight embed runs/bank-1 --word bank --word crane --csv vectors.csv"
    )]
    Embed(EmbedArguments),
    /// Run given weights on given samples, and write every intermediate value
    #[command(
        after_help = "Example: headlight dump --weights model.safetensors --tokens samples.csv --out dump.npz"
    )]
    Dump(DumpArguments),
    /// Show attention in the terminal, as a picture or as a page
    #[command(
        after_help = "Example: headlight inspect runs/notebook-1 --sample 10 --step 500\nAll heads in one picture: headlight inspect runs/notebook-1 --layer all --head all --svg heads.svg\nTwo runs and a sweep's seeds on one page: headlight inspect runs/notebook-1 runs/notebook-2 --html page.html --sweep seeds.jsonl --open"
    )]
    Inspect(InspectArguments),
    /// Write a page that trains a config itself, without a run
    #[command(
        after_help = "Example: headlight lab --open\nAnother experiment: headlight lab token_anywhere --set model.n_heads=2 --html anywhere.html"
    )]
    Lab(LabArguments),
    /// Show runs side by side: the settings that differ, and the last metrics
    #[command(after_help = "Example: headlight compare runs/notebook-1 runs/notebook-2")]
    Compare(CompareArguments),
    /// Check that the files of a run are as Headlight wrote them
    #[command(after_help = "Example: headlight verify runs/notebook-1")]
    Verify(VerifyArguments),
    /// Train many seeds on all cores, with optional grids of config values
    #[command(
        after_help = "Example: headlight sweep --seeds 0..1000 --grid training.learning_rate=1e-3,3e-3 --out seeds.jsonl\nIn 64 shards with GNU parallel: headlight sweep --seeds 0..100000 --out seeds.jsonl --shards 64 --list | parallel\nFor Slurm, HyperQueue and Kubernetes, see docs/clusters.md."
    )]
    Sweep(SweepArguments),
    /// Merge the results files of shards into one file
    #[command(after_help = "Example: headlight merge shard-*.jsonl --out all.jsonl")]
    Merge(MergeArguments),
    /// Summarise a sweep's results: tables, distributions, learning curves
    #[command(
        after_help = "Example: headlight report seeds.jsonl --html seeds.html\nBy one key of a grid: headlight report grid.jsonl --by training.learning_rate --svg grid.svg"
    )]
    Report(ReportArguments),
    /// Compute worked examples of attention, and compare them with the numbers that documents print
    #[command(
        after_help = "Example: headlight walkthrough she-did-not\nWithout a name, it lists the built-in walkthroughs. To write your own, copy a file from configs/walkthroughs."
    )]
    Walkthrough(WalkthroughArguments),
    /// List the devices of this build and the GPU adapters of this machine
    #[command(after_help = "Example: headlight devices")]
    Devices(DevicesArguments),
    /// Print a script that completes commands and options in a shell
    #[command(
        after_help = "Example: headlight completions bash > ~/.local/share/bash-completion/completions/headlight"
    )]
    Completions(CompletionsArguments),
    /// Print the manual page of headlight or of a command, as roff
    #[command(after_help = "Example: headlight man train | man -l -")]
    Man(ManArguments),
}

/// A device's name. The message for another name says what to use instead.
fn device(name: &str) -> Result<String, String> {
    devices::find(name).map(|device| device.name.to_owned())
}

fn engines() -> impl TypedValueParser<Value = EngineName> {
    PossibleValuesParser::new(EngineName::ALL.map(EngineName::name))
        .try_map(|name| name.parse::<EngineName>())
}

fn ranges() -> impl TypedValueParser<Value = ColourRange> {
    let names = ColourRange::NAMED.map(|(name, _)| name);
    PossibleValuesParser::new(names).try_map(|name| {
        let named = ColourRange::NAMED
            .into_iter()
            .find(|(known, _)| *known == name);
        named.map(|(_, range)| range).ok_or("unknown range")
    })
}

/// One layer or head, or all.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Chosen {
    One(usize),
    All,
}

impl FromStr for Chosen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "all" => Ok(Self::All),
            _ => text
                .parse()
                .map(Self::One)
                .map_err(|_| "it must be a number, counted from 0, or `all`".to_owned()),
        }
    }
}

/// The experiment.
#[derive(Args, Debug)]
pub(crate) struct ConfigArguments {
    /// The experiment: a TOML file, or the name of a built-in config [default: notebook]
    #[arg(value_name = "NAME|FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Change a value of the config; can be given several times
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) overrides: Vec<String>,
}

impl ConfigArguments {
    /// Reads the config and applies the changes.
    ///
    /// # Errors
    /// When the file is missing, or the config is invalid.
    pub(crate) fn load(&self) -> Result<ExperimentConfig, Failure> {
        config::load(self.path(), &self.overrides)
    }

    /// The config file.
    pub(crate) fn path(&self) -> &Path {
        self.config
            .as_deref()
            .unwrap_or(Path::new(built_in::DEFAULT))
    }

    /// The name of the config, for what is made of it; `None` if it comes from standard input.
    pub(crate) fn name(&self) -> Option<Cow<'_, str>> {
        let path = self.path();
        let stem = path.file_stem().filter(|_| path != Path::new(STANDARD))?;
        Some(stem.to_string_lossy())
    }

    /// The files that a config is read from.
    pub(crate) fn inputs<'a>(&'a self, config: &'a ExperimentConfig) -> Vec<&'a Path> {
        let mut inputs = vec![self.path()];
        if let Source::File(path) = &config.data.source {
            inputs.push(path);
        }
        inputs.extend(config.reference.as_deref());
        inputs
    }
}

/// Whether outputs may replace files.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Force {
    /// Replace an output file that exists
    #[arg(long)]
    pub(crate) force: bool,
}

/// The form of what a command prints.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Form {
    /// Print the result as one line of JSON, and everything else to standard error
    #[arg(long)]
    pub(crate) json: bool,
}

impl Form {
    /// Refuses `--json` beside an output on standard output.
    ///
    /// # Errors
    /// When there is one.
    pub(crate) fn check(self, outputs: &[Option<Output<'_>>]) -> Result<(), Failure> {
        if self.json && outputs.iter().flatten().any(|output| output.is_standard()) {
            let message =
                "--json and `-` both write to standard output; write one of them to a file";
            return Err(Failure::Input(message.to_owned()));
        }
        Ok(())
    }
}

/// The arguments of `init`.
#[derive(Args, Debug)]
pub(crate) struct InitArguments {
    /// The built-in config
    #[arg(default_value = built_in::DEFAULT)]
    pub(crate) name: PathBuf,
    /// List the built-in configs with a sentence about each
    #[arg(long, conflicts_with = "name")]
    pub(crate) list: bool,
    #[command(flatten)]
    pub(crate) output: Force,
}

/// The arguments of `train`.
#[derive(Args, Debug)]
pub(crate) struct TrainArguments {
    /// The experiment
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// Compute on this device (`headlight devices` lists them), instead of the config's compute.device
    #[arg(long, value_parser = device)]
    pub(crate) device: Option<String>,
    /// Compute training steps with this engine, instead of the config's compute.engine
    #[arg(long, value_parser = engines())]
    pub(crate) engine: Option<EngineName>,
    /// The run directory to create; with --resume, it may exist [default: the next free runs/CONFIG-N]
    #[arg(long, value_name = "DIR")]
    pub(crate) run: Option<PathBuf>,
    /// Resume the run in --run DIR, with its own config unless CONFIG is given; if there is no run in
    /// DIR, start one from CONFIG
    #[arg(long, requires = "run")]
    pub(crate) resume: bool,
    /// Open the run's page in a browser after training
    #[arg(long)]
    pub(crate) open: bool,
    /// Train even if the run will write more than 1 GiB of attention dumps
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) form: Form,
}

/// The arguments of `data`.
#[derive(Args, Debug)]
pub(crate) struct DataArguments {
    /// The experiment
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// The file to write; its extension selects the format: .npz, .csv or .jsonl
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) output: Force,
}

/// The arguments of `predict`.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("sample").args(["tokens", "text"]).required(true))]
pub(crate) struct PredictArguments {
    /// A run directory; or a results file of `headlight sweep`, whose runs are trained again and averaged
    pub(crate) run: PathBuf,
    #[command(flatten)]
    pub(crate) swept: SweptArguments,
    /// The token ids of one sample, separated by spaces or commas; Headlight adds `[CLS]`, which is 0, if it is
    /// missing. Or a file of samples: a dataset file, or a .txt file with one sample per line. Or -, to read such
    /// lines from standard input
    #[arg(long, value_name = "IDS|FILE")]
    pub(crate) tokens: Option<String>,
    /// The sample as text, for a run that was trained on texts
    #[arg(long)]
    pub(crate) text: Option<String>,
    /// Write the predictions for a file of samples to this file, .csv or .jsonl, instead of printing them as CSV
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: Force,
    #[command(flatten)]
    pub(crate) form: Form,
    /// Use these weights, a safetensors file, instead of those at the end of the run
    #[arg(long, value_name = "FILE")]
    pub(crate) weights: Option<PathBuf>,
    /// Compute on this device (`headlight devices` lists them), instead of the device in the run's config
    #[arg(long, value_parser = device)]
    pub(crate) device: Option<String>,
}

/// The arguments of `devices`.
#[derive(Args, Debug)]
pub(crate) struct DevicesArguments {
    #[command(flatten)]
    pub(crate) form: Form,
}

/// The arguments of `completions`.
#[derive(Args, Debug)]
pub(crate) struct CompletionsArguments {
    /// The shell
    pub(crate) shell: Shell,
}

/// The arguments of `man`.
#[derive(Args, Debug)]
pub(crate) struct ManArguments {
    /// The command [default: headlight itself]
    pub(crate) command: Option<String>,
}

/// The arguments of `evaluate`.
#[derive(Args, Debug)]
pub(crate) struct EvaluateArguments {
    /// A run directory; or a results file of `headlight sweep`, whose runs are trained again and averaged
    pub(crate) run: PathBuf,
    #[command(flatten)]
    pub(crate) swept: SweptArguments,
    /// A dataset file with labels [default: the run's own held-out samples, or its training samples if it holds
    /// out none]
    pub(crate) data: Option<PathBuf>,
    /// Use these weights, a safetensors file, instead of those at the end of the run
    #[arg(long, value_name = "FILE")]
    pub(crate) weights: Option<PathBuf>,
    /// Evaluate on this split of the run's own samples
    #[arg(long, conflicts_with = "data")]
    pub(crate) split: Option<Split>,
    #[command(flatten)]
    pub(crate) form: Form,
    /// Also write the curves and the confusion matrix, as an SVG picture
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Also write tables and curves, as an HTML page
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: Force,
    /// Compute on this device (`headlight devices` lists them), instead of the device in the run's config
    #[arg(long, value_parser = device)]
    pub(crate) device: Option<String>,
}

/// The experiment of a results file, which holds no config.
#[derive(Args, Debug)]
pub(crate) struct SweptArguments {
    /// The experiment of the results file: a TOML file, or the name of a built-in config
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) config: Option<PathBuf>,
    /// A change of the config that the sweep was given; can be given several times
    #[arg(long = "set", value_name = "KEY=VALUE", requires = "config")]
    pub(crate) overrides: Vec<String>,
}

/// A split of a run's samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Split {
    /// The samples that the model was trained on
    Train,
    /// The samples that were held out
    HeldOut,
}

/// The arguments of `embed`.
#[derive(Args, Debug)]
pub(crate) struct EmbedArguments {
    /// A run directory
    pub(crate) run: PathBuf,
    /// A word, or a token of a run whose samples are tokens; can be given several times
    #[arg(long = "word", value_name = "WORD", required = true)]
    pub(crate) words: Vec<String>,
    /// How many occurrences to take at most, in the order of the run's held-out samples
    #[arg(long, value_name = "COUNT", default_value = "40", value_parser = at_least_one)]
    pub(crate) occurrences: NonZeroUsize,
    /// Also write each vector, and its place in the plane of each level, as CSV
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: Force,
    #[command(flatten)]
    pub(crate) form: Form,
}

/// The arguments of `dump`.
#[derive(Args, Debug)]
pub(crate) struct DumpArguments {
    /// The experiment
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// The weights, a safetensors file
    #[arg(long, value_name = "FILE")]
    pub(crate) weights: PathBuf,
    /// The samples: a dataset file, or a .txt file with the token ids of one sample per line
    #[arg(long, value_name = "FILE")]
    pub(crate) tokens: PathBuf,
    /// The file to write: .npz, .json or .csv
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) output: Force,
    /// Compute on this device (`headlight devices` lists them), instead of the config's compute.device
    #[arg(long, value_parser = device)]
    pub(crate) device: Option<String>,
}

/// The arguments of `inspect`.
#[derive(Args, Debug)]
pub(crate) struct InspectArguments {
    /// A run directory or a dump (.npz)
    pub(crate) source: PathBuf,
    /// More run directories or dumps, to compare on one page
    #[arg(value_name = "OTHER", requires = "html")]
    pub(crate) others: Vec<PathBuf>,
    /// The sample: its index in the training set, or its row in a dump of other samples
    /// [default: the first sample of the dump]
    #[arg(long)]
    pub(crate) sample: Option<usize>,
    /// The step of the run's dump [default: the last step]
    #[arg(long)]
    pub(crate) step: Option<usize>,
    /// Follow a run during training: draw each new dump until the run ends
    #[arg(long, conflicts_with_all = ["step", "svg", "png"])]
    pub(crate) watch: bool,
    /// The layer (transformer block), counted from 0, or `all`
    #[arg(long, value_name = "N|all", default_value = "0")]
    pub(crate) layer: Chosen,
    /// The attention head, counted from 0, or `all`: a picture then has a column for each head
    #[arg(long, value_name = "N|all", default_value = "0")]
    pub(crate) head: Chosen,
    /// Print only the attention from this position, the largest values first [default for several heads: the
    /// position of `[CLS]`]
    #[arg(long, value_name = "N", conflicts_with_all = ["svg", "png"])]
    pub(crate) query: Option<usize>,
    /// The values that the colours stand for: `unit`, 0 to 1; `uniform`, multiples of uniform attention on a log scale;
    /// `data`, the smallest to the largest value [default: uniform; data for scores]
    #[arg(long, value_parser = ranges())]
    pub(crate) range: Option<ColourRange>,
    /// Show attention scores, before the softmax, instead of attention weights
    #[arg(long)]
    pub(crate) scores: bool,
    /// Write it as an SVG picture instead of printing it
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Write it as a PNG picture instead of printing it
    #[arg(long, value_name = "FILE")]
    pub(crate) png: Option<PathBuf>,
    /// Write a page of all samples, steps and heads instead of printing one heatmap
    #[arg(long, value_name = "FILE", conflicts_with_all = ["sample", "step", "layer", "head", "query", "range", "scores", "svg", "png", "watch"])]
    pub(crate) html: Option<PathBuf>,
    /// Add a sweep's seeds to the page, from a results file of `headlight sweep` with the run's config
    #[arg(long, value_name = "RESULTS", requires = "html")]
    pub(crate) sweep: Option<PathBuf>,
    /// Open a page in a browser: the one that --html writes, or else the run's own page
    #[arg(long, conflicts_with_all = ["svg", "png", "watch"])]
    pub(crate) open: bool,
    #[command(flatten)]
    pub(crate) output: Force,
}

/// The arguments of `lab`.
#[derive(Args, Debug)]
pub(crate) struct LabArguments {
    /// The experiment
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// The page to write
    #[arg(long, value_name = "FILE", default_value = "lab.html")]
    pub(crate) html: PathBuf,
    /// Open the page in a browser
    #[arg(long)]
    pub(crate) open: bool,
    #[command(flatten)]
    pub(crate) output: Force,
}

/// The arguments of `sweep`.
#[derive(Args, Debug)]
pub(crate) struct SweepArguments {
    /// The experiment
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// The seeds, from A up to but not including B
    #[arg(long, value_name = "A..B")]
    pub(crate) seeds: Seeds,
    /// Train every seed with each of these values of a config key; can be given several times
    #[arg(long, value_name = "KEY=V1,V2")]
    pub(crate) grid: Vec<Grid>,
    /// Run only shard I of N [default: the shard of this Slurm array task, or all runs]
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<Shard>,
    /// Split the runs into N shards and run the shard of this array task; its results go to
    /// FILE-I-of-N.jsonl, beside --out
    #[arg(long, value_name = "N", conflicts_with = "shard", value_parser = at_least_one)]
    pub(crate) shards: Option<NonZeroUsize>,
    /// Print the command of each shard, one per line, and train nothing
    #[arg(long, requires = "shards")]
    pub(crate) list: bool,
    /// The number of runs at a time [default: one per core]
    #[arg(long, value_parser = at_least_one)]
    pub(crate) threads: Option<NonZeroUsize>,
    /// Compute on this device (`headlight devices` lists them), instead of the config's compute.device
    #[arg(long, value_parser = device)]
    pub(crate) device: Option<String>,
    /// Compute training steps with this engine, instead of the config's compute.engine
    #[arg(long, value_parser = engines())]
    pub(crate) engine: Option<EngineName>,
    /// The results file (.jsonl), one row per run; runs that are already in it are skipped
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Replace the picture beside --out even if this sweep did not write it
    #[arg(long)]
    pub(crate) force: bool,
}

/// The arguments of `merge`.
#[derive(Args, Debug)]
pub(crate) struct MergeArguments {
    /// The results files of the shards, in any order
    #[arg(required = true)]
    pub(crate) results: Vec<PathBuf>,
    /// The file to write: .jsonl, or .csv with a column for each epoch and position
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) output: Force,
}

/// The arguments of `report`.
#[derive(Args, Debug)]
pub(crate) struct ReportArguments {
    /// A results file of `headlight sweep` or `headlight merge` (.jsonl)
    pub(crate) results: PathBuf,
    /// Compare the values of this grid key; can be given several times [default: each key that varies]
    #[arg(long, value_name = "KEY")]
    pub(crate) by: Vec<String>,
    /// Measure attention on this position; if given several times, on their sum; `[CLS]` is at 0
    /// [default: the position with the most attention]
    #[arg(long, value_name = "N")]
    pub(crate) position: Vec<usize>,
    /// Also write the plots, as an SVG picture
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Also write tables and plots, as an HTML page
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: Force,
    #[command(flatten)]
    pub(crate) form: Form,
}

/// The arguments of `walkthrough`.
#[derive(Args, Debug)]
pub(crate) struct WalkthroughArguments {
    /// The name of a built-in walkthrough, or your own TOML file
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
    #[command(flatten)]
    pub(crate) output: Force,
}

/// The arguments of `headlight verify`.
#[derive(Debug, Args)]
pub(crate) struct VerifyArguments {
    /// Run directory
    pub(crate) run: PathBuf,
    #[command(flatten)]
    pub(crate) form: Form,
}

/// The arguments of `compare`.
#[derive(Args, Debug)]
pub(crate) struct CompareArguments {
    /// Run directories
    #[arg(required = true)]
    pub(crate) runs: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) form: Form,
}

fn at_least_one(text: &str) -> Result<NonZeroUsize, String> {
    text.parse()
        .map_err(|error: ParseIntError| match error.kind() {
            IntErrorKind::Zero => "it must be at least 1".to_owned(),
            _ => error.to_string(),
        })
}
