//! Each element type that an array may have, and those that are refused.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use common::{array, header};
use headlight_npz::{NpyArray, NpzWriter};

/// Arrays of two elements by type and little-endian bytes; the reader gives `values`.
const INTEGERS: [(&str, &[u8], [i64; 2]); 8] = [
    (
        "i8",
        &[
            254, 255, 255, 255, 255, 255, 255, 255, 1, 2, 3, 4, 0, 0, 0, 128,
        ],
        [-2, i64::MIN + 0x0403_0201],
    ),
    (
        "i4",
        &[254, 255, 255, 255, 1, 2, 0, 128],
        [-2, -0x7fff_fdff],
    ),
    ("i2", &[254, 255, 1, 128], [-2, -0x7fff]),
    ("i1", &[254, 1], [-2, 1]),
    (
        "u4",
        &[254, 255, 255, 255, 1, 2, 0, 0],
        [0xffff_fffe, 0x201],
    ),
    ("u2", &[254, 255, 1, 2], [0xfffe, 0x201]),
    ("u1", &[254, 1], [254, 1]),
    ("b1", &[1, 0], [1, 0]),
];

/// What NumPy calls a type.
fn numpy_name(kind: &str) -> &'static str {
    match kind {
        "i8" => "int64",
        "i4" => "int32",
        "i2" => "int16",
        "i1" => "int8",
        "u4" => "uint32",
        "u2" => "uint16",
        "u1" => "uint8",
        "f4" => "float32",
        "f8" => "float64",
        _ => "bool",
    }
}

/// The same numbers in both byte orders: type with quotes, and bytes.
fn both_orders(kind: &str, bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let width = bytes.len() / 2;
    if width == 1 {
        return vec![(format!("'|{kind}'"), bytes.to_vec())];
    }
    let big = bytes
        .chunks(width)
        .flat_map(|number| number.iter().rev().copied());
    vec![
        (format!("'<{kind}'"), bytes.to_vec()),
        (format!("'>{kind}'"), big.collect()),
    ]
}

#[test]
fn integers_of_each_type_are_read() {
    for (kind, bytes, values) in INTEGERS {
        for (descr, bytes) in both_orders(kind, bytes) {
            let read = array(&header(&descr, "(2,)"), &bytes).integers("a");
            let expected = NpyArray {
                shape: vec![2],
                values: values.to_vec(),
            };
            assert_eq!(read.unwrap(), expected, "{descr}");
            let read = array(&header(&descr, "(2,)"), &bytes).numbers("a");
            assert_eq!(read.unwrap().values, values.map(|value| value as f64));
            let message = array(&header(&descr, "(2,)"), &bytes)
                .floats("a")
                .unwrap_err();
            assert!(
                message.contains(&format!("is {}, not one of float32", numpy_name(kind))),
                "{message}"
            );
        }
    }
}

#[test]
fn floats_of_each_type_are_read() {
    let numbers = [-1.5, 3e20_f32];
    let single: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    let double: Vec<u8> = numbers
        .iter()
        .flat_map(|&x| f64::from(x).to_le_bytes())
        .collect();
    for (kind, bytes) in [("f4", single), ("f8", double)] {
        for (descr, bytes) in both_orders(kind, &bytes) {
            let read = array(&header(&descr, "(1, 2)"), &bytes)
                .floats("a")
                .unwrap();
            assert_eq!(
                (read.shape, read.values),
                (vec![1, 2], numbers.to_vec()),
                "{descr}"
            );
            let read = array(&header(&descr, "(1, 2)"), &bytes).numbers("a");
            assert_eq!(read.unwrap().values, numbers.map(f64::from));
            let message = array(&header(&descr, "(1, 2)"), &bytes)
                .integers("a")
                .unwrap_err();
            assert!(
                message.contains(&format!("is {}, not one of bool", numpy_name(kind))),
                "{message}"
            );
        }
    }
}

#[test]
fn other_types_are_refused_by_name() {
    for (descr, name) in [
        ("'<u8'", "uint64"),
        ("'<f2'", "float16"),
        ("'<c8'", "complex64"),
        ("'|S8'", "bytes"),
        ("'<U2'", "str"),
        ("[('x', '<i4'), ('y', '<i4')]", "'x', '<i4'"),
    ] {
        for message in [
            array(&header(descr, "(1,)"), &[0; 8])
                .integers("a")
                .unwrap_err(),
            array(&header(descr, "(1,)"), &[0; 8])
                .floats("a")
                .unwrap_err(),
            array(&header(descr, "(1,)"), &[0; 8])
                .numbers("a")
                .unwrap_err(),
        ] {
            assert!(
                message.contains("`a.npy`") && message.contains(name),
                "{message}"
            );
        }
    }
}

#[test]
fn what_is_written_comes_back() {
    let mut npz = NpzWriter::new();
    npz.array("i4", &[2], &[-1_i32, 7]).unwrap();
    npz.array("i2", &[1], &[-1_i16]).unwrap();
    npz.array("u4", &[1], &[u32::MAX]).unwrap();
    npz.array("u1", &[1], &[255_u8]).unwrap();
    npz.array("b1", &[2, 1], &[true, false]).unwrap();
    npz.array("f8", &[], &[0.5_f64]).unwrap();
    npz.array("none", &[2, 0], &[0.5_f32; 0]).unwrap();
    let mut npz = common::reader(npz.finish().unwrap());
    for (name, shape, values) in [
        ("i4", vec![2], vec![-1, 7]),
        ("i2", vec![1], vec![-1]),
        ("u4", vec![1], vec![i64::from(u32::MAX)]),
        ("u1", vec![1], vec![255]),
        ("b1", vec![2, 1], vec![1, 0]),
    ] {
        assert!(npz.contains(name));
        assert_eq!(
            npz.integers(name).unwrap(),
            NpyArray { shape, values },
            "{name}"
        );
    }
    assert_eq!(
        npz.floats("f8").unwrap(),
        NpyArray {
            shape: vec![],
            values: vec![0.5]
        }
    );
    assert_eq!(
        npz.floats("none").unwrap(),
        NpyArray {
            shape: vec![2, 0],
            values: vec![]
        }
    );
    assert!(!npz.contains("i8") && !npz.contains("i4.npy"));
}

#[test]
#[should_panic(expected = "shape [2, 2]")]
fn a_shape_of_another_size_is_a_mistake_of_the_caller() {
    let _ = NpzWriter::new().array("a", &[2, 2], &[1_i64; 3]);
}
