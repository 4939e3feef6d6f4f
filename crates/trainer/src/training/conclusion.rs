//! The end of a run: its model is judged, and its last files are written.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use headlight_analysis::certificate::Certificate;
use headlight_analysis::measures::{certify_for_measures, compute_measures};
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::evaluate::assess;
use headlight_experiment::outcome::Outcome;
use headlight_experiment::train::Ending;
use headlight_experiment::{Engine, Error, TrainingState, test_metrics};

use crate::files::run_files::{CERTIFICATE, PAGE, REPORT, WEIGHTS};
use crate::run::RunState;
use crate::session::dumping::{DumpModel, dump, strongest_head};
use crate::show::finished_run::FinishedRun;
use crate::show::page;
use crate::show::report::reported_samples;
use crate::training::run_writer::{RunWriter, origin};
use crate::{Failure, note};

/// The inputs of each class in a run's certificate.
const EXAMPLES: usize = 10;

/// A count that takes longer is announced.
const SILENT: Duration = Duration::from_secs(3);

/// Writes the last files of a run that has ended or was interrupted. They show the best model, if the run keeps it.
pub(crate) fn conclude(
    writer: RunWriter<'_>,
    engine: &mut dyn Engine,
    ending: Ending,
    interrupted: &(dyn Fn() -> bool + Sync),
) -> Result<FinishedRun, Failure> {
    let (run, experiment) = (writer.run, &writer.session.experiment);
    run.write_losses()?;
    writer.write_best()?;
    run.write_weights(WEIGHTS, engine.parameters())?;
    if let Some(best) = writer.evaluations.best() {
        engine.restore(&TrainingState::of(best.parameters.clone()))?;
    }
    let mut finished = judged(writer, engine, ending, interrupted)?;
    // A run is complete without its page: `inspect --html` can write one elsewhere at any time.
    match page::write(run, experiment, finished.outcome.as_ref()) {
        Ok(page) => finished.page = page,
        Err(failure) => note(&format!("no {PAGE}: {failure}")),
    }
    let report = finished.report(experiment);
    run.write_manifest(Some(&report))?;
    run.write(REPORT, report.as_bytes())?;
    Ok(finished)
}

/// What came of a run, by the model that its engine holds; writes the run's certificate.
fn judged(
    writer: RunWriter<'_>,
    engine: &mut dyn Engine,
    ending: Ending,
    interrupted: &(dyn Fn() -> bool + Sync),
) -> Result<FinishedRun, Failure> {
    let (session, config) = (writer.session, &writer.config);
    let experiment = &session.experiment;
    let (splits, judged) = (&experiment.splits, experiment.splits.judging_samples());
    let (parameters, weights) = (engine.parameters(), engine.weights());
    let best_step = writer.evaluations.best_step();
    let step = best_step.unwrap_or(writer.progress.step);
    let model = DumpModel {
        config,
        parameters: &parameters,
    };
    let samples = session.dump_samples(reported_samples(splits.displayed_samples()));
    let state = match ending {
        Ending::Interrupted => RunState::Interrupted,
        Ending::Finished | Ending::Stopped => RunState::Complete,
    };
    // A run is complete without its certificate: `certify` counts at any time. A model that is half trained needs none.
    let counted = if state == RunState::Interrupted {
        Ok(None)
    } else {
        certificate(config, &weights, interrupted)
    };
    let is_uncounted = counted.is_err();
    let certificate = counted.unwrap_or_else(|error| {
        note(&format!("no {CERTIFICATE}: {error}"));
        None
    });
    if let Some(certificate) = &certificate {
        writer.run.write_json(CERTIFICATE, certificate)?;
    }
    Ok(FinishedRun {
        step,
        assessment: assess(engine, judged, config.data.n_classes).ok(),
        outcome: Outcome::of(config, splits, &writer.evaluations.rows, best_step),
        tests: test_metrics(experiment, engine, |_| true)?,
        measures: compute_measures(config, &weights, judged, certificate.as_ref())?,
        dump: dump(
            model,
            &samples,
            origin(step, experiment),
            &session.device,
            &[],
        )?,
        strongest: strongest_head(model, splits, &session.device)?,
        certificate,
        parameters,
        page: None,
        progress: writer.progress,
        state,
        is_uncounted,
        evaluations: writer.evaluations,
    })
}

/// How the model answers all possible inputs, if a measure asks for it.
fn certificate(
    config: &ExperimentConfig,
    weights: &[f32],
    interrupted: &(dyn Fn() -> bool + Sync),
) -> Result<Option<Certificate>, Error> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let (began, told) = (Instant::now(), AtomicBool::new(false));
    certify_for_measures(config, weights, EXAMPLES, threads, &|_| {
        if interrupted() {
            let message = "the count of all inputs was interrupted".to_owned();
            return Err(Error::Input(message));
        }
        if began.elapsed() > SILENT && !told.swap(true, Ordering::Relaxed) {
            note("training has ended; Headlight counts the answers to all inputs");
        }
        Ok(())
    })
}
