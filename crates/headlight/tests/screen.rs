//! The first screen of `headlight train`: its size, its numbers, and that its verdict is the one of all other places.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::common::{SHORT, folder, json, refuses_typed, run_in, typed};
use serde_json::Value;

/// At most 24 lines of 80 columns, and no padding.
fn fits(screen: &str) {
    assert!(screen.lines().count() <= 24, "{screen}");
    let longest = screen.lines().map(|line| line.chars().count()).max();
    assert!(longest <= Some(80), "{screen}");
    assert!(!screen.contains("[PAD]"), "{screen}");
    assert!(!screen.contains('\u{1b}'), "{screen}");
}

/// The numbers of the line that begins with a name, below the line that begins with `title`.
fn row(screen: &str, title: &str, name: &str) -> Vec<f64> {
    // The line of the keys has no weights.
    let below = screen.lines().skip_while(|line| !line.starts_with(title));
    let below = below.skip(2);
    let mut rows = below.map(str::split_ascii_whitespace);
    let found = rows.find_map(|mut words| (words.next() == Some(name)).then_some(words));
    found.unwrap().map(|word| word.parse().unwrap()).collect()
}

#[test]
fn the_notebook_has_the_matrix_that_it_never_printed() {
    let folder = folder("screen_notebook");
    let screen = typed(&folder, "train --run run").done().stdout;
    let path = folder.join("run");
    fits(&screen);
    assert_eq!(screen.lines().next(), Some("Is token 42 at position 3?"));
    assert!(screen.contains("F1 1.000 on 2,000 samples"), "{screen}");
    // Uniform attention is 1/7; the title says over which samples.
    assert!(screen.contains("held-out samples"), "{screen}");
    assert!(screen.contains("0.14)"), "{screen}");
    for answer in ["yes", "no"] {
        let means = row(&screen, "Where", answer);
        assert_eq!(means.len(), 7);
        assert!((means.iter().sum::<f64>() - 1.0).abs() < 0.05, "{means:?}");
        let largest = means.iter().copied().fold(0.0, f64::max);
        assert!((means[3] - largest).abs() < 1e-9, "{means:?}");
    }
    for token in ["16", "5", "42", "43", "32", "2"] {
        let title = "Correct: training sample 10, label \"yes\"";
        assert_eq!(row(&screen, title, token).len(), 7, "{token}");
    }
    assert!(screen.contains("without\nposition 3"), "{screen}");
    assert!(screen.contains("run/report.md"), "{screen}");
    // The page has the sentence of the report, and no rule of its own.
    let report = fs::read_to_string(path.join("report.md")).unwrap();
    let verdict = report
        .lines()
        .find(|line| line.starts_with("Learned"))
        .unwrap();
    let page = fs::read_to_string(path.join("inspector.html")).unwrap();
    assert!(page.contains(&verdict.replace('"', "\\\"")), "{verdict}");
}

#[test]
fn the_report_follows_with_verbose() {
    let folder = folder("screen_verbose");
    let train = ["train", "quick", "--verbose", "--run", "loud"];
    let printed = run_in(&folder, &[&train[..], &SHORT].concat()).done();
    let report = fs::read_to_string(folder.join("loud/report.md")).unwrap();
    assert!(printed.stdout.ends_with(&report), "{}", printed.stdout);
    assert!(printed.stderr.contains("held-out"), "{}", printed.stderr);
    // Without it there are no rows, and no bar without a terminal.
    let train = ["train", "quick", "--run", "run"];
    let printed = run_in(&folder, &[&train[..], &SHORT].concat()).done();
    fits(&printed.stdout);
    assert!(printed.stderr.lines().count() <= 1, "{}", printed.stderr);
}

#[test]
fn every_kind_of_run_fits() {
    let folder = folder("screen_kinds");
    let settings: [&[&str]; 7] = [
        &["token_anywhere", "data.samples=300"],
        &["count", "data.samples=300"],
        &["negation", "data.samples=300", "data.held_out=60"],
        &["quick", "model.n_heads=2", "model.n_layers=2"],
        &["quick", "data.held_out=0"],
        &["quick", "data.seq_len=8"],
        &["quick", "data.seq_len=40"],
    ];
    for (index, settings) in settings.iter().enumerate() {
        let name = format!("run{index}");
        let mut arguments = vec!["train", settings[0], "--set", "training.epochs=1"];
        for setting in &settings[1..] {
            arguments.extend(["--set", *setting]);
        }
        arguments.extend(["--run", &name]);
        fits(&run_in(&folder, &arguments).done().stdout);
    }
}

