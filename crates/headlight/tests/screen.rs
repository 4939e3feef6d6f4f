//! The first screen of `headlight train`: its size, its numbers, and that its verdict is the one of all other places.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::common::{QUICK, asked, folder, printed, refuses_typed, set, typed};

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
    let screen = printed(&folder, "train --run run");
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
    let verdict = report.lines().find(|line| line.starts_with("Learned"));
    let verdict = verdict.unwrap();
    let page = fs::read_to_string(path.join("inspector.html")).unwrap();
    assert!(page.contains(&verdict.replace('"', "\\\"")), "{verdict}");
}

#[test]
fn the_report_follows_with_verbose() {
    let folder = folder("screen_verbose");
    let printed = typed(&folder, &format!("train {QUICK} --verbose --run loud")).done();
    let report = fs::read_to_string(folder.join("loud/report.md")).unwrap();
    assert!(printed.stdout.ends_with(&report), "{}", printed.stdout);
    assert!(printed.stderr.contains("held-out"), "{}", printed.stderr);
    // Without it there are no rows, and no bar without a terminal.
    let printed = typed(&folder, &format!("train {QUICK} --run run")).done();
    fits(&printed.stdout);
    assert!(printed.stderr.lines().count() <= 1, "{}", printed.stderr);
}

#[test]
fn every_kind_of_run_fits() {
    let folder = folder("screen_kinds");
    for (index, (config, sets)) in [
        ("token_anywhere", "data.samples=300"),
        ("count", "data.samples=300"),
        ("negation", "data.samples=300 data.held_out=60"),
        ("quick", "model.n_heads=2 model.n_layers=2"),
        ("quick", "data.held_out=0"),
        ("quick", "data.seq_len=8"),
        ("quick", "data.seq_len=40"),
    ]
    .into_iter()
    .enumerate()
    {
        let sets = set(&format!("training.epochs=1 {sets}"));
        fits(&printed(
            &folder,
            &format!("train {config} --run run{index} {sets}"),
        ));
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
    let screen = printed(&folder, "train mine.toml --run run");
    fits(&screen);
    let parts = "bad,good,mixed,100 held out,Correct,Wrong,headlight predict,report.md";
    for part in parts.split(',') {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    // Each text is of those that were held out, of which the file's lines say nothing, and its head is that of `--explain`.
    let line = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown: Vec<&str> = line.split(" of 0 to 99 (").skip(1).collect();
    assert_eq!(shown.len(), 2, "{screen}");
    for text in shown {
        let (words, rest) = text.split_once("): ").unwrap();
        let told = asked(&folder, &format!("predict run --explain --text '{words}'"));
        let own = &told["explanation"];
        let head = format!("(layer {}, head {}", own["layer"], own["head"]);
        let (before, _) = rest.split_once(") ").unwrap();
        assert!(before.ends_with(&head), "{head}: {screen}");
    }
    let judgement = &asked(&folder, "train mine.toml --run again")["judgement"];
    let guesses = [0, 1].map(|index| &judgement["baselines"][index]["guess"]);
    assert_eq!(guesses, ["majority", "word_counts"]);
    let accuracy = judgement["accuracy"].as_f64().unwrap();
    let low = judgement["accuracy_interval"][0].as_f64().unwrap();
    assert!(low < accuracy && accuracy < 0.95, "{judgement}");
    let shown = format!("accuracy {accuracy:.3}");
    assert!(screen.contains(&shown), "{screen}");
}

/// Short samples have no late positions: means by position are over the samples that have them, in multiples of uniform
/// attention, and uniform attention is 1 everywhere.
#[test]
fn samples_of_different_lengths_show_no_preference_for_the_start() {
    let folder = folder("screen_lengths");
    let row = |index: usize| {
        let tokens = vec![5; 1 + index / 2 % 6];
        format!("{{\"label\": {}, \"tokens\": {tokens:?}}}\n", index % 2)
    };
    let rows: String = (0..240).map(row).collect();
    fs::write(folder.join("x.jsonl"), rows).unwrap();
    let still = "train x.jsonl --set training.learning_rate=1e-9 --run run";
    let screen = printed(&folder, still);
    fits(&screen);
    for class in ["class 0", "class 1"] {
        let means = row_of_means(&screen, class);
        assert_eq!(means.len(), 7);
        let is_uniform = means.iter().all(|mean| (mean - 1.0).abs() < 0.05);
        assert!(is_uniform, "{means:?}");
    }
    let report = printed(&folder, "sweep x.jsonl --seeds 0..1 --out s.jsonl");
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
    let screen = printed(&folder, train);
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
    let sets = set(
        "training.epochs=2 training.learning_rate=0.01 model.d_model=4 model.n_heads=1 \
                    data.words.min_count=2",
    );
    let screen = printed(
        &folder,
        &format!("train ./-d.csv --label kind --run=-r{sets}"),
    );
    let widest = screen.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(80), "{screen}");
    test_all(&screen);
    assert!(folder.join("-r-folds.jsonl").exists());

    // A copy has the split of the run, which folds would contradict.
    typed(&folder, "data run/config.toml --out copy.csv").done();
    let screen = printed(&folder, "train copy.csv --label kind --run copy");
    assert!(!screen.contains("--folds"), "{screen}");

    // The held-out rows of its own file have texts of training rows; one text more is new.
    for (file, samples) in [("few.csv", "60 samples"), ("more.csv", "61 samples")] {
        let judged = printed(&folder, &format!("evaluate run {file}"));
        for part in [samples, "60 of these"] {
            assert!(judged.contains(part), "{judged}");
        }
    }
    // The model never saw an unknown word.
    for (word, is_unknown) in [("zebra", true), ("good", false)] {
        let told = typed(&folder, &format!("predict run --text {word}")).done();
        assert_eq!(told.stderr.contains("[UNK]"), is_unknown, "{}", told.stderr);
    }
}

/// A `[CLS]` that may look at nothing is named before training and after it.
#[test]
fn a_blind_cls_is_named() {
    let folder = folder("screen_blind");
    for (run, cls, is_blind) in [("a", "first", true), ("b", "last", false)] {
        let sets = set(&format!("model.attention.mask=causal data.cls={cls}"));
        let told = typed(&folder, &format!("train {QUICK} --run {run} {sets}")).done();
        for text in [told.stdout, told.stderr] {
            let says = text.contains("look at no token but itself");
            assert_eq!(says, is_blind, "{text}");
        }
    }
    // The rule counts a token that no query sees.
    let padding = format!("train {QUICK} --run c --set model.attention.padding_token=3");
    let told = typed(&folder, &padding).done();
    let key = "model.attention.padding_token";
    assert!(told.stderr.contains(key), "{}", told.stderr);
    // With a label per position, one that sees no other is one of many; the last one, which sees them, is shown.
    let tags = "{\"tokens\":[4,1,2],\"labels\":[0,1,0]}\n{\"tokens\":[3,4,1],\"labels\":[1,0,1]}\n";
    fs::write(folder.join("tags.jsonl"), tags).unwrap();
    for (mask, is_blind) in [("\"causal\"", false), ("[[1,0,0],[0,1,0],[0,0,1]]", true)] {
        let config = format!(
            "data = {{ file = \"tags.jsonl\", task = \"token-classification\", cls = \"none\" }}\n\
             model = {{ d_model = 4, attention = {{ mask = {mask} }} }}\n\
             training = {{ epochs = 1, batch_size = 2 }}\n"
        );
        fs::write(folder.join("tags.toml"), config).unwrap();
        let told = typed(&folder, &format!("train tags.toml --run tags-{is_blind}")).done();
        assert!(
            told.stdout.contains("position 2, one of them"),
            "{}",
            told.stdout
        );
        for text in [told.stdout, told.stderr] {
            let says = text.contains("look at no token but itself");
            assert_eq!(says, is_blind, "{text}");
        }
    }
    // Pictures hatch the keys that a query may not look at.
    for more in ["", "--layer all --head all"] {
        let svg = printed(&folder, &format!("inspect b --svg - {more}"));
        assert_eq!(svg.matches(": masked</title>").count(), 21);
    }
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
        let sets = format!("--set {set} --set training.epochs=1");
        let trained = asked(&folder, &format!("train quick --run run{index} {sets}"));
        let sweep = format!("sweep quick --seeds 0..1 --out {index}.jsonl {sets}");
        typed(&folder, &sweep).done();
        let from = &trained["judgement"]["learned_from"];
        let report = asked(&folder, &format!("report {index}.jsonl --learned {from}"));
        assert_eq!(trained["learned"], report["learned"] == 1, "{set}");
    }
}

