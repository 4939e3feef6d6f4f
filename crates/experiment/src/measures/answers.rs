//! How a model answers many samples.

/// Answers, counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Answers {
    pub(super) count: u64,
    pub(super) right: u64,
    /// Wrong answers that name another token of the sample.
    pub(super) of_another_token: u64,
}

impl Answers {
    pub(super) fn add(&mut self, other: Self) {
        self.count += other.count;
        self.right += other.right;
        self.of_another_token += other.of_another_token;
    }

    /// Counts the answer to a sample.
    pub(super) fn answer(&mut self, tokens: &[u32], label: u32, predicted: u32) {
        self.count += 1;
        if predicted == label {
            self.right += 1;
        } else if tokens.contains(&predicted) {
            self.of_another_token += 1;
        }
    }
}
