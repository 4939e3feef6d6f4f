//! Goes through all inputs, region by region: what a region holds is counted at once if its answer cannot be another, or left out if its
//! margins are too large; otherwise it is divided.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::answers::margin;
use super::bounds::Centre;
use super::near::RoundingBound;
use super::region::{Region, range};
use super::search::{Queue, Search, Tally};
use super::table::Table;
use headlight_experiment::Error;
use headlight_experiment::metrics::predicted_class;

/// Inputs that the engine computes at once.
const TOGETHER: usize = 64;

/// A region of so few inputs is not divided, since each can be computed.
const FEW: u64 = 64;

/// Where the engine answers each input, a region of so few is not divided either, and labels are found one by one.
const PART: u64 = 1 << 14;

/// Regions that threads take from one list, if there are so many.
const TASKS: usize = 256;

/// What is known of a model.
#[derive(Debug)]
pub(super) struct Model<'a> {
    pub(super) table: Table<'a>,
    /// Margins that are no larger are the engine's to find.
    pub(super) near: RoundingBound,
}

/// What a walk is for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Goal<'a> {
    /// Without one, the engine answers every input.
    pub(super) model: Option<&'a Model<'a>>,
    /// The class whose inputs with the smallest margins are listed; without one, answers are counted.
    pub(super) list: Option<usize>,
}

/// Goes through the inputs of a region, and adds to a tally what it finds.
pub(super) fn walk(
    search: &Search<'_>,
    all: Region,
    goal: Goal<'_>,
    tally: &mut Tally,
) -> Result<(), Error> {
    let worker = || {
        let mut fresh = Tally::new(search);
        fresh.smallest.clone_from(&tally.smallest);
        Worker {
            search,
            goal,
            tally: fresh,
            queue: Queue::new(search),
        }
    };
    let mut first = worker();
    let (mut tasks, mut open) = (VecDeque::from([all]), Vec::new());
    while tasks.len() < TASKS
        && let Some(region) = tasks.pop_front_if(|region| region.inputs() > goal.few())
    {
        search.progress.check_watch()?;
        first.step(&region, &mut open)?;
        tasks.extend(open.drain(..).rev());
    }
    let mut tasks = Vec::from(tasks);
    if let (Some(model), Some(class)) = (goal.model, goal.list) {
        // Where margins are small in the middle, those that an input must have to be listed soon fall.
        let lead = |task: &Region| margin(&Centre::new(&model.table, task).logits(), class);
        let mut leads: Vec<_> = tasks.into_iter().map(|task| (lead(&task), task)).collect();
        leads.sort_by(|a, b| a.0.total_cmp(&b.0));
        tasks = leads.into_iter().map(|(_, task)| task).collect();
    }
    let next = AtomicUsize::new(0);
    let parts = search.progress.each(search.threads, || {
        let mut worker = worker();
        while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut open = vec![task.clone()];
            while let Some(region) = open.pop() {
                worker.step(&region, &mut open)?;
            }
        }
        worker.end()
    })?;
    for part in parts.into_iter().chain([first.end()]) {
        tally.add(part?);
    }
    Ok(())
}

impl Goal<'_> {
    /// Inputs of a region that is not divided.
    fn few(&self) -> u64 {
        self.model.map_or(PART, |_| FEW)
    }
}

/// One thread's part.
struct Worker<'a> {
    search: &'a Search<'a>,
    goal: Goal<'a>,
    tally: Tally,
    queue: Queue<'a>,
}

