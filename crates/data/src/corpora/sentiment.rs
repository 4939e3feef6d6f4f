//! "i did not like the food": is this sentence positive?
//!
//! Half of the clauses are negated, whatever their quality is. So each word is as frequent in both classes. Unlike in
//! the other grammars, the words of most sentences have no other order with another answer.

use super::grammar::{Composition, CorpusFacts, Grammar, SentenceAnswer, sentence};

pub(super) struct Sentiment;

// Each pair: bad, then good.
const ADJECTIVES: [&[&str]; 2] = [
    &[
        "bad", "terrible", "awful", "boring", "horrible", "dull", "poor", "stupid", "slow", "ugly",
    ],
    &[
        "good",
        "great",
        "amazing",
        "wonderful",
        "excellent",
        "fantastic",
        "brilliant",
        "beautiful",
        "lovely",
        "nice",
        "fun",
        "interesting",
        "perfect",
    ],
];
const SUPERLATIVES: [&[&str]; 2] = [&["worst"], &["best"]];
const FEELINGS: [&[&str]; 2] = [&["sad", "angry"], &["happy", "glad"]];
/// What somebody does: I like, I liked, she likes.
const VERBS: [[&[&str]; 3]; 2] = [
    [
        &["hate", "dislike"],
        &["hated", "disliked"],
        &["hates", "dislikes"],
    ],
    [
        &["love", "like", "enjoy"],
        &["loved", "liked", "enjoyed"],
        &["loves", "likes", "enjoys"],
    ],
];
const ADVICE: [&[&str]; 2] = [&["avoid"], &["recommend"]];

const NEGATORS: &[&str] = &[
    "not", "never", "no", "nobody", "isn't", "wasn't", "aren't", "weren't", "don't", "doesn't",
    "didn't", "wouldn't",
];
/// A negation does not reach past these.
const BREAKS: &[&str] = &[".", "!", ",", "and", "because"];
const THINGS: &[&str] = &[
    "movie", "film", "book", "story", "plot", "acting", "ending", "show", "music", "song", "game",
    "food", "pizza", "coffee", "service", "staff", "place", "hotel", "room", "weather",
];
/// Things without "a", and those among them without "the".
const MASSES: &[&str] = &[
    "music", "food", "coffee", "pizza", "acting", "service", "staff", "weather",
];
const SUBSTANCES: &[&str] = MASSES.split_at(4).0;
const I_AND_WE: &[&str] = &["i", "we", "they"];
const SHE_AND_HE: &[&str] = &["she", "he", "everyone"];
const POINTERS: &[&str] = &["it", "it's", "this", "that", "i'm"];
/// For any sentence, and for those that say no.
const INTENSIFIERS: &[&str] = &["very", "really", "so", "quite", "pretty"];
const WITH_NOT: &[&str] = &["very", "really", "so"];
const OTHERS: &[&str] = &[
    "the", "a", "an", "is", "was", "am", "are", "were", "do", "does", "did", "would", "think",
    "at", "all", "what", "ever",
];

/// Plain, and three times negated.
type Forms = [&'static str; 4];
const IS: Forms = ["is", "is not", "isn't", "is never"];
const WAS: Forms = ["was", "was not", "wasn't", "was never"];
const ARE: Forms = ["are", "are not", "aren't", "are never"];
const WERE: Forms = ["were", "were not", "weren't", "were never"];
const IT_IS: Forms = ["it's", "it's not", "it isn't", "it's never"];

/// The words that say whether a sentence is good, or bad.
fn qualities(good: usize) -> impl Iterator<Item = &'static [&'static str]> {
    [ADJECTIVES, SUPERLATIVES, FEELINGS, ADVICE]
        .map(|pair| pair[good])
        .into_iter()
        .chain(VERBS[good])
}

/// Whom and what sentences are about.
const SUBJECTS: [&[&str]; 4] = [THINGS, I_AND_WE, SHE_AND_HE, POINTERS];

/// The words of a sentence that lists have, whatever their order is, as one number. Its digits may be more than 64 bits hold; then
/// the first ones are lost.
fn number(words: &[&str], lists: impl Iterator<Item = &'static [&'static str]>) -> u64 {
    lists
        .flatten()
        .zip(1_u64..)
        .fold(0, |number, (listed, digit)| {
            let times = words.iter().filter(|word| *word == listed).count();
            (0..times).fold(number, |number, _| {
                number.wrapping_mul(64).wrapping_add(digit)
            })
        })
}

