//! Training that starts from given parameters.

use headlight_architecture::Parameter;
use headlight_data::{DatasetConfig, Words};
use headlight_experiment::config::ExperimentConfig;

use crate::files::config::with_absolute_paths;
use crate::files::run_files::CONFIG;
use crate::files::weights;
use crate::messages::notes::note_once;
use crate::{Failure, RunDir, shell_path, shown};

/// The parameters that `training.start` names; `None` if the seed draws them.
pub(super) fn start_parameters(
    config: &ExperimentConfig,
) -> Result<Option<Vec<Parameter>>, Failure> {
    let Some(path) = &config.training.start else {
        return Ok(None);
    };
    // A file may belong to a run, too.
    let (run, file) = if path.is_dir() {
        let run = RunDir::open(path)?;
        let (file, _) = run.chosen_model(&run.config()?, None)?;
        (Some(run), file)
    } else {
        let mut folders = path.ancestors().skip(1).take(2);
        let run = folders.find_map(|folder| RunDir::open(folder).ok());
        (run, path.clone())
    };
    let parameters = weights::load(config, &file)?;
    let tokens = |words: &Words| (words.level, words.lowercase, words.vocabulary.clone());
    let now = config.data.words.as_ref().map(tokens);
    let before = run.and_then(|run| Some((run.config().ok()?, run)));
    let Some((before, run)) = before else {
        return Ok(Some(parameters));
    };
    if before.data.words.as_ref().map(tokens) != now {
        let reason = format!(
            "its token ids stand for other words than this config's; train with the config of its run: headlight train {} --set data.file=FILE --set training.start={}",
            shell_path(&run.file(CONFIG)),
            shell_path(path)
        );
        return Err(Failure::reading(path, reason));
    }
    let samples = |data: DatasetConfig| (data.source, data.seed, data.held_out, data.fold);
    let data = with_absolute_paths(config.clone())?.data;
    let holds_out = data.held_out > 0 || data.fold.is_some();
    if holds_out && samples(before.data) != samples(data) {
        let what = "the run was trained on other samples than this one is, so held-out samples may be among those";
        note_once("start", &format!("{}: {what}", shown(path)));
    }
    Ok(Some(parameters))
}
