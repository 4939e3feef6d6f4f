//! Changes of a config, and the messages that point at a mistake in the config or in a change.

use crate::common::{CONFIG, parse};
use headlight_experiment::config::{ExperimentConfig, toml};
use headlight_schema::{ConfigSection, InvalidValue};

#[test]
fn changes_come_from_the_command_line() {
    let config = parse(&[
        "training.epochs = 5",
        "dump.every_steps=7",
        "compute.device=wgpu",
        "data.rule={ kind = \"token-anywhere\", token = 1 }",
        "model.attention.temperature=2",
        "training.epochs=6",
    ])
    .unwrap();
    assert_eq!(
        (config.training.epochs, config.dump.every_steps),
        (Some(6), 7)
    );
    assert_eq!(config.compute.device, "wgpu");
    let mut plain = parse(&[]).unwrap();
    assert_eq!(config.data.rule.as_ref().unwrap().fixed_positions(), None);
    plain.data.rule.clone_from(&config.data.rule);
    assert_eq!(plain.data, config.data);
}

/// The message that refuses a text with a change.
fn refused(text: &str, change: Option<&str>) -> String {
    let changes = change.into_iter().map(|change| ("--set", change));
    toml::parse("c.toml", text, changes, |_| Ok(()), |_| Ok(())).unwrap_err()
}

#[test]
fn a_mistake_in_the_file_is_shown_with_its_line() {
    for (from, to, place, part) in [
        ("epochs = 2", "epoch = 2", "c.toml:14:1: ", "`epoch`"),
        ("seed = 3", "sede = 3", "c.toml:1:1: ", "`sede`"),
        (
            "seed = 3",
            "seed = 3\nextra = 1",
            "c.toml:2:1: ",
            "at the top",
        ),
        (
            "epochs = 2",
            "epochs = \"2\"",
            "c.toml:14:1: ",
            "`training.epochs`",
        ),
        (
            "d_model = 4",
            "d_model = 0",
            "c.toml:11:1: ",
            "d_model is 0",
        ),
        ("d_model = 4", "d_model = ", "c.toml:11:", "d_model ="),
        ("position = 2", "position = 9", "c.toml:8:", "position"),
        ("epochs = 2\n", "", "c.toml:13:2: ", "epochs"),
        (
            "seed = 3",
            "seed = 3\ncheckpoint = [1]",
            "c.toml:2:1: ",
            "`checkpoint` is a list",
        ),
        (
            "batch_size = 4",
            "patience = 4",
            "c.toml:15:1: ",
            "keep_best",
        ),
        (
            "epochs = 2",
            "epochs = 2\nkeep_best = \"x\"",
            "c.toml:15:1: ",
            "`x`",
        ),
    ] {
        let message = refused(&CONFIG.replace(from, to), None);
        assert!(message.starts_with(place), "{message}");
        assert!(message.contains(part), "{message}");
    }
    let message = refused(&CONFIG.replace("epochs = 2", "epoch = 2"), None);
    assert!(
        message.contains("in [training]") && message.contains("`epochs`"),
        "{message}"
    );
    assert!(message.contains("epoch = 2"), "{message}");
    let message = refused("", None);
    assert!(message.starts_with("c.toml: "), "{message}");
}

#[test]
fn a_mistake_in_a_change_is_shown_with_the_change() {
    for (change, part) in [
        ("training.epochs=0", "epochs is 0"),
        ("training.epoch=1", "unknown key `epoch` in [training]"),
        ("training.epochs=two", "`training.epochs`"),
        ("sede=1", "unknown key `sede` at the top"),
        ("training.dropout=0.1", "set one of its keys"),
        ("model.dropout=0.1", "set training.dropout.preset"),
        ("training.dropout.hidden=1", "at least 0 and below 1"),
        ("training.dropout.residual=nan", "0.1 leaves out a tenth"),
        ("training.dropout.attention=-0.1", "attention is -0.1"),
        ("training.dropout.rate=0.1", "set preset"),
        ("training.dropout.hidden=0.1", "set model.d_ff"),
        ("n_classes=3", "`data.n_classes`"),
        ("file=x.csv", "`data.file`"),
        ("training.positive_rate=0.1", "`data.positive_rate`"),
        ("data.padding_token=1", "`model.attention.padding_token`"),
        ("data.position=1", "`data.rule.position`"),
        ("model.d_model.x=1", "`d_model` is a value"),
        ("dump.formats=[]", "npz, json and csv"),
        ("dump.formats=[\"txt\"]", "`dump.formats"),
        ("data.rule.position=9", "position"),
        ("data.rule={ kind = \"token-anywhere\" }", "token"),
        ("model=[4]", "`model` is a list"),
        ("model.attention.mask=[[1,0],[2,1]]", "the matrix holds 2"),
        ("model.init.std.all=1e30", "below 1000000"),
        ("data.file=\"C:\\Users\"", "single quotes"),
        ("data.file=\"C:\\me\"", "single quotes"),
        // What this kind needs, with the values that are there.
        (
            "data.rule.kind=token-anywhere",
            "data.rule={ kind = \"token-anywhere\", token = 7 }",
        ),
        (
            "data.rule=[\"token-at-position\", 5, 2]",
            "`data.rule` is a list",
        ),
    ] {
        let message = refused(CONFIG, Some(change));
        assert!(
            message.starts_with(&format!("--set {change}: ")),
            "{message}"
        );
        assert!(message.contains(part), "{message}");
    }
    // The change replaces what the file has, so the message names the change.
    let wrong = CONFIG.replace("epochs = 2", "epochs = 0");
    assert!(refused(&wrong, Some("training.epochs=0")).starts_with("--set"));
    assert!(refused(&wrong, Some("training.batch_size=2")).starts_with("c.toml:14:1: "));
    let names = |count: usize| vec!["x"; count].join(".") + "=1";
    assert!(refused(CONFIG, Some(&names(17))).contains("the key has 17 names"));
    assert!(refused(CONFIG, Some(&names(16))).contains("unknown key `x`"));
}