/// Texts of three classes: a word decides, but one label in six is drawn at random.
fn texts(folder: &Path) {
    let words = [["bad", "awful"], ["good", "great"], ["so-so", "okay"]];
    let names = ["bad", "good", "mixed"];
    let mut data = "text,label\n".to_owned();
    let mut state = 1_u32;
    let mut draw = |count: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) as usize % count as usize
    };
    for _ in 0..400 {
        let class = draw(3);
        let label = if draw(6) == 0 { draw(3) } else { class };
        let filler = ["the film", "this plot", "a story"][draw(3)];
        let (word, very) = (words[class][draw(2)], "very ".repeat(draw(5)));
        let name = names[label];
        let _ = writeln!(data, "{filler} was {word} {very},{name}");
    }
    fs::write(folder.join("mine.csv"), data).unwrap();
    let config = "[data]\nfile = \"mine.csv\"\nseq_len = 8\nheld_out = 100\n[data.words]\n[model]\nd_model = 8\nn_heads = 2\n\
                  attention = { padding_token = 1 }\n[training]\nepochs = 20\nlearning_rate = 1e-2\n";
    fs::write(folder.join("mine.toml"), config).unwrap();
}

/// Noise in the labels hides behind no "not learned": the model stands beside what it has to beat.
#[test]
fn texts_show_the_words_that_decided() {
    let folder = folder("screen_texts");
    texts(&folder);
    let screen = typed(&folder, "train mine.toml --run run").done().stdout;
    fits(&screen);
    for part in [
        "bad",
        "good",
        "mixed",
        "100 held out",
        "Correct",
        "Wrong",
        "headlight predict",
        "report.md",
    ] {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    // Each text is of those that were held out, of which the file's lines say nothing, and its head is that of `--explain`.
    let line = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown: Vec<&str> = line.split(" of 0 to 99 (").skip(1).collect();
    assert_eq!(shown.len(), 2, "{screen}");
    for text in shown {
        let (words, rest) = text.split_once("): ").unwrap();
        let told = run_in(
            &folder,
            &["predict", "run", "--explain", "--json", "--text", words],
        )
        .done();
        let own = &json(&told.stdout)["explanation"];
        let head = format!("(layer {}, head {})", own["layer"], own["head"]);
        assert!(
            rest.split_once(") ")
                .unwrap()
                .0
                .ends_with(head.trim_end_matches(')')),
            "{head}: {screen}"
        );
    }
    let again = typed(&folder, "train mine.toml --run again --json").done();
    let judgement = &json(&again.stdout)["judgement"];
    let guesses: Vec<&Value> = judgement["baselines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["guess"])
        .collect();
    assert_eq!(guesses, ["majority", "word_counts"]);
    let accuracy = judgement["accuracy"].as_f64().unwrap();
    let low = judgement["accuracy_interval"][0].as_f64().unwrap();
    assert!(low < accuracy && accuracy < 0.95, "{judgement}");
    assert!(
        screen.contains(&format!("accuracy {accuracy:.3}")),
        "{screen}"
    );
}

/// Short samples have no late positions: means by position are over the samples that have them, in multiples of uniform
/// attention, and uniform attention is 1 everywhere.
#[test]
fn samples_of_different_lengths_show_no_preference_for_the_start() {
    let folder = folder("screen_lengths");
    let row = |index: usize| format!("{} {}\n", index % 2, "5 ".repeat(1 + index / 2 % 6).trim());
    let rows = (0..240).map(row).map(|row| {
        let (label, tokens) = row.trim().split_once(' ').unwrap();
        format!(
            "{{\"label\": {label}, \"tokens\": [{}]}}\n",
            tokens.replace(' ', ", ")
        )
    });
    fs::write(folder.join("x.jsonl"), rows.collect::<String>()).unwrap();
    let still = ["--set", "training.learning_rate=1e-9", "--run", "run"];
    let screen = run_in(&folder, &[&["train", "x.jsonl"][..], &still].concat()).done();
    fits(&screen.stdout);
    for class in ["class 0", "class 1"] {
        let means = row_of_means(&screen.stdout, class);
        assert_eq!(means.len(), 7);
        assert!(
            means.iter().all(|mean| (mean - 1.0).abs() < 0.05),
            "{means:?}"
        );
    }
    let sweep = ["sweep", "x.jsonl", "--seeds", "0..1", "--out", "s.jsonl"];
    let report = run_in(&folder, &sweep).done().stdout;
    assert!(report.contains("short samples lack them"), "{report}");
}

fn row_of_means(screen: &str, class: &str) -> Vec<f64> {
    let below = screen.lines().skip_while(|line| !line.starts_with("Where"));
    let mut rows = below.map(str::trim_start).skip(1);
    let keys = rows.find(|line| line.starts_with("[CLS]"));
    assert!(keys.is_some(), "{screen}");
    let row = rows.find_map(|line| line.strip_prefix(class)).unwrap();
    let words = row.split_ascii_whitespace();
    words.map(|word| word.parse().unwrap()).collect()
}

/// What the screen recommends runs as it stands, with the options of the training.
#[test]
fn recommended_commands_run() {
    let folder = folder("screen_commands");
    let rows = (0..60).map(|row| {
        let word = ["good", "bad"][row % 2];
        format!("it was {word};{word};{}\n", ["a", "b", "c"][row % 3])
    });
    let rows = "text;kind;other\n".to_owned() + &rows.collect::<String>();
    fs::write(folder.join("few.csv"), &rows).unwrap();
    fs::write(folder.join("more.csv"), rows + "never seen;good;a\n").unwrap();
    let train = "train few.csv --label kind --set training.epochs=2 --run run";
    let train: Vec<&str> = train.split(' ').collect();
    let screen = run_in(&folder, &train).done().stdout;
    fits(&screen);
    let test_all = |screen: &str| {
        let (_, command) = screen.split_once("\nTest all ").unwrap();
        // A shell joins lines that end with a backslash.
        let command = command.replace("\\\n", " ");
        let command = command.trim_start().strip_prefix("headlight ").unwrap();
        typed(&folder, command.trim_end()).done();
    };
    test_all(&screen);
    let rows = fs::read_to_string(folder.join("run-folds.jsonl")).unwrap();
    assert_eq!(rows.lines().count(), 5);
    let config = fs::read_to_string(folder.join("run-folds.config.toml")).unwrap();
    assert!(config.contains("epochs = 2"), "{config}");
    let svg = fs::read_to_string(folder.join("run-folds.svg")).unwrap();
    assert!(svg.contains("2 classes from a file"));
    refuses_typed(&folder, "evaluate few.csv", &["few.csv", "run directory"]);

    // A file and a run whose names begin like flags, and options that take several lines.
    fs::copy(folder.join("few.csv"), folder.join("-d.csv")).unwrap();
    let sets = [
        "training.epochs=2",
        "training.learning_rate=0.01",
        "model.d_model=4",
        "model.n_heads=1",
        "data.words.min_count=2",
    ];
    let sets = sets.map(|set| format!(" --set {set}")).concat();
    let train = format!("train ./-d.csv --label kind --run=-r{sets}");
    let screen = typed(&folder, &train).done().stdout;
    assert!(
        screen.lines().all(|line| line.chars().count() <= 80),
        "{screen}"
    );
    test_all(&screen);
    assert!(folder.join("-r-folds.jsonl").exists());

    // A copy has the split of the run, which folds would contradict.
    typed(&folder, "data run/config.toml --out copy.csv").done();
    let copy = ["train", "copy.csv", "--label", "kind", "--run", "copy"];
    let screen = run_in(&folder, &copy).done().stdout;
    assert!(!screen.contains("--folds"), "{screen}");

    // The held-out rows of its own file have texts of training rows; one text more is new.
    for (file, samples) in [("few.csv", "60 samples"), ("more.csv", "61 samples")] {
        let judged = typed(&folder, &format!("evaluate run {file}"))
            .done()
            .stdout;
        assert!(
            judged.contains(samples) && judged.contains("60 of these"),
            "{judged}"
        );
    }
    // The model never saw an unknown word.
    let told = typed(&folder, "predict run --text zebra").done();
    assert!(told.stderr.contains("[UNK]"), "{}", told.stderr);
    let told = typed(&folder, "predict run --text good").done();
    assert!(!told.stderr.contains("[UNK]"), "{}", told.stderr);
}

/// A `[CLS]` that may look at nothing is named before training and after it.
#[test]
fn a_blind_cls_is_named() {
    let folder = folder("screen_blind");
    let causal = ["--set", "model.attention.mask=causal"];
    let train = ["train", "quick", "--run"];
    let told = run_in(&folder, &[&train[..], &["a"], &SHORT, &causal].concat()).done();
    for text in [&told.stdout, &told.stderr] {
        assert!(text.contains("look at no token but itself"), "{text}");
    }
    let last = ["--set", "data.cls=last"];
    let told = run_in(
        &folder,
        &[&train[..], &["b"], &SHORT, &causal, &last].concat(),
    )
    .done();
    for text in [&told.stdout, &told.stderr] {
        assert!(!text.contains("but itself"), "{text}");
    }
    // With a label per position, one that sees no other is one of many; the last one, which sees them, is shown.
    let tags = "{\"tokens\":[4,1,2],\"labels\":[0,1,0]}\n{\"tokens\":[3,4,1],\"labels\":[1,0,1]}\n";
    fs::write(folder.join("tags.jsonl"), tags).unwrap();
    for (mask, is_blind) in [("\"causal\"", false), ("[[1,0,0],[0,1,0],[0,0,1]]", true)] {
        let set = format!("model.attention.mask={mask}");
        let sets = [
            "data.file=tags.jsonl",
            "data.task=token-classification",
            "data.cls=none",
            "training.epochs=1",
            "training.batch_size=2",
            &set,
        ];
        let sets = sets.into_iter().flat_map(|set| ["--set", set]);
        let run = if is_blind { "none" } else { "some" };
        let train = ["train", "tags.toml", "--run", run];
        fs::write(folder.join("tags.toml"), "model.d_model = 4\n").unwrap();
        let told = run_in(&folder, &train.into_iter().chain(sets).collect::<Vec<_>>()).done();
        for text in [&told.stdout, &told.stderr] {
            assert_eq!(
                text.contains("look at no token but itself"),
                is_blind,
                "{text}"
            );
        }
        assert!(
            told.stdout.contains("position 2, one of them"),
            "{}",
            told.stdout
        );
    }
    // Pictures hatch the keys that a query may not look at.
    let hatched = |more: &[&str]| {
        let inspect = ["inspect", "b", "--force", "--svg", "b.svg"];
        run_in(&folder, &[&inspect[..], more].concat()).done();
        let svg = fs::read_to_string(folder.join("b.svg")).unwrap();
        svg.matches(": masked</title>").count()
    };
    assert_eq!(hatched(&[]), 21);
    assert_eq!(hatched(&["--layer", "all", "--head", "all"]), 21);
}

/// A sweep and a training of the same seed agree, also where another F1 counts as learned.
#[test]
fn a_sweep_and_a_training_agree() {
    let folder = folder("screen_sweep");
    for (index, set) in [
        "report.learned=0.99",
        "report.learned=0.2",
        "training.learning_rate=1e-9",
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("run{index}");
        let rows = format!("rows{index}.jsonl");
        let settings = ["--set", set, "--set", "training.epochs=1"];
        let train = [&["train", "quick", "--json", "--run", &name][..], &settings].concat();
        let trained = json(&run_in(&folder, &train).done().stdout);
        let sweep = [
            &["sweep", "quick", "--seeds", "0..1", "--out", &rows][..],
            &settings,
        ]
        .concat();
        run_in(&folder, &sweep).done();
        let from = trained["judgement"]["learned_from"].to_string();
        let report = run_in(&folder, &["report", &rows, "--json", "--learned", &from]).done();
        let learned = json(&report.stdout)["learned"] == 1;
        assert_eq!(trained["learned"], learned, "{set}");
    }
}

/// Of many classes the screen says how many it shows.
#[test]
fn classes_without_room_are_counted() {
    let folder = folder("screen_classes");
    // Names that look alike where they are cut stay whole.
    let row = |index: usize| {
        format!(
            "{{\"label\": \"day of the week {}\", \"tokens\": [{}, 9]}}\n",
            index % 7,
            index % 7 + 1
        )
    };
    fs::write(
        folder.join("x.jsonl"),
        (0..140).map(row).collect::<String>(),
    )
    .unwrap();
    let screen = typed(&folder, "train x.jsonl --run run").done().stdout;
    fits(&screen);
    assert!(screen.contains("1 more class; "), "{screen}");
    let names = (0..6).map(|day| format!("day of the week {day}"));
    let counts = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    for name in names {
        assert!(counts.contains(&name), "{name}: {screen}");
    }
    let below = screen.lines().skip_while(|line| !line.starts_with("Where"));
    let shown = below
        .take_while(|line| !line.is_empty())
        .filter(|line| line.starts_with("  day "));
    let shown = shown.count();
    assert!((1..7).contains(&shown), "{screen}");
    assert!(
        screen
            .replace('\n', " ")
            .contains(&format!("{shown} of 7 classes")),
        "{screen}"
    );
}

/// Weights that are no softmax are compared with no uniform attention, wherever they are shown.
#[test]
fn without_a_softmax_nothing_is_uniform() {
    let folder = folder("screen_scores");
    let set = "--set data.samples=300 --set training.epochs=1 --set model.n_heads=2 --set model.attention.softmax=false";
    let screen = typed(&folder, &format!("train quick {set} --run run"))
        .done()
        .stdout;
    let shown = typed(&folder, "inspect run --query 0").done().stdout;
    let drawn = typed(&folder, "inspect run").done().stdout;
    let explained = typed(&folder, "predict run --tokens '0 1 2 42 4 5 6' --explain")
        .done()
        .stdout;
    let report = fs::read_to_string(folder.join("run/report.md")).unwrap();
    for text in [screen, shown, drawn, explained, report] {
        assert!(!text.to_lowercase().contains("uniform"), "{text}");
    }
    refuses_typed(
        &folder,
        "inspect run --range uniform",
        &["--range", "softmax"],
    );
}

/// Noise in the label of a training sample does not make a right answer wrong.
#[test]
fn a_label_that_is_noise_is_named() {
    let folder = folder("screen_noise");
    fs::write(
        folder.join("noisy.toml"),
        "data = { generator = \"chacha\", samples = 400, held_out = 100, vocab_size = 12, seq_len = 4, label_noise = 0.3, \
         rule = { kind = \"token-at-position\", token = 4, position = 2 }, balanced = true }\n\
         model = { d_model = 8 }\ntraining = { epochs = 20, batch_size = 16, learning_rate = 0.01 }\n",
    )
    .unwrap();
    // Another seed has another first sample of label 1: of some it is noise.
    let screens = (0..8).map(|seed| {
        let line = format!("train noisy.toml --set data.seed={seed} --run {seed}");
        typed(&folder, &line).done().stdout.replace('\n', " ")
    });
    let noisy: Vec<String> = screens
        .filter(|screen| screen.contains("(noise; the rule says"))
        .collect();
    assert!(!noisy.is_empty());
    for screen in noisy {
        let (_, after) = screen.split_once("(noise; the rule says ").unwrap();
        let (_, probability) = after.split_once("probability ").unwrap();
        let says_yes = probability[..5].parse::<f64>().unwrap() > 0.5;
        let is_right = says_yes == after.starts_with("\"yes\"");
        assert_eq!(screen.contains("Correct: training"), is_right, "{screen}");
    }
}

/// Of many classes, those are shown that have most samples.
#[test]
fn the_largest_of_many_classes_are_shown() {
    let folder = folder("screen_largest");
    fs::write(
        folder.join("max.toml"),
        "data = { generator = \"chacha\", samples = \"fresh\", held_out = 100, vocab_size = 12, seq_len = 6, \
         rule = { kind = \"max\" }, cls = \"none\" }\nmodel = { d_model = 8 }\ntraining = { steps = 20, batch_size = 32 }\n",
    )
    .unwrap();
    let screen = typed(&folder, "train max.toml --run run").done().stdout;
    fits(&screen);
    assert!(screen.contains("largest classes"), "{screen}");
    assert!(
        screen.contains("  class 10 ") && !screen.contains("  class 0 "),
        "{screen}"
    );
}
