//! Trains seeds of a built-in corpus of sentences, and measures what attention does in each: where it looks, whether the
//! word that it looks at most is the one that the answer needs, and whether integrated gradients name the same word.
//!
//!     cargo run --release -p headlight-experiment --example attention_study -- NAME SEEDS [KEY=VALUE]... > NAME.jsonl
//!
//! SEEDS is a number or `FIRST..END`. One line of JSON per seed, in their order; `attention_study.py` beside it makes
//! tables of them. The bytes do not depend on the number of threads.
//!
//! One file, because an example is read from its top to its end.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::BTreeMap;
use std::io::Write;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::{env, fs, thread};

use headlight_data::words::{FIRST_WORD, PAD};
use headlight_data::{CLS, Corpus, Dataset, LabelRule, Splits, rules};
use headlight_experiment::config::LEARNED;
use headlight_experiment::config::{ExperimentConfig, toml};
use headlight_experiment::evaluate::evaluate;
use headlight_experiment::fused::{Array, Forward, Frozen, Intervention, Recorded};
use headlight_experiment::metrics::{Counts, Metric, f1, predicted_class};
use headlight_experiment::train::{Next, Observer, Progress, train};
use headlight_experiment::{Engine, Error, Experiment, FusedEngine, Predictions};
use serde_json::{Map, Value, json};

/// Held-out sentences that are looked at.
const LOOKED_AT: usize = 64;
/// Integrated gradients cost most. One seed in `GRADIENTS_EVERY` has those of two sentences, others than the next such seed.
const GRADIENTS_EVERY: u64 = 4;
const WITH_GRADIENTS: usize = 2;

/// Kinds of positions. "Rival" is the other thing that could be asked, with the words that would decide its answer.
/// "Answer" and "other answer" are the nouns of `pronoun`.
const KINDS: [&str; 11] = [
    "[CLS]",
    "marker",
    "asked",
    "not",
    "deciding",
    "rival",
    "rival not",
    "rival deciding",
    "answer",
    "other answer",
    "rest",
];
const NOT: usize = 3;
const DECIDING: usize = 4;
const RIVAL: usize = 5;
const REST: usize = 10;

/// The queries whose attention is measured, as kinds.
const QUERIES: [usize; 6] = [0, 1, 2, DECIDING, RIVAL, 7];

/// The things that can be asked about, by corpus.
fn things(corpus: Corpus) -> &'static [&'static str] {
    match corpus {
        Corpus::Negation => &[
            "movie",
            "soundtrack",
            "story",
            "acting",
            "food",
            "service",
            "camera",
            "room",
        ],
        Corpus::Pronoun => &["it"],
        Corpus::Bank => &[
            "bank", "crane", "office", "house", "path", "shed", "tower", "garden", "gate", "shop",
        ],
        Corpus::Apple => &["apple"],
        Corpus::Sentiment => &[],
    }
}

