//! npz archives, and dumps.

use std::io::{Cursor, Read, Write};
use std::sync::OnceLock;

use headlight_data::{ClsPlace, Dataset, Stream};
use headlight_dump::AttentionDump;
use headlight_trainer::sessions::dumping::{Model, Origin, Samples, dump};
use headlight_trainer::sessions::opening::open_device;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::quick;

/// An archive with these members, stored without compression.
fn archive<'a>(members: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::DEFAULT.compression_method(CompressionMethod::Stored);
    for (name, bytes) in members {
        zip.start_file(name, options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// The members of a valid archive.
fn members(archive: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut zip = ZipArchive::new(Cursor::new(archive)).unwrap();
    (0..zip.len())
        .map(|index| {
            let mut member = zip.by_index(index).unwrap();
            let mut bytes = Vec::new();
            member.read_to_end(&mut bytes).unwrap();
            (member.name().unwrap().into_owned(), bytes)
        })
        .collect()
}

/// A dump of one small sample.
fn small_dump() -> &'static [u8] {
    static DUMP: OnceLock<Vec<u8>> = OnceLock::new();
    DUMP.get_or_init(|| {
        let mut config = quick().clone();
        config.data.seq_len = 2;
        config.data.vocab_size = 4;
        config.data.rule = None;
        config.model.d_model = 2;
        config.model.d_ff = 2;
        let inputs = config.inputs();
        config.model.validate_for(inputs).unwrap();
        let rng = &mut Stream::Weights.rng(config.seed);
        let parameters = config.model.initial_parameters(inputs, rng);
        let mut dataset = Dataset::empty(2, ClsPlace::First);
        dataset.push(&[0, 1, 3], 1);
        let samples = Samples {
            dataset: &dataset,
            indices: vec![0],
            numbered: true,
            labelled: true,
        };
        let model = Model {
            config: &config,
            parameters: &parameters,
        };
        let device = open_device("flex").unwrap();
        let dump = dump(model, &samples, Origin::default(), &device, &[]).unwrap();
        let mut bytes = Vec::new();
        dump.write_npz(&mut bytes).unwrap();
        bytes
    })
}

/// Reads a dump, and shows it as the commands do.
fn read_and_show(bytes: &[u8]) {
    use headlight_inspector::terminal::Options;
    use headlight_inspector::{Again, ColourMode, Heatmap, Page, PageRun, Quantity};

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
            let _ = heatmap.text(options, None);
            let _ = heatmap.svg();
        }
    }
    let mut run = PageRun::new(
        "dump".to_owned(),
        &dump,
        1,
        None,
        1,
        Again::Recorded(String::new()),
    );
    let mut page = Page::default();
    if run.add(&dump).is_ok() && page.add(run).is_ok() {
        let _ = page.html();
    }
    dump.write_json(std::io::sink()).unwrap();
    dump.write_csv(std::io::sink()).unwrap();
}

/// Any archive.
pub(crate) mod whole {
    use std::io::Cursor;

    use headlight_npz::{NpzReader, NpzWriter};

    pub(crate) fn read(bytes: &[u8]) {
        if let Ok(mut npz) = NpzReader::new(Cursor::new(bytes)) {
            for name in ["i", "f"] {
                let _ = npz.integers(name);
                let _ = npz.floats(name);
            }
            let _ = npz.string("meta");
        }
    }

    pub(crate) fn seeds() -> Vec<Vec<u8>> {
        let mut npz = NpzWriter::new();
        npz.array("i", &[2], &[1_i64, 2]).unwrap();
        npz.array("f", &[1, 2], &[1_f32, 2.0]).unwrap();
        npz.string("meta", "{}").unwrap();
        npz.bytes("meta.json", b"{}").unwrap();
        let plain = [("i.npy", &b"\x93NUMPY\x01\x00"[..]), ("../f.npy", b"")];
        vec![npz.finish().unwrap(), super::archive(plain)]
    }
}

/// A member of a valid archive: the fuzzer writes only the bytes of the member.
pub(crate) mod member {
    use std::io::Cursor;

    use headlight_npz::NpzReader;

    pub(crate) fn read(bytes: &[u8]) {
        let archive = super::archive([("a.npy", bytes)]);
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

    pub(crate) fn seeds() -> Vec<Vec<u8>> {
        let header = |version: u8, text: &str| {
            let mut bytes = b"\x93NUMPY".to_vec();
            bytes.extend([version, 0]);
            if version == 1 {
                bytes.extend((text.len() as u16).to_le_bytes());
            } else {
                bytes.extend((text.len() as u32).to_le_bytes());
            }
            bytes.extend(text.as_bytes());
            bytes.extend([1; 24]);
            bytes
        };
        let mut seeds = Vec::new();
        for descr in ["<i8", ">i4", "<u2", "|b1", "<f4", ">f8"] {
            let text =
                format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (1, 3), }}\n");
            seeds.push(header(1 + (seeds.len() % 3) as u8, &text));
        }
        seeds
    }
}

/// A dump.
pub(crate) mod dump {
    pub(crate) fn read(bytes: &[u8]) {
        super::read_and_show(bytes);
    }

    pub(crate) fn seeds() -> Vec<Vec<u8>> {
        vec![super::small_dump().to_vec()]
    }
}

/// A dump with one invalid member: the first byte selects the member, the others are its bytes.
pub(crate) mod dump_member {
    use super::{archive, members, small_dump};

    pub(crate) fn read(bytes: &[u8]) {
        let Some((&which, bytes)) = bytes.split_first() else {
            return;
        };
        let mut members = members(small_dump());
        let count = members.len();
        bytes.clone_into(&mut members[usize::from(which) % count].1);
        let members = members
            .iter()
            .map(|(name, bytes)| (name.as_str(), bytes.as_slice()));
        super::read_and_show(&archive(members));
    }

    pub(crate) fn seeds() -> Vec<Vec<u8>> {
        let members = members(small_dump());
        let seed = |(index, (_, bytes)): (usize, &(String, Vec<u8>))| {
            let mut seed = vec![index as u8];
            seed.extend(bytes);
            seed
        };
        members.iter().enumerate().map(seed).collect()
    }
}