impl Grammar for Sentiment {
    fn lists(&self) -> Vec<&'static [&'static str]> {
        let lists = [OTHERS, NEGATORS, BREAKS, INTENSIFIERS].into_iter();
        lists
            .chain(SUBJECTS)
            .chain(qualities(0))
            .chain(qualities(1))
            .collect()
    }

    fn facts(&self) -> CorpusFacts {
        CorpusFacts {
            marker: None,
            classes: &["negative", "positive"],
            seq_len: 14,
            question: "Is the sentence positive?",
            deciding: "the words that say good or bad, and those that negate them",
        }
    }

    fn draw(&self, choose: &mut dyn FnMut(usize) -> usize) -> (Vec<&'static str>, Composition) {
        let is_positive = choose(2) == 1;
        let is_short = choose(4) == 0;
        let mut words = Clause::new(choose, is_positive, is_short).draw();
        if is_short {
            words.push(["and", "because", ","][choose(3)]);
            words.extend(Clause::new(choose, is_positive, is_short).draw());
        }
        words.extend(["", "", ".", "!"][choose(4)].split_terminator(' '));
        // With or without a negation, so that the classes of a composition are even.
        let qualities = number(&words, qualities(0).chain(qualities(1)));
        let subjects = number(&words, SUBJECTS.into_iter());
        (words, [qualities, subjects, 0])
    }

    fn read(&self, words: &[&str]) -> Option<SentenceAnswer> {
        let others = self.lists();
        let mut class = None;
        let mut deciding = Vec::new();
        // Where the negations are that reach the next quality.
        let mut negators = Vec::new();
        for (at, word) in words
            .iter()
            .enumerate()
            .filter(|(_, word)| !word.is_empty())
        {
            let is_good = (0..2).find(|&good| qualities(good).any(|list| list.contains(word)));
            if let Some(good) = is_good {
                let is_positive = (good == 1) != (negators.len() == 1);
                if negators.len() > 1 || class.is_some_and(|class| class != is_positive) {
                    return None;
                }
                class = Some(is_positive);
                deciding.append(&mut negators);
                deciding.push(at);
            } else if NEGATORS.contains(word) {
                negators.push(at);
            } else if !others.iter().any(|list| list.contains(word))
                || BREAKS.contains(word) && !negators.is_empty()
            {
                return None;
            }
        }
        let class = class.filter(|_| negators.is_empty())?.into();
        Some(SentenceAnswer { class, deciding })
    }
}

/// A clause while it is drawn.
struct Clause<'a> {
    choose: &'a mut dyn FnMut(usize) -> usize,
    /// Whose quality it has: bad or good.
    good: usize,
    is_negated: bool,
    /// Whether the sentence has another one.
    is_short: bool,
}

impl<'a> Clause<'a> {
    fn new(choose: &'a mut dyn FnMut(usize) -> usize, is_positive: bool, is_short: bool) -> Self {
        let is_negated = choose(2) == 1;
        Self {
            good: (is_positive != is_negated).into(),
            choose,
            is_negated,
            is_short,
        }
    }