/// An unknown key may be called as its section, or as the section's name ends.
#[test]
fn an_unknown_key_is_placed_in_its_section() {
    let message = refused(&CONFIG.replace("epochs = 2", "attention = 2"), None);
    let place = "c.toml:14:1: unknown key `attention` in [training]";
    assert!(message.starts_with(place), "{message}");
    for section in [
        "training",
        "model",
        "model.attention",
        "model.init",
        "data.words",
        "dump",
        "report",
        "checkpoint",
        "compute",
    ] {
        let last = section.rsplit('.').next().unwrap();
        for key in [&last[last.len() - 1..], last] {
            let message = refused(CONFIG, Some(&format!("{section}.{key}=1")));
            let place = format!("unknown key `{key}` in [{section}]");
            assert!(message.contains(&place), "{message}");
        }
    }
}

#[test]
fn callers_can_add_checks() {
    let check = |config: &ExperimentConfig| match &*config.compute.device {
        "abacus" => {
            let message = "unknown device `abacus`";
            Err(InvalidValue::new("compute.device", message))
        }
        _ => Ok(()),
    };
    let changes = std::iter::once(("--device", "compute.device=abacus"));
    let message = toml::parse("c.toml", CONFIG, changes, |_| Ok(()), check).unwrap_err();
    assert_eq!(
        message,
        "--device compute.device=abacus: unknown device `abacus`"
    );
}

#[test]
fn a_key_that_is_taken_out_has_its_default() {
    let changes = ["training.learning_rate=5", "training.learning_rate", "seed"];
    let expected = parse(&["seed=0"]).unwrap();
    assert_eq!(parse(&changes).unwrap(), expected);
}

/// Fuzzing found it: the mistake is the line's end itself, whose first byte belongs to no line.
#[test]
fn a_mistake_at_the_end_of_a_line_is_located() {
    for text in [
        "seed = 1\x7f\r\n",
        "\x7f\r\n",
        "seed =\r\n",
        "[data\r\n\r\n",
    ] {
        for length in 0..=text.len() {
            let text = text[..length].to_owned() + "\r\n[model]\r\n";
            let changes = std::iter::empty();
            let parsed = toml::parse("c.toml", &text, changes, |_| Ok(()), |_| Ok(()));
            assert!(parsed.unwrap_err().starts_with("c.toml"));
        }
    }
    let excerpt = headlight_input::toml_message::excerpt("a = 1\r\n", &(6..7), 100);
    assert!(excerpt.contains("a = 1"), "{excerpt}");
}

/// Whatever a key is set to, the message is for someone who does not read Rust.
#[test]
fn messages_name_no_type_of_rust() {
    let values = [
        "3",
        "-1",
        "1.5",
        "true",
        "x",
        "'x'",
        "[]",
        "[1]",
        "{}",
        "{ a = 1 }",
        "{ a = 1, b = 2 }",
        "1979-05-27",
    ];
    let foreign = [
        "variant", "struct", "enum", "usize", "u64", "u32", "i64", "f64", "sequence", "tuple",
        "unit", "a map", "newtype",
    ];
    let mut found = Vec::new();
    for (key, _) in headlight_schema::paths(ExperimentConfig::keys()) {
        for value in values {
            let Err(message) = parse(&[&format!("{key}={value}")]) else {
                continue;
            };
            let mut words = message.split(|c: char| !c.is_alphanumeric() && c != ' ');
            let of_rust = words.find(|part| foreign.iter().any(|word| part.contains(word)));
            found.extend(of_rust.map(|_| message.clone()));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// A change is one value: what follows it on another line is no second one that is dropped in silence.
#[test]
fn a_change_is_one_value() {
    assert!(parse(&["training.epochs=1\nseed=9"]).is_err());
    assert!(parse(&["data.file=a\nb"]).is_err(), "a rule and a file");
    let lines = parse(&["dump.samples=[\n0,\n1]"]).unwrap();
    assert_eq!(lines, parse(&["dump.samples=[0, 1]"]).unwrap());
}

/// A value that no type of its key takes is named, at its line.
#[test]
fn a_wrong_value_is_named_at_its_line() {
    for (line, part) in [
        ("[data]\nheld_out = -1", "at least 0 and below 1, not -1"),
        ("[data]\nheld_out = 1.5", "at least 0 and below 1, not 1.5"),
        ("[data]\nheld_out = nan", "at least 0 and below 1, not nan"),
        ("[data]\nsamples = inf", "samples or \"fresh\", not inf"),
        (
            "[model]\npooling = \"maximum\"",
            "a position, not \"maximum\"",
        ),
        (
            "[model]\nattention.mask = [[2]]",
            "the matrix holds 2; expected 0 or 1",
        ),
    ] {
        let changes = std::iter::empty();
        let parsed = toml::parse("c.toml", line, changes, |_| Ok(()), |_| Ok(()));
        let message = parsed.unwrap_err();
        let is_named = message.starts_with("c.toml:2:1") && message.contains(part);
        assert!(is_named, "{line}: {message}");
    }
}
