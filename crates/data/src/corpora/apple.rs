//! "* apple launched a new phone while i was eating an apple": the firm or the fruit?
//!
//! Each sentence has both, in either order; so the words fit both answers.

use super::grammar::{Grammar, Reading, asked, marker, one_of, sentence};

pub(super) struct Apple;

const FIRM: &[&str] = &["launched", "sold", "showed", "designed", "announced"];
const KINDS: &[&str] = &["new", "fast", "cheap", "small"];
const PRODUCTS: &[&str] = &["phone", "laptop", "watch", "tablet"];
const PEOPLE: &[&str] = &["i", "she", "he"];
const FRUIT: &[&str] = &["eating", "peeling", "washing", "slicing", "picking"];
const ARTICLES: &[&str] = &["an", "the"];

impl Grammar for Apple {
    fn lists(&self) -> Vec<&'static [&'static str]> {
        vec![
            &["apple", "a", "while", "was", ","],
            FIRM,
            KINDS,
            PRODUCTS,
            PEOPLE,
            FRUIT,
            ARTICLES,
        ]
    }

    fn classes(&self) -> &'static [&'static str] {
        &["firm", "fruit"]
    }

    fn seq_len(&self) -> usize {
        13
    }

    fn question(&self) -> &'static str {
        "Is the marked apple the firm or the fruit?"
    }

    fn deciding(&self) -> &'static str {
        "the verb of the asked apple"
    }

    fn draw(&self, choose: &mut dyn FnMut(usize) -> usize) -> (Vec<&'static str>, [usize; 3]) {
        let (sells, first) = one_of(FIRM, choose);
        let (product, second) = one_of(PRODUCTS, choose);
        let (eats, third) = one_of(FRUIT, choose);
        let (kind, person, article) = (
            one_of(KINDS, choose).0,
            one_of(PEOPLE, choose).0,
            one_of(ARTICLES, choose).0,
        );
        let is_fruit = choose(2) == 1;
        let firm = [marker(!is_fruit), "apple", sells, "a", kind, product];
        let fruit = [person, "was", eats, article, marker(is_fruit), "apple"];
        let words = if choose(2) == 0 {
            sentence(&[&firm[..], &["while"], &fruit].concat())
        } else {
            sentence(&[&["while"], &fruit[..], &[","], &firm].concat())
        };
        (words, [first, second, third])
    }

    fn read(&self, words: &[&str]) -> Option<Reading> {
        let asked = asked(words)?;
        let is_apple = words.get(asked) == Some(&"apple");
        let reading = |class, at| Reading {
            class,
            deciding: vec![at],
        };
        if is_apple && words.get(asked + 1).is_some_and(|word| FIRM.contains(word)) {
            return Some(reading(0, asked + 1));
        }
        // The verb stands before the article and the marker.
        let verb = asked
            .checked_sub(3)
            .filter(|&at| is_apple && FRUIT.contains(&words[at]));
        verb.map(|at| reading(1, at))
    }
}