/// The sentences of the documents, as far as a corpus contains them.
fn documents(corpus: Corpus) -> &'static [&'static str] {
    match corpus {
        Corpus::Negation => &[
            "the * movie was not good , but the soundtrack was amazing",
            "the movie was not good , but the * soundtrack was amazing",
        ],
        Corpus::Pronoun => &[
            "the animal did not cross the street because * it was too tired , and it was too wide",
            "the animal did not cross the street because it was too tired , and * it was too wide",
            "the cat sat on the mat because * it was too tired , and it was too dirty",
        ],
        Corpus::Bank => &[
            "the * bank of the river lay behind the office that approved the loan",
            "the bank of the river lay behind the * bank that approved the loan",
        ],
        Corpus::Apple => &[
            "* apple launched a new phone while i was eating an apple",
            "apple launched a new phone while i was eating an * apple",
        ],
        Corpus::Sentiment => &[],
    }
}

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [name, seeds, changes @ ..] = &arguments[..] else {
        eprintln!("usage: attention_study NAME SEEDS [KEY=VALUE]...");
        std::process::exit(2);
    };
    let seeds: Range<u64> = match seeds.split_once("..") {
        Some((first, end)) => first.parse().unwrap()..end.parse().unwrap(),
        None => 0..seeds.parse().unwrap(),
    };
    let config = config(name, changes);
    let Some(LabelRule::Sentence(rules::Sentence { corpus })) = config.data.rule else {
        panic!("{name} is no corpus of sentences");
    };
    assert!(corpus.words().contains(&"*"), "{name} asks about no word");
    let splits: Arc<Splits> = config.data.generate().expect("a valid config").into();
    let study = Study::new(corpus, config, splits);

    let count = (seeds.end - seeds.start) as usize;
    let (next, (sender, receiver)) = (AtomicUsize::new(0), mpsc::channel());
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            let (sender, next, study, first) = (sender.clone(), &next, &study, seeds.start);
            scope.spawn(move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= count {
                        break;
                    }
                    sender
                        .send((index, study.row(first + index as u64)))
                        .unwrap();
                }
            });
        }
        drop(sender);
        let (mut waiting, mut written) = (BTreeMap::new(), 0);
        let mut out = std::io::stdout().lock();
        for (index, row) in receiver {
            waiting.insert(index, row);
            while let Some(row) = waiting.remove(&written) {
                writeln!(out, "{row}").unwrap();
                written += 1;
                if written.is_multiple_of(50) || written == count {
                    eprintln!("{name}: {written} of {count} seeds");
                }
            }
        }
    });
}

fn config(name: &str, changes: &[String]) -> ExperimentConfig {
    let path = format!("{}/../../configs/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(&path).expect("the name of a built-in config");
    let changes = changes.iter().map(|change| ("--set", &change[..]));
    toml::parse(name, text, changes, |_| Ok(()), |_| Ok(())).unwrap_or_else(|message| {
        eprintln!("{message}");
        std::process::exit(2)
    })
}

/// What is known of a sentence without a model.
struct Sentence {
    words: Vec<&'static str>,
    /// Positions that are not padding, `[CLS]` among them. The words are those from 1.
    unmasked: usize,
    /// `[position]`
    kinds: Vec<usize>,
}

impl Sentence {
    fn new(corpus: Corpus, words: Vec<&'static str>) -> Self {
        let mut kinds = vec![REST; words.len()];
        let marker = words.iter().position(|&word| word == "*").unwrap();
        let mut mark = |positions: &[usize], kind: usize| {
            for &position in positions {
                let is_not = words[position] == "not" && corpus == Corpus::Negation;
                kinds[position] = if is_not { kind - 1 } else { kind };
            }
        };
        let reading = corpus.read(&words).unwrap();
        mark(&reading.deciding, DECIDING);
        // The same sentence, asked about its other thing.
        let is_rival = |&at: &usize| at != marker + 1 && things(corpus).contains(&words[at]);
        let rival = (0..words.len()).find(is_rival).unwrap();
        let mut other: Vec<&str> = words.clone();
        other[rival] = words[marker + 1];
        other.insert(rival, "*");
        other.remove(if rival < marker { marker + 1 } else { marker });
        // Where a word of `other` stands in `words`.
        let place = |at: usize| match (rival < marker, at) {
            (true, at) if at > rival && at <= marker => at - 1,
            (false, at) if at >= marker && at < rival => at + 1,
            _ => at,
        };
        let decided = corpus.read(&other).unwrap().deciding;
        let decided: Vec<usize> = decided.into_iter().map(place).collect();
        mark(&decided, 7);
        kinds[marker] = 1;
        kinds[marker + 1] = 2;
        kinds[rival] = RIVAL;
        if corpus == Corpus::Pronoun {
            let place = words.iter().position(|&word| word == "because").unwrap() - 1;
            let is_place = reading.class as usize;
            kinds[1] = 8 + is_place;
            kinds[place] = 9 - is_place;
        }
        kinds.insert(0, 0);
        Self {
            unmasked: kinds.len(),
            words,
            kinds,
        }
    }

    /// Positions of a kind.
    fn of(&self, kind: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.unmasked).filter(move |&position| self.kinds[position] == kind)
    }

    /// Positions of the words that decide, `not` among them.
    fn deciding(&self) -> impl Iterator<Item = usize> + '_ {
        self.of(NOT).chain(self.of(DECIDING))
    }

    fn word_count(&self) -> usize {
        self.unmasked - 1
    }
}

