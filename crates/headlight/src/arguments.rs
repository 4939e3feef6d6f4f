//! Arguments that several commands share.

use std::path::{Path, PathBuf};
use std::thread;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser, ValueParser};
use clap::{Arg, Args, value_parser};
use headlight_analysis::certificate;
use headlight_experiment::config::{EngineName, ExperimentConfig, MeasureName};
use headlight_report::Document;
use headlight_trainer::devices;
use headlight_trainer::files::built_in;
use headlight_trainer::files::config;
use headlight_trainer::files::data_file::is_data;
use headlight_trainer::{
    DatasetFiles, Destination, Failure, Output, STANDARD, shell_path, shell_word,
};
use serde_json::Value;

/// The experiment.
#[derive(Args, Debug)]
pub(crate) struct ConfigArguments {
    /// The experiment: a TOML file, a built-in config [default: notebook], or a data file (.csv, .tsv, .jsonl or .npz, also
    /// with .gz), for which Headlight makes a config (`headlight init FILE` writes it)
    #[arg(value_name = "NAME|FILE")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) columns: ColumnArguments,
    /// Change a value of the config; can be given several times
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_and_value)]
    pub(crate) overrides: Vec<String>,
    /// Take a key or a section out of the config, before --set; it then has its default; can be given several times
    #[arg(long = "unset", value_name = "KEY", value_parser = key)]
    pub(crate) unset: Vec<String>,
}

impl ConfigArguments {
    /// Reads the config and applies the changes.
    pub(crate) fn load(&self) -> Result<ExperimentConfig, Failure> {
        self.load_with(&DatasetFiles::default())
    }

    /// As [`load`](Self::load), with the files that the command has read.
    pub(crate) fn load_with(&self, files: &DatasetFiles) -> Result<ExperimentConfig, Failure> {
        config::load_with(self.path(), &self.changes(), files)
    }

    /// The changes of the config: the columns, what `--unset` takes out, and those of `--set`.
    pub(crate) fn changes(&self) -> Vec<String> {
        let mut changes = self.columns.changes();
        changes.extend_from_slice(&self.unset);
        changes.extend_from_slice(&self.overrides);
        changes
    }

    /// The config file.
    pub(crate) fn path(&self) -> &Path {
        self.config
            .as_deref()
            .unwrap_or(Path::new(built_in::DEFAULT))
    }

    /// The experiment as it was typed, for another command: the config, then each option with its value. `None` if it
    /// comes from standard input.
    pub(crate) fn typed(&self) -> Option<Vec<String>> {
        let path = Some(self.path()).filter(|path| *path != Path::new(STANDARD))?;
        let columns = [
            ("--text", &self.columns.text),
            ("--label", &self.columns.label),
        ];
        let columns = columns
            .into_iter()
            .filter_map(|(flag, value)| Some((flag, value.as_ref()?)));
        let unset = self.unset.iter().map(|key| ("--unset", key));
        let sets = self.overrides.iter().map(|value| ("--set", value));
        let options = columns.chain(unset).chain(sets).map(|(flag, value)| {
            // A value that begins like a flag is a value only after `=`.
            let sign = if value.starts_with('-') { '=' } else { ' ' };
            format!("{flag}{sign}{}", shell_word(value.as_ref()))
        });
        Some([shell_path(path)].into_iter().chain(options).collect())
    }

    /// The name of the config, for what is made of it; `None` if it comes from standard input.
    pub(crate) fn name(&self) -> Option<String> {
        let path = self.path();
        let stem = path.file_stem().filter(|_| path != Path::new(STANDARD))?;
        Some(data_stem(path).unwrap_or_else(|| stem.to_string_lossy().into_owned()))
    }
}

/// Whether the answers to all possible inputs are counted.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Certify {
    /// Also count how each trained model answers every possible input
    #[arg(long)]
    certify: bool,
}

impl Certify {
    /// Adds the measures to a config.
    pub(crate) fn add_to(self, config: &mut ExperimentConfig) -> Result<(), Failure> {
        if !self.certify {
            return Ok(());
        }
        let measures = &mut config.report.measures;
        for measure in [MeasureName::WrongInputs, MeasureName::SmallestMargin] {
            if !measures.contains(&measure) {
                measures.push(measure);
            }
        }
        certificate::check(config).map_err(|reason| {
            Failure::Input(format!(
                "--certify: a certificate {reason}; leave out --certify"
            ))
        })?;
        Ok(())
    }

    /// The change of a config that asks for it.
    pub(crate) fn change(self, arguments: &ConfigArguments) -> Result<Option<String>, Failure> {
        if !self.certify {
            return Ok(None);
        }
        let mut config = arguments.load()?;
        self.add_to(&mut config)?;
        let names = config.report.measures.into_iter().map(MeasureName::name);
        Ok(Some(format!(
            "report.measures={:?}",
            names.collect::<Vec<_>>()
        )))
    }
}

/// The columns of a data file.
#[derive(Args, Debug)]
pub(crate) struct ColumnArguments {
    /// The column of texts in the data file
    #[arg(long, value_name = "COLUMN")]
    pub(crate) text: Option<String>,
    /// The column of labels in the data file
    #[arg(long, value_name = "COLUMN")]
    pub(crate) label: Option<String>,
}

impl ColumnArguments {
    /// The columns as changes of a config.
    pub(crate) fn changes(&self) -> Vec<String> {
        let named = [("text", &self.text), ("label", &self.label)].into_iter();
        let named = named.filter_map(|(key, name)| Some((key, name.as_deref()?)));
        // A string in JSON is one in TOML.
        let named = named.map(|(key, name)| format!("data.{key}={}", Value::from(name)));
        named.collect()
    }
}

