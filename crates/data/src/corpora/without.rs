//! In place of the grammars in builds without them: a config that asks for sentences is refused.

use super::grammar::{Composition, Grammar, Reading};

pub(super) struct Nothing;

impl Grammar for Nothing {
    fn lists(&self) -> Vec<&'static [&'static str]> {
        Vec::new()
    }

    fn classes(&self) -> &'static [&'static str] {
        &[]
    }

    fn seq_len(&self) -> usize {
        0
    }

    fn question(&self) -> &'static str {
        ""
    }

    fn deciding(&self) -> &'static str {
        ""
    }

    fn draw(&self, _choose: &mut dyn FnMut(usize) -> usize) -> (Vec<&'static str>, Composition) {
        (Vec::new(), [0; 3])
    }

    fn read(&self, _words: &[&str]) -> Option<Reading> {
        None
    }
}