struct Study {
    corpus: Corpus,
    config: ExperimentConfig,
    splits: Arc<Splits>,
    /// Held-out sentences, then those of the documents.
    dataset: Dataset,
    sentences: Vec<Sentence>,
    documents: Vec<Sentence>,
}

impl Study {
    fn new(corpus: Corpus, config: ExperimentConfig, splits: Arc<Splits>) -> Self {
        assert!(config.inputs().cls == Some(0), "[CLS] comes first");
        let vocabulary = corpus.words();
        let mut dataset = Dataset::empty(config.data.seq_len, config.data.cls);
        let mut sentences = Vec::new();
        for sample in 0..LOOKED_AT {
            let tokens = splits.held_out.tokens(sample);
            dataset.push(tokens, splits.held_out.label(sample));
            let words = tokens[1..].iter().filter(|&&token| token != PAD);
            let words = words.map(|&token| vocabulary[(token - FIRST_WORD) as usize]);
            sentences.push(Sentence::new(corpus, words.collect()));
        }
        let mut of_documents = Vec::new();
        for text in documents(corpus) {
            let number = |word: &str| vocabulary.iter().position(|known| *known == word).unwrap();
            let indices: Vec<usize> = text.split(' ').map(number).collect();
            let mut tokens = vec![CLS];
            tokens.extend(indices.iter().map(|&index| FIRST_WORD + index as u32));
            tokens.resize(config.data.seq_len + 1, PAD);
            let words: Vec<&str> = indices.into_iter().map(|index| vocabulary[index]).collect();
            dataset.push(&tokens, corpus.read(&words).unwrap().class);
            of_documents.push(Sentence::new(corpus, words));
        }
        Self {
            corpus,
            config,
            splits,
            dataset,
            sentences,
            documents: of_documents,
        }
    }

    fn row(&self, seed: u64) -> Value {
        let config = ExperimentConfig {
            seed,
            ..self.config.clone()
        };
        let experiment = Experiment::new(config, Arc::clone(&self.splits), None).unwrap();
        let n_classes = experiment.config.data.n_classes;
        let mut engine = FusedEngine::new(&experiment).unwrap();
        let mut learning = Learning::new(&self.splits.held_out, n_classes);
        let start = Progress::default();
        if let Err(error) = train(&experiment, &mut engine, start, || false, &mut learning) {
            return json!({"seed": seed, "error": error.to_string()});
        }
        let held_out = evaluate(&mut engine, &self.splits.held_out, n_classes, None).unwrap();
        let mut model = Trained {
            study: self,
            frozen: Frozen::new(&experiment.config).unwrap(),
            weights: engine.weights(),
            layers: experiment.config.model.n_layers,
            heads: experiment.config.model.n_heads,
            n_logits: experiment
                .config
                .model
                .n_logits(experiment.config.data.n_classes),
        };
        let mut row = Map::new();
        row.insert("corpus".into(), json!(self.corpus.name()));
        row.insert("seed".into(), json!(seed));
        row.insert("learned_at_step".into(), json!(learning.learned_at_step));
        row.insert("f1".into(), json!(held_out.metrics[Metric::F1]));
        row.insert("accuracy".into(), json!(held_out.metrics[Metric::Accuracy]));
        model.measure(seed, &mut row);
        Value::Object(row)
    }
}

/// The step after which held-out F1 reaches [`LEARNED`], as in a sweep. A check starts with the samples that decided the
/// last one, so that few predictions are enough.
struct Learning<'a> {
    watched: &'a Dataset,
    n_classes: usize,
    samples: Vec<u32>,
    predictions: Predictions,
    learned_at_step: Option<usize>,
}

