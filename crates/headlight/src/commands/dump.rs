//! `headlight dump`: writes all values that given weights compute for given samples.

use std::path::Path;

use headlight_experiment::config::DumpFormat;
use headlight_inspector::counted;
use headlight_trainer::dumping::{Model, Origin, Samples, dump};
use headlight_trainer::opening::open_device;
use headlight_trainer::outputs::Output;
use headlight_trainer::run_dir::write_dump;
use headlight_trainer::standard::shown;
use headlight_trainer::{Failure, samples, weights};

use crate::cli::DumpArguments;

/// Writes the dump.
///
/// # Errors
/// When the config, the weights or the samples are invalid, or the dump cannot be written.
pub(crate) fn run(arguments: &DumpArguments) -> Result<(), Failure> {
    let config = arguments.config.load()?;
    let mut inputs = arguments.config.inputs(&config);
    inputs.extend([arguments.weights.as_path(), &arguments.tokens]);
    let out = Output::new(&arguments.out, &inputs, arguments.output.force)?;
    let format = format_of(out.named("-.json"))?;
    let (dataset, labelled) = samples::read(&arguments.tokens, &config)?;
    let device = arguments.device.as_ref();
    let device = open_device(device.unwrap_or(&config.compute.device))?;
    let parameters = weights::load(&config, &arguments.weights)?;
    let samples = Samples {
        indices: (0..dataset.len()).collect(),
        dataset: &dataset,
        from_training: false,
        labelled,
    };
    let model = Model {
        config: &config,
        parameters: &parameters,
    };
    let dump = dump(model, &samples, Origin::default(), &device)?;
    out.write(|file| write_dump(&dump, format, file))?;
    out.tell(&counted(dataset.len(), "sample"))
}

fn format_of(path: &Path) -> Result<DumpFormat, Failure> {
    let extension = path.extension().unwrap_or_default();
    DumpFormat::ALL
        .into_iter()
        .find(|format| extension == format.extension())
        .ok_or_else(|| {
            Failure::Input(format!(
                "{}: unknown file extension; use .npz, .json or .csv",
                shown(path)
            ))
        })
}
