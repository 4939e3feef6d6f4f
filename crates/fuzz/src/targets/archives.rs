//! npz archives, and dumps.

use std::io::{Cursor, Read, Write, sink};

use headlight_dump::AttentionDump;
use headlight_npz::NpzReader;
use headlight_page::{Page, PageRun, PageTraining};
use headlight_report::terminal::Options;
use headlight_report::{ColourMode, Heatmap, Quantity};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// An archive with these members, stored without compression.
fn archive(members: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::DEFAULT.compression_method(CompressionMethod::Stored);
    for (name, bytes) in members {
        zip.start_file(name.as_str(), options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// Any archive.
pub(crate) fn whole(bytes: &[u8]) {
    if let Ok(mut npz) = NpzReader::new(Cursor::new(bytes)) {
        for name in ["i", "f"] {
            let _ = npz.integers(name);
            let _ = npz.floats(name);
        }
        let _ = npz.string("meta");
    }
}

/// A member of a valid archive: the fuzzer writes only the bytes of the member.
pub(crate) fn member(bytes: &[u8]) {
    let archive = archive(&[("a.npy".to_owned(), bytes.to_vec())]);
    // The bytes may look like the end of an archive, which is refused.
    let Ok(mut npz) = NpzReader::new(Cursor::new(archive)) else {
        return;
    };
    if let Ok(array) = npz.integers("a") {
        assert_eq!(array.shape.iter().product::<usize>(), array.values.len());
    }
    if let Ok(array) = npz.floats("a") {
        assert_eq!(array.shape.iter().product::<usize>(), array.values.len());
    }
}

/// A dump, which is shown as the commands do.
pub(crate) fn dump(bytes: &[u8]) {
    let Ok(dump) = AttentionDump::read_npz(Cursor::new(bytes)) else {
        return;
    };
    let options = Options {
        colour: ColourMode::Plain,
        width: 80,
    };
    for quantity in [Quantity::Weights, Quantity::Scores] {
        let layers: Vec<usize> = (0..dump.dims.layers).collect();
        for layers in [&layers[..1], &layers] {
            let heatmap = Heatmap::of(&dump, 0, layers, &[0], quantity);
            let _ = heatmap.text(options, None, "");
            let _ = heatmap.svg();
        }
    }
    let again = PageTraining::Recorded(String::new());
    let mut run = PageRun::new("dump".to_owned(), &dump, 1, None, 1, again);
    let mut page = Page::default();
    if run.add(&dump).is_ok() && page.add(run).is_ok() {
        let _ = page.html();
    }
    dump.write_json(sink()).unwrap();
    dump.write_csv(sink()).unwrap();
}

/// A dump with one invalid member: the first byte selects the member, the others are its bytes.
pub(crate) fn dump_member(bytes: &[u8]) {
    const VALID: &[u8] = include_bytes!("../../corpus/dump/one-sample");
    let Some((&which, bytes)) = bytes.split_first() else {
        return;
    };
    let mut zip = ZipArchive::new(Cursor::new(VALID)).unwrap();
    let chosen = usize::from(which) % zip.len();
    let members = (0..zip.len()).map(|index| {
        let mut member = zip.by_index(index).unwrap();
        let mut valid = Vec::new();
        member.read_to_end(&mut valid).unwrap();
        let name = member.name().unwrap().into_owned();
        (
            name,
            if index == chosen {
                bytes.to_vec()
            } else {
                valid
            },
        )
    });
    dump(&archive(&members.collect::<Vec<_>>()));
}