impl<'a> Learning<'a> {
    fn new(watched: &'a Dataset, n_classes: usize) -> Self {
        Self {
            watched,
            n_classes,
            samples: (0..watched.len() as u32).collect(),
            predictions: Predictions::default(),
            learned_at_step: None,
        }
    }

    fn is_learned(&mut self, engine: &mut dyn Engine) -> bool {
        let found = self.watched.class_counts(self.n_classes);
        let mut counts: Vec<Counts> = found
            .into_iter()
            .map(|found| Counts {
                found,
                ..Counts::default()
            })
            .collect();
        let mut start = 0;
        while start < self.samples.len() {
            let end = (start + 64).min(self.samples.len());
            let checked = &self.samples[start..end];
            engine.predict(self.watched, checked, &mut self.predictions);
            let n_logits = self.predictions.logits.len() / checked.len();
            let logits = self.predictions.logits.chunks(n_logits);
            for (&sample, logits) in checked.iter().zip(logits) {
                let label = self.watched.label(sample as usize) as usize;
                let predicted = predicted_class(logits) as usize;
                if predicted != label {
                    counts[label].found -= 1;
                    counts[label].missed += 1;
                    counts[predicted].false_alarms += 1;
                }
            }
            if f1(&counts).is_none_or(|best| best < LEARNED) {
                self.samples[..end].rotate_right(end - start);
                return false;
            }
            start = end;
        }
        true
    }
}

impl Observer for Learning<'_> {
    type Failure = Error;

    fn step(&mut self, progress: Progress, engine: &mut dyn Engine) -> Result<Next, Error> {
        if self.learned_at_step.is_none() && self.is_learned(engine) {
            self.learned_at_step = Some(progress.step);
        }
        Ok(Next::Step)
    }
}

/// A trained model and the sentences that it reads.
struct Trained<'a> {
    study: &'a Study,
    frozen: Frozen,
    weights: Vec<f32>,
    layers: usize,
    heads: usize,
    n_logits: usize,
}