/// The name of a data file without its endings, `.csv.gz`; `None` if it is not a data file.
pub(crate) fn data_stem(path: &Path) -> Option<String> {
    let unpacked = path.with_extension("");
    let is_packed = path.extension().is_some_and(|ending| ending == "gz");
    let path = if is_packed { &unpacked } else { path };
    let stem = path.file_stem().filter(|_| is_data(path))?;
    Some(stem.to_string_lossy().into_owned())
}

/// Whether an argument names a file that is written.
pub fn is_output(argument: &Arg) -> bool {
    let of_outputs = ValueParser::from(value_parser!(Destination)).type_id();
    argument.get_value_parser().type_id() == of_outputs
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
    pub(crate) fn check(self, outputs: &[Option<Output<'_>>]) -> Result<(), Failure> {
        if self.json && outputs.iter().flatten().any(|output| output.is_standard()) {
            let message =
                "--json and `-` both write to standard output; write one of them to a file";
            return Err(Failure::Input(message.to_owned()));
        }
        Ok(())
    }
}

/// The files that a document is written to, and the form of what is printed.
#[derive(Args, Debug)]
pub(crate) struct DocumentArguments {
    /// Also write the plots, as an SVG picture
    #[arg(long, value_name = "FILE")]
    svg: Option<Destination>,
    /// Also write tables and plots, as an HTML page
    #[arg(long, value_name = "FILE")]
    html: Option<Destination>,
    #[command(flatten)]
    output: Force,
    #[command(flatten)]
    pub(crate) form: Form,
}

impl DocumentArguments {
    /// Opens the outputs.
    pub(crate) fn open(&self) -> Result<DocumentOutputs<'_>, Failure> {
        let outputs = [("svg", self.svg.as_ref()), ("html", self.html.as_ref())];
        let outputs = Output::all(outputs, self.output.force)?;
        self.form.check(&outputs)?;
        Ok(DocumentOutputs(outputs))
    }
}

/// The files of [`DocumentArguments`].
pub(crate) struct DocumentOutputs<'a>(pub(crate) [Option<Output<'a>>; 2]);

impl DocumentOutputs<'_> {
    /// Writes the plots, and the whole document.
    pub(crate) fn write(&self, document: &Document) -> Result<(), Failure> {
        let [svg, html] = self.0;
        if let Some(out) = svg {
            out.write_all(document.plots_svg().as_bytes())?;
        }
        if let Some(out) = html {
            out.write_all(document.html().as_bytes())?;
        }
        Ok(())
    }
}

/// The device.
#[derive(Args, Debug)]
pub(crate) struct DeviceArgument {
    /// Compute on this device (`headlight devices` lists them), instead of the config's compute.device
    #[arg(long = "device", value_name = "DEVICE", value_parser = device)]
    pub(crate) name: Option<String>,
}

/// The device and the engine of a training.
#[derive(Args, Debug)]
pub(crate) struct ComputeArguments {
    #[command(flatten)]
    pub(crate) device: DeviceArgument,
    /// Compute training steps with this engine, instead of the config's compute.engine
    #[arg(long, value_parser = engines())]
    pub(crate) engine: Option<EngineName>,
}

/// A change of a config.
fn key_and_value(text: &str) -> Result<String, String> {
    let is_change = text.contains('=').then(|| text.to_owned());
    is_change.ok_or_else(|| "write KEY=VALUE, such as training.epochs=5".to_owned())
}

/// A key of a config.
fn key(text: &str) -> Result<String, String> {
    let is_key = (!text.contains('=')).then(|| text.to_owned());
    is_key.ok_or_else(|| "write a key without a value, such as training.patience".to_owned())
}

/// A count of at least 1.
pub(crate) fn count(text: &str) -> Result<usize, String> {
    whole(1, u32::MAX.into())(text)
}

/// A whole number from `least` to `most`.
pub(crate) fn whole<T: TryFrom<u64>>(
    least: u64,
    most: u64,
) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        let number: Option<u64> = text.parse().ok();
        let number = number.filter(|number| (least..=most).contains(number));
        let number = number.and_then(|number| number.try_into().ok());
        number.ok_or_else(|| format!("give a whole number from {least} to {most}"))
    }
}

/// An index, such as that of a position, or a step.
pub(crate) fn index(text: &str) -> Result<usize, String> {
    whole(0, u32::MAX.into())(text)
}

/// A number from 0 to `most`.
pub(crate) fn number(most: f64) -> impl Fn(&str) -> Result<f64, String> + Clone {
    move |text| {
        let number = text.parse().ok();
        let number = number.filter(|number| (0.0..=most).contains(number));
        number.ok_or_else(|| format!("give a number from 0 to {most}"))
    }
}

/// The number of runs at a time: one per core, unless it is given.
pub(crate) fn threads(given: Option<usize>) -> usize {
    given.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from))
}

/// A device's name. The message for another name says what to use instead.
fn device(name: &str) -> Result<String, String> {
    devices::find(name).map(|device| device.name.to_owned())
}

/// The engines; a build without Burn takes its name, to say where Burn is, but does not offer it.
fn engines() -> impl TypedValueParser<Value = EngineName> {
    let value = |engine: EngineName| {
        let is_lacking = engine == EngineName::Burn && cfg!(not(feature = "burn"));
        PossibleValue::new(engine.name()).hide(is_lacking)
    };
    PossibleValuesParser::new(EngineName::ALL.map(value)).map(|name| {
        let mut all = EngineName::ALL.into_iter();
        all.find(|engine| engine.name() == name)
            .unwrap_or(EngineName::Auto)
    })
}
