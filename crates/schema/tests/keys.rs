//! Sections and choices, as the macros make them.
#![allow(missing_docs, clippy::unwrap_used)]

use headlight_schema::{
    ConfigSection, InvalidValue, Key, Kind, Range, Value, Variant, choices, paths, section,
};
use serde_json::{from_value, json, to_value};

section! {
    /// A section with a key of each sort.
    struct Sample {
        /// A count.
        ///
        /// Why it is there.
        #[range(Range::of(1, 9))]
        count: u32,
        /// A share, over
        /// two lines.
        #[range(Range::BELOW_ONE.in_float32())]
        share: f64 = 0.5,
        /// A key that came later.
        #[range(Range::POSITIVE)]
        #[omit(default)]
        later: Option<f64> = None,
        /// Names.
        #[omit(default)]
        names: Vec<Colour> = vec![Colour::DarkBlue],
        /// A section.
        inner: Inner = Inner::default(),
    }
}

section! {
    /// A section inside it.
    struct Inner {
        /// A switch.
        on: bool = true,
        /// A text.
        text: String = "a \"b\"".to_owned(),
    }
}

choices! {
    /// A colour.
    enum Colour {
        /// As the sea.
        DarkBlue = "dark-blue",
        /// As a leaf.
        Green = "green",
    }
}

fn sample(keys: serde_json::Value) -> Sample {
    from_value(keys).unwrap()
}

#[test]
fn keys_that_are_left_out_have_their_defaults() {
    let read = sample(json!({ "count": 2 }));
    assert_eq!((read.count, read.share, read.later), (2, 0.5, None));
    assert_eq!(read.names, [Colour::DarkBlue]);
    assert_eq!(read.inner, Inner::default());
    assert_eq!(read, Sample::with_defaults(2));
    // A key that is not written while it has its default is written once it has another value.
    let inner = json!({ "on": true, "text": "a \"b\"" });
    let written = json!({ "count": 2, "share": 0.5, "inner": inner });
    assert_eq!(to_value(&read).unwrap(), written);
    let whole =
        json!({ "count": 2, "share": 0.5, "later": 1.5, "names": ["green"], "inner": inner });
    assert_eq!(to_value(sample(whole.clone())).unwrap(), whole);
}

#[test]
fn mistakes_are_those_that_serde_names() {
    for (keys, message) in [
        (json!({}), "missing field `count`"),
        (
            json!({ "count": 1, "size": 2 }),
            "unknown field `size`, expected one of `count`, `share`, `later`, `names`, `inner`",
        ),
        (
            json!({ "count": 1, "share": null }),
            "invalid type: null, expected f64",
        ),
        (
            json!(3),
            "invalid type: integer `3`, expected struct Sample",
        ),
        (
            json!({ "count": 1, "names": ["red"] }),
            "unknown variant `red`, expected `dark-blue` or `green`",
        ),
    ] {
        let error = from_value::<Sample>(keys).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn numbers_have_ranges() {
    for (keys, refused) in [
        (json!({ "count": 1 }), None),
        (json!({ "count": 9, "share": 0.0, "later": 1e-300 }), None),
        (
            json!({ "count": 0 }),
            Some(("count", "count is 0; it must be from 1 to 9")),
        ),
        (
            json!({ "count": 10 }),
            Some(("count", "count is 10; it must be from 1 to 9")),
        ),
        (
            // 1 in float32.
            json!({ "count": 1, "share": 0.999_999_999 }),
            Some((
                "share",
                "share is 0.999999999; it must be at least 0 and below 1, in float32 too",
            )),
        ),
        (
            json!({ "count": 1, "later": 0.0 }),
            Some(("later", "later is 0.0; it must be a number above 0")),
        ),
    ] {
        let found = sample(keys.clone()).check_ranges().err();
        let refused = refused.map(|(key, message)| InvalidValue::new(key, message));
        assert_eq!(found, refused, "{keys}");
    }
    for number in [f64::NAN, f64::INFINITY, -1.0] {
        assert!(!Range::POSITIVE.contains(number), "{number}");
        assert!(!Range::SHARE.contains(number), "{number}");
    }
    assert!(Range::SHARE.contains(1.0) && !Range::BELOW_ONE.contains(1.0));
    let tiny = 1e-60;
    assert!(Range::POSITIVE.contains(tiny) && !Range::POSITIVE.in_float32().contains(tiny));
    let half_open = Range {
        with_from: false,
        ..Range::SHARE
    };
    let refused = Range::SHARE.hint("of all").check("share", &2.0);
    assert!(refused.unwrap_err().to_string().ends_with("(of all)"));
    assert_eq!(half_open.to_string(), "above 0 and at most 1");
    let open = Range {
        with_to: false,
        ..half_open
    };
    assert_eq!(open.to_string(), "above 0 and below 1");
}

#[test]
fn each_key_is_described() {
    let keys = paths(Sample::keys());
    let names: Vec<&str> = keys.iter().map(|(path, _)| path.as_str()).collect();
    let expected = ["count", "share", "later", "names", "inner.on", "inner.text"];
    assert_eq!(names, expected);
    let defaults: Vec<Option<&str>> = keys.iter().map(|(_, key)| key.default.as_deref()).collect();
    let expected = [
        None,
        Some("0.5"),
        None,
        Some(r#"["dark-blue"]"#),
        Some("true"),
        Some(r#""a \"b\"""#),
    ];
    assert_eq!(defaults, expected);
    let required = keys.iter().map(|(_, key)| key.is_required);
    assert_eq!(required.filter(|&required| required).count(), 1);
    assert_eq!(keys[0].1.sentence, "A count.");
    assert_eq!(keys[1].1.sentence, "A share, over two lines.");
    assert_eq!(keys[2].1.kind, Kind::Number);
    let Kind::Choice(choices) = Colour::kind() else {
        panic!("a colour is a name");
    };
    assert_eq!(choices[1].name, Colour::ALL[1].name());
    assert_eq!(choices[1].sentence, "As a leaf.");
}

/// All keys that any variant has, after the key that names the variant.
#[test]
fn variants_have_keys_too() {
    let key = |name| Key {
        name,
        kind: Kind::Whole,
        range: None,
        is_required: true,
        default: None,
        sentence: String::new(),
    };
    let variant = |name, keys: &[&'static str]| Variant {
        name,
        sentence: String::new(),
        keys: keys.iter().map(|name| key(name)).collect(),
    };
    let variants = vec![variant("one", &["a", "b"]), variant("other", &["b", "c"])];
    let rule = Key {
        kind: Kind::Variants(variants),
        ..key("rule")
    };
    let optional = Key {
        is_required: false,
        ..rule
    };
    let paths = paths(vec![optional]);
    // Whoever gives the section has to name its kind.
    assert!(!paths[0].1.is_required && paths[1].1.is_required);
    let names: Vec<String> = paths.into_iter().map(|(path, _)| path).collect();
    assert_eq!(names, ["rule", "rule.kind", "rule.a", "rule.b", "rule.c"]);
}

#[test]
fn an_invalid_value_is_placed_in_a_section() {
    let invalid = InvalidValue::new("rule.position", "too far").within("data");
    assert_eq!(invalid, InvalidValue::new("data.rule.position", "too far"));
    assert_eq!(invalid.to_string(), "`data.rule.position`: too far");
}