impl Trained<'_> {
    fn forward(&mut self, chosen: &[u32], interventions: &[Intervention]) -> Forward {
        let (weights, dataset) = (&self.weights, &self.study.dataset);
        let recorded = Recorded::Attention;
        let forward = self
            .frozen
            .forward(weights, dataset, chosen, interventions, recorded);
        forward.unwrap()
    }

    /// The logits of each sample.
    fn logits(&self, forward: &Forward) -> Vec<Vec<f64>> {
        let rows = forward.predictions.logits.chunks(self.n_logits);
        rows.map(|row| row.iter().map(|&logit| logit.into()).collect())
            .collect()
    }

    /// No query of these blocks looks at a position.
    fn without(
        &mut self,
        blocks: Range<usize>,
        positions: &[usize],
        chosen: &[u32],
    ) -> Vec<Vec<f64>> {
        let removed: Vec<Intervention> = blocks
            .flat_map(|layer| {
                positions
                    .iter()
                    .map(move |&position| Intervention::RemoveKey { layer, position })
            })
            .collect();
        let forward = self.forward(chosen, &removed);
        self.logits(&forward)
    }

    /// The class of a sample if queries of a block have these attention weights. `[head][key]`
    fn attending(
        &mut self,
        layer: usize,
        sample: usize,
        queries: Range<usize>,
        rows: &[Vec<f32>],
    ) -> u32 {
        let changes: Vec<Intervention> = (0..self.heads)
            .flat_map(|head| queries.clone().map(move |query| (head, query)))
            .map(|(head, query)| Intervention::SetWeights {
                layer,
                head,
                query,
                weights: rows[head].clone(),
            })
            .collect();
        let forward = self.forward(&[sample as u32], &changes);
        predicted_class(&self.logits(&forward)[0])
    }

    #[allow(clippy::too_many_lines)]
    fn measure(&mut self, seed: u64, row: &mut Map<String, Value>) {
        let (layers, heads, study) = (self.layers, self.heads, self.study);
        let last = layers - 1;
        let turn = (seed / GRADIENTS_EVERY) as usize % (LOOKED_AT / WITH_GRADIENTS);
        let with_gradients = seed.is_multiple_of(GRADIENTS_EVERY).then_some(turn);
        let all: Vec<u32> = (0..study.dataset.len() as u32).collect();
        let chosen = &all[..LOOKED_AT];
        let whole = self.forward(&all, &[]);
        let logits = self.logits(&whole);
        let classes: Vec<u32> = logits
            .iter()
            .map(|logits| predicted_class(logits))
            .collect();
        let mut means = Means::default();
        let pattern = Pattern {
            weights: &whole.arrays[Array::Weights],
            layers,
            heads,
            positions: study.dataset.positions(),
        };

        // Without a word, in all blocks or in the last. `[position][sample]`
        let longest = study.sentences.iter().map(|s| s.unmasked).max().unwrap();
        let removed: Vec<Vec<Vec<f64>>> = (1..longest)
            .map(|word| self.without(0..layers, &[word], chosen))
            .collect();
        let removed_last: Vec<Vec<Vec<f64>>> = (1..longest)
            .map(|word| self.without(last..layers, &[word], chosen))
            .collect();

        // Mean attention of [CLS] in the last block. `[head][key]`
        let usual: Vec<Vec<f32>> = (0..heads)
            .map(|head| {
                let mut sums = vec![0.0; study.dataset.positions()];
                for sample in 0..LOOKED_AT {
                    let row = pattern.row(sample, last, head, 0);
                    sums.iter_mut()
                        .zip(row)
                        .for_each(|(sum, weight)| *sum += weight);
                }
                sums
            })
            .collect();

        let mut patterns = vec![0.0; layers * heads * QUERIES.len() * KINDS.len()];
        let mut queries = [0.0_f64; QUERIES.len()];
        let mut shares = [0.0; KINDS.len()];
        for (sample, sentence) in study.sentences.iter().enumerate() {
            let (words, class) = (1..sentence.unmasked, classes[sample]);
            let unmasked = sentence.unmasked as f64;
            means.add("right", class == study.dataset.label(sample));
            for (kind, share) in shares.iter_mut().enumerate() {
                *share += sentence.of(kind).count() as f64 / unmasked / LOOKED_AT as f64;
            }

            // Where queries look.
            for (number, &query_kind) in QUERIES.iter().enumerate() {
                let found: Vec<usize> = sentence.of(query_kind).collect();
                if found.is_empty() {
                    continue;
                }
                queries[number] += 1.0;
                for layer in 0..layers {
                    for head in 0..heads {
                        let at = ((layer * heads + head) * QUERIES.len() + number) * KINDS.len();
                        for &query in &found {
                            let row = pattern.row(sample, layer, head, query);
                            for (position, &kind) in sentence.kinds.iter().enumerate() {
                                patterns[at + kind] +=
                                    f64::from(row[position]) / found.len() as f64;
                            }
                        }
                    }
                }
            }
            if let Some(not) = sentence.of(NOT).next() {
                for layer in 0..layers {
                    for head in 0..heads {
                        for (name, kind) in [("own", DECIDING), ("rival", 7)] {
                            for quality in sentence.of(kind) {
                                let weight = pattern.row(sample, layer, head, quality)[not];
                                let key = format!("quality_to_not.{name}.{layer}.{head}");
                                means.add(&key, f64::from(weight));
                            }
                        }
                    }
                }
                means.add("quality_to_not.even", 1.0 / unmasked);
            }
            for layer in 0..layers {
                let apart = (0..sentence.unmasked).map(|query| pattern.apart(sample, layer, query));
                means.add(
                    &format!("heads_apart.{layer}"),
                    apart.sum::<f64>() / unmasked,
                );
            }

            // Measures of each word, the more the more important.
            let mean_heads = pattern.mean(sample, last, 0);
            let attention = mean_heads[words.clone()].to_vec();
            let largest: Vec<f64> = words
                .clone()
                .map(|word| {
                    let heads = (0..heads).map(|head| pattern.row(sample, last, head, 0)[word]);
                    heads.fold(0.0, f32::max).into()
                })
                .collect();
            let rollout = pattern.rollout(sample, sentence.unmasked)[words.clone()].to_vec();
            let before = margin(&logits[sample], class);
            let lost = |removed: &[Vec<Vec<f64>>]| -> Vec<f64> {
                let each = words.clone();
                each.map(|word| before - margin(&removed[word - 1][sample], class))
                    .collect()
            };
            let turned = |removed: &[Vec<Vec<f64>>]| -> Vec<bool> {
                let each = words.clone();
                each.map(|word| predicted_class(&removed[word - 1][sample]) != class)
                    .collect()
            };
            let mut measures = vec![
                ("attention", attention),
                ("largest_head", largest),
                ("rollout", rollout),
                ("removal", lost(&removed)),
                ("removal_last", lost(&removed_last)),
            ];
            if with_gradients == Some(sample / WITH_GRADIENTS) {
                measures.push(("gradients", self.gradients(sample, class)));
            }
            let turns = turned(&removed);
            let any = turns.contains(&true);
            means.add("turns.any", any);
            means.add(
                "turns.words",
                turns.iter().filter(|&&turns| turns).count() as f64,
            );
            let marker = sentence.of(1).next().unwrap();
            let others = words
                .clone()
                .filter(|&word| word != marker && turns[word - 1]);
            means.add("turns.any_but_marker", others.count() > 0);
            means.add("turns.any_of_last", turned(&removed_last).contains(&true));
            let decide: Vec<usize> = sentence.deciding().collect();
            means.add("turns.a_deciding", decide.iter().any(|&at| turns[at - 1]));
            means.add("turns.marker", turns[marker - 1]);
            let together = self.without(0..layers, &decide, &[sample as u32]);
            means.add("turns.all_deciding", predicted_class(&together[0]) != class);
            let rivals: Vec<usize> = sentence.of(6).chain(sentence.of(7)).collect();
            let together = self.without(0..layers, &rivals, &[sample as u32]);
            means.add(
                "turns.all_rival_deciding",
                predicted_class(&together[0]) != class,
            );
            means.add(
                "chance.deciding",
                decide.len() as f64 / sentence.word_count() as f64,
            );
            means.add("chance.same", 1.0 / sentence.word_count() as f64);

            for (name, values) in &measures {
                let top = top(values);
                for (kind, of_kind) in KINDS.iter().enumerate().skip(1) {
                    means.add(
                        &format!("top.{name}.{of_kind}"),
                        sentence.kinds[top + 1] == kind,
                    );
                }
                means.add(
                    &format!("top.{name}.any deciding"),
                    decide.contains(&(top + 1)),
                );
                means.add(&format!("turns.{name}"), turns[top]);
                means.add(&format!("misleads.{name}"), any && !turns[top]);
                if any {
                    means.add(&format!("misses.{name}"), !turns[top]);
                }
            }
            for (index, (name, values)) in measures.iter().enumerate() {
                for (other, others) in &measures[..index] {
                    means.add(&format!("same.{other}.{name}"), top(values) == top(others));
                    if let Some(rank) = spearman(values, others) {
                        means.add(&format!("rank.{other}.{name}"), rank);
                    }
                }
            }

            // The answer with other attention: even, or each head's mean over the sentences.
            let unmasked = sentence.unmasked;
            let mut even = vec![0.0; study.dataset.positions()];
            even[..unmasked].fill(1.0 / unmasked as f32);
            let even = vec![even; heads];
            let usual: Vec<Vec<f32>> = usual.iter().map(|row| scaled(row, unmasked)).collect();
            let kept = self.attending(last, sample, 0..1, &even) == class;
            means.add("kept.cls_even", kept);
            let kept = self.attending(last, sample, 0..1, &usual) == class;
            means.add("kept.cls_usual", kept);
            let kept = self.attending(0, sample, 0..unmasked, &even) == class;
            means.add("kept.first_even", kept);
        }
        for (at, weight) in patterns.iter_mut().enumerate() {
            *weight /= queries[at / KINDS.len() % QUERIES.len()].max(1.0);
        }

        row.insert("kinds".into(), json!(KINDS));
        row.insert("queries".into(), json!(QUERIES.map(|kind| KINDS[kind])));
        row.insert("even".into(), rounded(&shares));
        let per_query = patterns.chunks(KINDS.len()).map(rounded);
        let per_query: Vec<Value> = per_query.collect();
        row.insert(
            "attention".into(),
            nested(per_query, &[layers, heads, QUERIES.len()]),
        );
        row.insert("means".into(), means.finish());
        let documents = study
            .documents
            .iter()
            .enumerate()
            .map(|(number, sentence)| {
                let sample = LOOKED_AT + number;
                let label = study.dataset.label(sample);
                let from = |query: usize| -> Vec<Value> {
                    let rows =
                        (0..layers).flat_map(|layer| (0..heads).map(move |head| (layer, head)));
                    let rows = rows.map(|(layer, head)| {
                        let row = &pattern.row(sample, layer, head, query)[..sentence.unmasked];
                        rounded(
                            &row.iter()
                                .map(|&weight| weight.into())
                                .collect::<Vec<f64>>(),
                        )
                    });
                    rows.collect()
                };
                let queries = [0, 1, 2, DECIDING, 7].map(|kind| {
                    let query = sentence.of(kind).last().unwrap();
                    (
                        KINDS[kind].to_owned(),
                        nested(from(query), &[layers, heads]),
                    )
                });
                json!({
                    "words": sentence.words,
                    "right": classes[sample] == label,
                    "rows": Map::from_iter(queries),
                })
            });
        row.insert("documents".into(), documents.collect());
    }

    /// What each word adds to the evidence for a class.
    fn gradients(&self, sample: usize, class: u32) -> Vec<f64> {
        let (logit, sign) = match (self.n_logits, class) {
            (1, 0) => (0, -1.0),
            (1, _) => (0, 1.0),
            _ => (class as usize, 1.0),
        };
        let dataset = &self.study.dataset;
        let found = self
            .frozen
            .attribute(&self.weights, dataset, sample as u32, logit)
            .unwrap();
        let width = found.values.len() / dataset.positions();
        let words = found.values.chunks(width).skip(1);
        words
            .take(self.study.sentences[sample].word_count())
            .map(|values| sign * values.iter().sum::<f64>())
            .collect()
    }
}