impl Worker<'_> {
    /// What was counted.
    fn end(mut self) -> Result<Tally, Error> {
        self.ask()?;
        Ok(self.tally)
    }

    /// Asks the engine about the inputs that wait for it.
    fn ask(&mut self) -> Result<(), Error> {
        self.queue.ask(&mut self.tally, self.goal.list.is_none())
    }

    /// Decides what it can of a region, and adds the rest in two parts to those that are open.
    fn step(&mut self, region: &Region, open: &mut Vec<Region>) -> Result<(), Error> {
        let search = self.search;
        if search.progress.is_stopped() {
            return Ok(());
        }
        if let (Some(class), Some(labels)) = (self.goal.list, search.labels)
            && labels.count(&region.tokens()).of_class[class] == 0
        {
            return Ok(());
        }
        if region.inputs() <= self.goal.few() {
            return self.compute(region);
        }
        let (class, least, decide) = self.bounds(region);
        // The position whose tokens differ most.
        let spread = |&position: &usize| {
            let [low, high] = range(least[position].iter().copied());
            high - low
        };
        let several = (0..least.len()).filter(|&position| least[position].len() > 1);
        let widest = several.max_by(|a, b| spread(a).total_cmp(&spread(b)));
        let position = widest.unwrap_or(0);
        let values = &least[position];
        let (decided, mut left): (Vec<usize>, Vec<usize>) =
            (0..values.len()).partition(|&token| decide && values[token] > 0.0);
        if self.goal.list.is_none() && !decided.is_empty() {
            self.add(&region.with(position, &decided), class as u32)?;
        }
        left.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
        if let (Some(&first), Some(&last)) = (left.first(), left.last()) {
            let middle = f64::midpoint(values[first], values[last]);
            let low = left.partition_point(|&token| values[token] < middle);
            let low = if low == 0 { left.len() / 2 } else { low };
            let (low, high) = left.split_at(low);
            let halves = [high, low].into_iter().filter(|half| !half.is_empty());
            open.extend(halves.map(|half| region.with(position, half)));
        }
        Ok(())
    }

    /// A class, how far each token of a region makes sure of it ([`Centre::least`]), and whether what is above 0 is decided.
    fn bounds(&self, region: &Region) -> (usize, Vec<Vec<f64>>, bool) {
        let Some(model) = self.goal.model else {
            let none = |tokens: &&[u32]| vec![0.0; tokens.len()];
            return (0, region.tokens().iter().map(none).collect(), false);
        };
        let (centre, near) = (Centre::new(&model.table, region), model.near);
        let logits = centre.logits();
        let (class, threshold, decide) = match self.goal.list {
            None => {
                let can_label = self.search.labels.is_some() || region.inputs() <= PART;
                (predicted_class(&logits) as usize, near.least, can_label)
            }
            Some(class) => match self.tally.smallest[class].limit() {
                limit if limit.is_finite() => (class, limit + near.least, true),
                // Without a limit, only the order matters.
                _ => (class, margin(&logits, class), false),
            },
        };
        (class, centre.least(class, threshold, near.scaled), decide)
    }

    /// Counts the inputs of a region, all of which have the same answer.
    fn add(&mut self, region: &Region, answer: u32) -> Result<(), Error> {
        let (search, tally) = (self.search, &mut self.tally);
        if let Some(labels) = search.labels {
            let tokens = region.tokens();
            let counts = labels.count(&tokens);
            for (class, &count) in counts.of_class.iter().enumerate() {
                tally.inputs[class] += count;
                if class != answer as usize && count > 0 {
                    tally.wrong[class] += count;
                    let into = &mut tally.tokens[class];
                    labels.add_tokens(&tokens, &counts, class as u32, into);
                }
            }
        } else {
            region.each(|_, tokens| {
                tally.count(search, tokens, search.label(tokens), answer);
                Ok(())
            })?;
        }
        search.progress.add(region.inputs());
        Ok(())
    }

    /// Goes through the inputs of a region.
    fn compute(&mut self, region: &Region) -> Result<(), Error> {
        let (search, goal) = (self.search, self.goal);
        match goal.model {
            None => region.each(|_, tokens| self.wait(tokens, search.label(tokens)))?,
            Some(model) => model.table.each(region, |tokens, logits, inverse| {
                let (label, answer) = (search.label(tokens), predicted_class(logits));
                let (class, limit) = match goal.list {
                    Some(class) => (class, self.tally.smallest[class].limit()),
                    None => (answer as usize, 0.0),
                };
                let is_small = margin(logits, class) <= limit + model.near.at(inverse);
                match goal.list {
                    None if !is_small => self.tally.count(search, tokens, label, answer),
                    Some(class) if !is_small || label as usize != class => {}
                    _ => self.wait(tokens, label)?,
                }
                Ok(())
            })?,
        }
        if goal.list.is_none() {
            search.progress.add(region.inputs());
        }
        Ok(())
    }

    /// Leaves an input to the engine.
    fn wait(&mut self, tokens: &[u32], label: u32) -> Result<(), Error> {
        match self.queue.push(tokens, label) {
            TOGETHER => self.ask(),
            _ => Ok(()),
        }
    }
}