/// Of many classes the screen says how many it shows.
#[test]
fn classes_without_room_are_counted() {
    let folder = folder("screen_classes");
    // Names that look alike where they are cut stay whole.
    let row = |index: usize| {
        let (day, token) = (index % 7, index % 7 + 1);
        format!("{{\"label\": \"day of the week {day}\", \"tokens\": [{token}, 9]}}\n")
    };
    let rows: String = (0..140).map(row).collect();
    fs::write(folder.join("x.jsonl"), rows).unwrap();
    let screen = printed(&folder, "train x.jsonl --run run");
    fits(&screen);
    assert!(screen.contains("1 more class; "), "{screen}");
    let names = (0..6).map(|day| format!("day of the week {day}"));
    let counts = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    for name in names {
        assert!(counts.contains(&name), "{name}: {screen}");
    }
    let below = screen.lines().skip_while(|line| !line.starts_with("Where"));
    let table = below.take_while(|line| !line.is_empty());
    let shown = table.filter(|line| line.starts_with("  day ")).count();
    assert!((1..7).contains(&shown), "{screen}");
    let told = format!("{shown} of 7 classes");
    assert!(counts.contains(&told), "{screen}");
}

/// Weights that are no softmax are compared with no uniform attention, wherever they are shown.
#[test]
fn without_a_softmax_nothing_is_uniform() {
    let folder = folder("screen_scores");
    let set = "--set data.samples=300 --set training.epochs=1 --set model.n_heads=2 --set model.attention.softmax=false";
    let shown = [
        &format!("train quick {set} --run run"),
        "inspect run --query 0",
        "inspect run",
        "predict run --tokens '0 1 2 42 4 5 6' --explain",
    ]
    .map(|line| printed(&folder, line));
    let report = fs::read_to_string(folder.join("run/report.md")).unwrap();
    for text in shown.into_iter().chain([report]) {
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
        printed(&folder, &line).replace('\n', " ")
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
    let screen = printed(&folder, "train max.toml --run run");
    fits(&screen);
    assert!(screen.contains("largest classes"), "{screen}");
    assert!(screen.contains("  class 10 "), "{screen}");
    assert!(!screen.contains("  class 0 "), "{screen}");
}