/// Attention weights. `[sample, layer, head, query, key]`
struct Pattern<'a> {
    weights: &'a [f32],
    layers: usize,
    heads: usize,
    positions: usize,
}

impl Pattern<'_> {
    fn row(&self, sample: usize, layer: usize, head: usize, query: usize) -> &[f32] {
        let matrix = (sample * self.layers + layer) * self.heads + head;
        let at = (matrix * self.positions + query) * self.positions;
        &self.weights[at..at + self.positions]
    }

    /// The mean over heads.
    fn mean(&self, sample: usize, layer: usize, query: usize) -> Vec<f64> {
        let mut mean = vec![0.0; self.positions];
        for head in 0..self.heads {
            let row = self.row(sample, layer, head, query);
            for (mean, &weight) in mean.iter_mut().zip(row) {
                *mean += f64::from(weight) / self.heads as f64;
            }
        }
        mean
    }

    /// Attention rollout of `[CLS]` (Abnar and Zuidema 2020): half of each block's output is its input.
    fn rollout(&self, sample: usize, unmasked: usize) -> Vec<f64> {
        let mut flow = vec![0.0; self.positions];
        flow[0] = 1.0;
        for layer in (0..self.layers).rev() {
            let mut before: Vec<f64> = flow.iter().map(|share| share / 2.0).collect();
            for (query, share) in flow[..unmasked].iter().enumerate() {
                let row = self.mean(sample, layer, query);
                for (before, weight) in before.iter_mut().zip(row) {
                    *before += share / 2.0 * weight;
                }
            }
            flow = before;
        }
        flow
    }

    /// How far the first two heads are apart: the share of attention that one would have to move.
    fn apart(&self, sample: usize, layer: usize, query: usize) -> f64 {
        if self.heads < 2 {
            return 0.0;
        }
        let [a, b] = [0, 1].map(|head| self.row(sample, layer, head, query));
        let moved = a.iter().zip(b).map(|(a, b)| f64::from((a - b).abs()));
        moved.sum::<f64>() / 2.0
    }
}

