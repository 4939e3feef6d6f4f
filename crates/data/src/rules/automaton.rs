//! Rules that read a sample token by token.

/// How a rule finds a sample's class in one pass from its first position to its last, `[CLS]` included. The state is 0 before the first
/// token. Two beginnings of samples have the same state if any later tokens lead both to the same class.
pub struct Automaton<'a> {
    /// The state after a token at a position.
    pub step: Box<dyn Fn(u64, usize, u32) -> u64 + Send + Sync + 'a>,
    /// The class of samples that end in a state.
    pub class: Box<dyn Fn(u64) -> u32 + Send + Sync + 'a>,
}

impl<'a> Automaton<'a> {
    pub(super) fn new(
        step: impl Fn(u64, usize, u32) -> u64 + Send + Sync + 'a,
        class: impl Fn(u64) -> u32 + Send + Sync + 'a,
    ) -> Self {
        Self {
            step: Box::new(step),
            class: Box::new(class),
        }
    }

    /// The class of a whole sample.
    pub(super) fn read(&self, tokens: &[u32]) -> u32 {
        let tokens = tokens.iter().enumerate();
        let end = tokens.fold(0, |state, (index, &token)| (self.step)(state, index, token));
        (self.class)(end)
    }

    /// The automaton of a rule whose class is the number of tokens that count, capped at `most`.
    pub(super) fn counting(
        counts: impl Fn(usize, u32) -> bool + Send + Sync + 'a,
        most: u32,
    ) -> Self {
        let most = u64::from(most);
        Self::new(
            move |count, position, token| most.min(count + u64::from(counts(position, token))),
            |count| count as u32,
        )
    }
}
