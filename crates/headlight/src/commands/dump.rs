//! `headlight dump`: writes all values that given weights compute for given samples.

use std::path::{Path, PathBuf};

use clap::Args;
use headlight_experiment::config::DumpFormat;
use headlight_report::counted;
use headlight_trainer::files::samples;
use headlight_trainer::files::weights;
use headlight_trainer::run::write_dump;
use headlight_trainer::session::dumping::{DumpModel, DumpSamples, Origin, dump};
use headlight_trainer::session::opening::open_device;
use headlight_trainer::{Destination, Failure, Output, shown};

use crate::arguments::{ConfigArguments, DeviceArgument, Force};
use crate::printing::tell;

/// Run given weights on given samples, and write every intermediate value
#[derive(Args, Debug)]
#[command(
    after_help = "Example: headlight dump --weights model.safetensors --samples samples.csv --out dump.npz"
)]
pub(crate) struct Arguments {
    /// The experiment
    #[command(flatten)]
    config: ConfigArguments,
    /// The weights file (.safetensors), such as the model.safetensors of a run
    #[arg(long, value_name = "FILE")]
    weights: PathBuf,
    /// The samples: a dataset file, or a .txt file with the token ids of one sample per line
    #[arg(long, value_name = "FILE")]
    samples: PathBuf,
    /// The file to write: .npz, .json or .csv
    #[arg(long, value_name = "FILE")]
    out: Destination,
    #[command(flatten)]
    output: Force,
    #[command(flatten)]
    device: DeviceArgument,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let config = arguments.config.load()?;
    let samples::SampleFile {
        dataset, labelled, ..
    } = samples::read(&arguments.samples, &config)?;
    let parameters = weights::load(&config, &arguments.weights)?;
    let out = Output::new(&arguments.out, arguments.output.force)?;
    let format = format_of(out.named("-.json"))?;
    let device = arguments.device.name.as_ref();
    let device = open_device(device.unwrap_or(&config.compute.device))?;
    let samples = DumpSamples {
        indices: (0..dataset.len()).collect(),
        dataset: &dataset,
        numbered: false,
        labelled,
    };
    let model = DumpModel {
        config: &config,
        parameters: &parameters,
    };
    let dump = dump(model, &samples, Origin::default(), &device, &[])?;
    out.write(|file| write_dump(&dump, format, file))?;
    tell(out, &counted(dataset.len(), "sample"))
}

fn format_of(path: &Path) -> Result<DumpFormat, Failure> {
    let extension = path.extension().unwrap_or_default();
    DumpFormat::ALL
        .into_iter()
        .find(|format| extension == format.name())
        .ok_or_else(|| {
            Failure::Input(format!(
                "{}: unknown file extension; use .npz, .json or .csv",
                shown(path)
            ))
        })
}