/// A row of weights whose first `unmasked` ones sum to 1, and whose others are 0.
fn scaled(row: &[f32], unmasked: usize) -> Vec<f32> {
    let sum: f32 = row[..unmasked].iter().sum();
    let weights = row.iter().enumerate();
    weights
        .map(|(at, weight)| if at < unmasked { weight / sum } else { 0.0 })
        .collect()
}

/// The log-odds of a class.
fn margin(logits: &[f64], class: u32) -> f64 {
    if let [logit] = logits {
        return if class == 1 { *logit } else { -logit };
    }
    let own = class as usize;
    let others = logits.iter().enumerate().filter(|&(other, _)| other != own);
    let sum: f64 = others.map(|(_, logit)| (logit - logits[own]).exp()).sum();
    -sum.ln()
}

/// The first of the largest values.
fn top(values: &[f64]) -> usize {
    let mut top = 0;
    for (index, value) in values.iter().enumerate() {
        if *value > values[top] {
            top = index;
        }
    }
    top
}

/// Spearman's rank correlation; equal values share their mean rank.
#[allow(clippy::float_cmp)]
fn spearman(a: &[f64], b: &[f64]) -> Option<f64> {
    let ranks = |values: &[f64]| -> Vec<f64> {
        let rank = |value: &f64| {
            let below = values.iter().filter(|other| *other < value).count();
            let equal = values.iter().filter(|other| *other == value).count();
            below as f64 + (equal as f64 - 1.0) / 2.0
        };
        values.iter().map(rank).collect()
    };
    let middle = (a.len() as f64 - 1.0) / 2.0;
    let (a, b) = (ranks(a), ranks(b));
    let product = |a: &[f64], b: &[f64]| -> f64 {
        a.iter()
            .zip(b)
            .map(|(a, b)| (a - middle) * (b - middle))
            .sum()
    };
    let scale = (product(&a, &a) * product(&b, &b)).sqrt();
    (scale > 0.0).then(|| product(&a, &b) / scale)
}

