//! Published studies of toy transformers, again with many seeds.
//!
//! A [`Study`] is a plan and a page. Its plan has parts: each is a sweep of a config in the folder `studies`, with a grid and a
//! number of seeds. Its page is made of the rows of these sweeps alone: what was published beside what they show, with intervals and
//! verdicts.
#![allow(clippy::float_cmp)] // Values of a grid are compared as they were written, and ranks need equality.

mod brackets;
mod certified;
mod clock_and_pizza;
mod clock_medians;
mod clock_published;
mod clock_tables;
mod every_input;
mod every_input_tables;
mod explanation;
mod first;
mod max_of_four;
mod page;
mod prediction;
mod regression;
mod rows;
mod second_way;
mod start;
mod statistics;
mod study;

pub use page::{Compared, Page, Verdict};
pub use rows::Rows;
pub use study::{Part, Study};

use headlight_trainer::Failure;

/// All studies.
pub static STUDIES: &[&Study] = &[
    &max_of_four::STUDY,
    &clock_and_pizza::STUDY,
    &brackets::STUDY,
    &first::STUDY,
    &explanation::STUDY,
    &second_way::STUDY,
    &every_input::STUDY,
];

/// The study of a name.
///
/// # Errors
/// When there is none.
pub fn study(name: &str) -> Result<&'static Study, Failure> {
    let found = STUDIES.iter().find(|study| study.name == name);
    found.copied().ok_or_else(|| {
        let names: Vec<&str> = STUDIES.iter().map(|study| study.name).collect();
        Failure::Input(format!(
            "there is no study `{name}`; the studies are {}",
            names.join(", ")
        ))
    })
}
