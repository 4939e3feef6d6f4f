//! The fused engine beside the Burn engine: gradients, every loss of whole trajectories, answers.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use std::fs;
use std::path::Path;

use common::{folder, run, text};
use headlight_data::Batches;
use headlight_model::Parameter;
use headlight_trainer::config::{self, TokenSecondMoment};
use headlight_trainer::engine::{Answers, BurnEngine, Engine, FusedEngine};
use headlight_trainer::experiment::Experiment;

fn experiment(sets: &[&str]) -> Experiment {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/notebook.toml");
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    Experiment::new(config::load(&path, &sets).unwrap()).unwrap()
}

fn furthest(ours: &[f64], theirs: &[f64]) -> f64 {
    assert_eq!(ours.len(), theirs.len());
    let pairs = ours.iter().zip(theirs);
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// The largest difference of a gradient, relative to the largest value of all gradients. The key
/// bias has no gradient but what rounding leaves of it.
fn gradients_apart(ours: &[Parameter], theirs: &[Parameter]) -> f64 {
    let largest = |parameters: &[Parameter]| {
        let values = parameters.iter().flat_map(|parameter| &parameter.values);
        values.fold(0.0_f64, |most, &value| most.max(f64::from(value).abs()))
    };
    let mut apart = 0.0_f64;
    for (ours, theirs) in ours.iter().zip(theirs) {
        assert_eq!((&ours.name, &ours.shape), (&theirs.name, &theirs.shape));
        for (a, b) in ours.values.iter().zip(&theirs.values) {
            apart = apart.max(f64::from((a - b).abs()));
        }
    }
    apart / largest(theirs)
}

fn answers(engine: &mut dyn Engine, experiment: &Experiment) -> Answers {
    let train = &experiment.splits.train;
    let mut all = Answers::default();
    let mut part = Answers::default();
    for samples in Batches::in_order(train, engine.at_once()).iter() {
        engine.ask(train, samples, &mut part);
        all.logits.extend(&part.logits);
        all.probabilities.extend(&part.probabilities);
        all.losses.extend(&part.losses);
        all.attention.extend(&part.attention);
    }
    all
}

/// Trains both and holds them to bounds: of gradients at the start, of losses, of final answers.
fn compare(sets: &[&str], steps: usize, bound: f64) {
    let experiment = experiment(sets);
    let train = &experiment.splits.train;
    let mut burn = BurnEngine::new(&experiment).unwrap();
    let mut fused = FusedEngine::new(&experiment).unwrap();
    let batches: Vec<Vec<u32>> = (1..=experiment.config.training.epochs)
        .flat_map(|epoch| {
            experiment
                .batches(epoch)
                .iter()
                .map(<[u32]>::to_vec)
                .collect::<Vec<_>>()
        })
        .take(steps)
        .collect();
    assert_eq!(batches.len(), steps);
    let (a, b) = (
        fused.gradient(train, &batches[0]),
        burn.gradient(train, &batches[0]),
    );
    let apart = gradients_apart(&a, &b);
    assert!(apart < 1e-6, "{sets:?}: gradients {apart:e}");
    for (step, batch) in batches.iter().enumerate() {
        let (ours, theirs) = (fused.step(train, batch), burn.step(train, batch));
        assert!(
            (ours - theirs).abs() < bound,
            "{sets:?}, step {step}: {ours} beside {theirs}"
        );
    }
    let (ours, theirs) = (
        answers(&mut fused, &experiment),
        answers(&mut burn, &experiment),
    );
    let apart = [
        furthest(&ours.attention, &theirs.attention),
        furthest(&ours.probabilities, &theirs.probabilities),
        furthest(&ours.losses, &theirs.losses),
        furthest(&ours.logits, &theirs.logits),
    ];
    println!(
        "{sets:?}: attention, probabilities, losses, logits {}",
        apart.map(|apart| format!("{apart:.1e}")).join(" ")
    );
    for (apart, bound) in apart.into_iter().zip([bound, bound, bound, 10.0 * bound]) {
        assert!(apart < bound, "{sets:?}: {apart:e}");
    }
}

#[test]
fn the_notebook_takes_the_same_course_for_1500_steps() {
    compare(&[], 1500, 1e-5);
}

/// Sizes that are common and sizes that are not, heads, batches with a remainder, other settings of
/// Adam.
#[test]
fn other_configs_take_the_same_course() {
    let few = "data.samples=1000";
    for sets in [
        &["model.d_model=4"][..],
        &["model.d_model=16", "training.batch_size=7"],
        &["model.d_model=32", "training.batch_size=50"],
        &["model.d_model=6", "training.batch_size=1"],
        &["model.d_model=12", "model.n_heads=3"],
        &[
            "model.d_model=8",
            "model.n_heads=4",
            "training.batch_size=33",
        ],
        &["model.d_model=40", "model.n_heads=5", "data.seq_len=3"],
        &[
            "data.seq_len=30",
            "data.vocab_size=200",
            "training.batch_size=17",
        ],
        &[
            "data.vocab_size=43",
            "training.token_second_moment=per-token",
        ],
        &[
            "training.beta_1=0.8",
            "training.beta_2=0.99",
            "training.epsilon=1e-3",
            "training.learning_rate=1e-2",
        ],
        &["model.layer_norm_eps=1e-3", "seed=99"],
        &[
            "model.attention.scale=false",
            "model.attention.temperature=0.5",
        ],
        &["model.attention.scale=0.2", "model.n_heads=2"],
    ] {
        compare(&[sets, &[few]].concat(), 20, 2e-5);
    }
}

#[test]
fn tokens_are_squared_as_the_config_says() {
    let of = |moment: &str| {
        let set = format!("training.token_second_moment={moment}");
        let experiment = experiment(&[&set]);
        let mut fused = FusedEngine::new(&experiment).unwrap();
        let batches = experiment.batches(1);
        for batch in batches.iter().take(20) {
            fused.step(&experiment.splits.train, batch);
        }
        (
            experiment.config.training.token_second_moment,
            fused.parameters(),
        )
    };
    let (per_token, a) = of("per-token");
    let (per_occurrence, b) = of("per-occurrence");
    assert_eq!(
        (per_token, per_occurrence),
        (
            TokenSecondMoment::PerToken,
            TokenSecondMoment::PerOccurrence
        )
    );
    assert_ne!(a, b);
}

/// The fused engine gives the same bytes on every machine, so those of the notebook's seed 0 can be
/// written down: they are what `headlight sweep` gave when the engine was new. Any change to initial
/// weights, batch order or arithmetic shows here.
#[test]
fn the_notebooks_weights_are_what_they_always_were() {
    let rows = folder("golden").join("rows.jsonl");
    let range = ["--seeds", "0..1", "--out", text(&rows)];
    run(&[&["sweep", "--engine", "fused"][..], &range].concat()).done();
    let row: serde_json::Value = serde_json::from_str(&fs::read_to_string(&rows).unwrap()).unwrap();
    assert_eq!(
        row["weights_sha256"],
        "d6b36476939e1fde5e4329391fd7c132165c76c99c79c039984da505e916fe1d"
    );
}

/// The same files from both, whose contents differ by rounding alone; `auto` takes the fused one.
#[test]
fn run_directories_are_alike() {
    let folder = folder("engines");
    let train = |engine: &str| {
        let path = folder.join(engine);
        run(&[
            "train",
            "configs/quick.toml",
            "--run",
            text(&path),
            "--engine",
            engine,
        ])
        .done();
        let read = |name: &str| fs::read_to_string(path.join(name)).unwrap();
        let mut files: Vec<String> = fs::read_dir(&path)
            .unwrap()
            .chain(fs::read_dir(path.join("attention")).unwrap())
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        files.sort();
        let environment: serde_json::Value =
            serde_json::from_str(&read("environment.json")).unwrap();
        (
            files,
            environment["engine"].clone(),
            fs::read(path.join("model.safetensors")).unwrap(),
            read("config.toml"),
        )
    };
    let [burn, fused, auto] = ["burn", "fused", "auto"].map(train);
    assert_eq!(burn.0, fused.0);
    assert_eq!(
        (&burn.1, &fused.1, &auto.1),
        (&"burn".into(), &"fused".into(), &"fused".into())
    );
    assert_eq!(fused.2, auto.2);
    assert_eq!(burn.2.len(), fused.2.len());
    assert!(
        auto.3.contains("engine = \"fused\""),
        "the resolved config names the engine: {}",
        auto.3
    );
}

#[test]
fn a_config_beyond_the_fused_engine_says_why() {
    let folder = folder("beyond");
    let path = folder.join("refused");
    let two_blocks = [
        "train",
        "configs/quick.toml",
        "--run",
        text(&path),
        "--set",
        "model.n_layers=2",
    ];
    let refused = run(&[&two_blocks[..], &["--engine", "fused"]].concat());
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.stderr.contains(
            "engine `fused` cannot run this config: it computes one block, and model.n_layers is 2"
        ),
        "{}",
        refused.stderr
    );
    assert!(!path.exists());
    let path = folder.join("auto");
    let short = ["--set", "data.samples=160", "--set", "training.epochs=1"];
    let taken = run(&[&two_blocks[..3], &[text(&path)], &two_blocks[4..], &short].concat()).done();
    assert!(
        taken
            .stderr
            .contains("engine burn: `fused` is no choice, it computes one block"),
        "{}",
        taken.stderr
    );
}