/// Means by name.
#[derive(Default)]
struct Means(BTreeMap<String, (f64, f64)>);

impl Means {
    fn add(&mut self, name: &str, value: impl Number) {
        let (sum, count) = self.0.entry(name.to_owned()).or_default();
        *sum += value.number();
        *count += 1.0;
    }

    fn finish(self) -> Value {
        let means = self.0.into_iter();
        means
            .map(|(name, (sum, count))| (name, round(sum / count)))
            .collect()
    }
}

/// A number, or a share of samples.
trait Number {
    fn number(self) -> f64;
}

impl Number for f64 {
    fn number(self) -> f64 {
        self
    }
}

impl Number for bool {
    fn number(self) -> f64 {
        self.into()
    }
}

fn round(value: f64) -> Value {
    json!((value * 1e5).round() / 1e5)
}

fn rounded(values: &[f64]) -> Value {
    values.iter().map(|&value| round(value)).collect()
}

/// A list as lists of lists.
fn nested(values: Vec<Value>, shape: &[usize]) -> Value {
    let Some((_, inner)) = shape.split_first().filter(|(_, inner)| !inner.is_empty()) else {
        return Value::Array(values);
    };
    let size: usize = inner.iter().product();
    let parts = values.chunks(size);
    parts.map(|part| nested(part.to_vec(), inner)).collect()
}