    fn draw(self) -> Vec<&'static str> {
        match (self.choose)(14) {
            0..4 => self.judges(),
            4..8 => self.likes(),
            8 => self.recommends(),
            9 => self.feels(),
            _ => self.good_thing(),
        }
    }

    fn one<T: Copy>(&mut self, list: &[T]) -> T {
        list[(self.choose)(list.len())]
    }

    /// These words in one of `times` clauses.
    fn at_times(&mut self, times: usize, words: &'static str) -> &'static str {
        if !self.is_short && (self.choose)(times) == 0 {
            words
        } else {
            ""
        }
    }

    fn form(&mut self, forms: Forms) -> &'static str {
        if self.is_negated {
            forms[[1, 1, 2, 2, 3][(self.choose)(5)]]
        } else {
            forms[0]
        }
    }

    fn intensifier(&mut self, times: usize) -> &'static str {
        let word = self.one(if self.is_negated {
            WITH_NOT
        } else {
            INTENSIFIERS
        });
        self.at_times(times, word)
    }

    fn at_all(&mut self) -> &'static str {
        if self.is_negated {
            self.at_times(4, "at all")
        } else {
            ""
        }
    }

    /// The movie, this movie, music.
    fn thing(&mut self) -> [&'static str; 2] {
        match (self.choose)(6) {
            0 => ["", self.one(SUBSTANCES)],
            1 => ["this", self.one(THINGS)],
            2 => ["", "it"],
            _ => ["the", self.one(THINGS)],
        }
    }

    /// I think the movie was not very good.
    fn judges(mut self) -> Vec<&'static str> {
        let adjective = self.one(ADJECTIVES[self.good]);
        let (intensifier, at_all) = match self.intensifier(3) {
            "" => ("", self.at_all()),
            some => (some, ""),
        };
        // Not bad at all.
        if (self.choose)(8) == 0 {
            let not = if self.is_negated { "not" } else { "" };
            return sentence(&[not, intensifier, adjective, at_all]);
        }
        let intro = match self.at_times(5, "i think") {
            // I do not think the movie was very good.
            "i think" if self.is_negated && (self.choose)(2) == 0 => {
                self.is_negated = false;
                self.one(&["i do not think", "i don't think"])
            }
            intro => intro,
        };
        let (subject, tenses) = match self.thing() {
            ["", "it"] => self.one(&[
                (["", "it"], [IS, WAS]),
                (["", ""], [IT_IS; 2]),
                (["", "this"], [IS, WAS]),
                (["", "that"], [IS, WAS]),
                (["", "they"], [ARE, WERE]),
            ]),
            thing => (thing, [IS, WAS]),
        };
        let tense = self.one(&tenses);
        let is = self.form(tense);
        let [article, thing] = subject;
        sentence(&[intro, article, thing, is, intensifier, adjective, at_all])
    }

    /// It was not a good movie; what a good movie.
    fn good_thing(mut self) -> Vec<&'static str> {
        let thing = self.one(THINGS);
        let is_superlative = (self.choose)(5) == 0;
        let (start, is) = match (self.choose)(4) {
            0 if self.is_negated => ("", "not"),
            0 if is_superlative => ("", ""),
            0 => ("", self.one(&["", "what"])),
            _ => {
                let starts = [
                    ("it", IS),
                    ("it", WAS),
                    ("", IT_IS),
                    ("this", IS),
                    ("that", WAS),
                ];
                let (start, forms) = self.one(&starts);
                (start, self.form(forms))
            }
        };
        if is_superlative {
            let superlative = self.one(SUPERLATIVES[self.good]);
            let ever = self.at_times(2, "ever");
            return sentence(&[start, is, "the", superlative, thing, ever]);
        }
        let adjective = self.one(ADJECTIVES[self.good]);
        let is_mass = MASSES.contains(&thing);
        // It was no good movie.
        if let Some(is) = is.strip_suffix(" not")
            && !is_mass
            && (self.choose)(3) == 0
        {
            return sentence(&[start, is, "no", adjective, thing]);
        }
        let intensifier = self.one(&["very", "really"]);
        let intensifier = if is == "what" {
            ""
        } else {
            self.at_times(4, intensifier)
        };
        let is_vowel = sentence(&[intensifier, adjective])[0].starts_with(['a', 'e', 'i', 'u']);
        let article = match (is_mass, is_vowel) {
            (true, _) => "",
            (_, true) => "an",
            _ => "a",
        };
        sentence(&[start, is, article, intensifier, adjective, thing])
    }

    /// I did not like the movie. With and without a negation, each form of the verb is equally frequent.
    fn likes(mut self) -> Vec<&'static str> {
        let verbs = VERBS[self.good];
        let index = (self.choose)(verbs[0].len());
        let form = [0, 0, 0, 0, 1, 1, 1, 2][(self.choose)(8)];
        let (i, she) = (self.one(I_AND_WE), self.one(SHE_AND_HE));
        let (anybody, chance) = (self.one(&[i, she]), (self.choose)(6));
        let (person, does) = match (form, self.is_negated) {
            (0, false) if chance < 4 => (i, ""),
            // I did like the movie.
            (0, false) => self.one(&[(i, "do"), (she, "does"), (anybody, "did")]),
            (0, true) if chance < 2 => (i, self.one(&["do not", "don't"])),
            (0, true) if chance == 2 => (she, self.one(&["does not", "doesn't"])),
            (0, true) => (anybody, self.one(&["did not", "didn't"])),
            (_, true) if chance < 2 => ("nobody", ""),
            (1, _) => (anybody, if self.is_negated { "never" } else { "" }),
            _ => (she, if self.is_negated { "never" } else { "" }),
        };
        let really = self.at_times(5, "really");
        let [article, thing] = self.thing();
        let at_all = self.at_all();
        sentence(&[
            person,
            does,
            really,
            verbs[form][index],
            article,
            thing,
            at_all,
        ])
    }

    /// I would not recommend the movie.
    fn recommends(mut self) -> Vec<&'static str> {
        let advice = self.one(ADVICE[self.good]);
        let people = self.one(&[I_AND_WE, SHE_AND_HE]);
        let mut person = self.one(people);
        let mut would = self.form(["would", "would not", "wouldn't", "would never"]);
        if self.is_negated && (self.choose)(5) == 0 {
            (person, would) = ("nobody", "would");
        }
        let [article, thing] = self.thing();
        sentence(&[person, would, advice, article, thing])
    }

    /// I am not happy.
    fn feels(mut self) -> Vec<&'static str> {
        let feeling = self.one(FEELINGS[self.good]);
        let intensifier = self.intensifier(3);
        let third = self.one(SHE_AND_HE);
        let (person, forms) = self.one(&[
            ("i", ["am", "am not", "am not", "am never"]),
            ("i'm", ["", "not", "not", "never"]),
            ("i", WAS),
            ("we", ["are", "are not", "aren't", "are never"]),
            ("they", ["were", "were not", "weren't", "were never"]),
            (third, IS),
            (third, WAS),
        ]);
        let is = self.form(forms);
        sentence(&[person, is, intensifier, feeling])
    }
}
