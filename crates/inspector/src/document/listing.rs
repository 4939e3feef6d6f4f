//! Lines of text whose blanks stay as they are, such as a printed matrix.

/// Lines under a title. They are not broken, and characters of one width draw them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listing {
    /// What the lines are; may be empty.
    pub title: String,
    /// The lines.
    pub lines: Vec<String>,
}
