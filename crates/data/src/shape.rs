//! The form that all samples of a model have: `[CLS]`, tokens, padding.

use crate::cls::{CLS, ClsPlace};
use crate::config::DatasetConfig;

/// The form that all samples of a model have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleShape {
    /// Tokens per sample, without `[CLS]`.
    pub seq_len: usize,
    /// Number of different tokens, including `[CLS]` = 0 if samples have it.
    pub vocab_size: u32,
    /// The place of `[CLS]`.
    pub cls: ClsPlace,
    /// The token that fills shorter samples; without one, all samples must have `seq_len` tokens.
    pub padding_token: Option<u32>,
}

impl SampleShape {
    /// The shape of a config's samples.
    pub fn new(config: &DatasetConfig, padding_token: Option<u32>) -> Self {
        Self {
            seq_len: config.seq_len,
            vocab_size: config.vocab_size,
            cls: config.cls,
            padding_token,
        }
    }

    /// Appends a sample from outside to `into`: adds `[CLS]` where the shape has it, unless `has_cls` says that the sample
    /// holds it, and padding after its last token.
    ///
    /// # Errors
    /// When the sample does not have this shape; the message gives the reason.
    pub fn arrange(self, tokens: &[u32], has_cls: bool, into: &mut Vec<u32>) -> Result<(), String> {
        let Self {
            seq_len,
            vocab_size,
            cls,
            padding_token,
        } = self;
        let place = cls.name();
        if cls.is_in(tokens) != has_cls {
            return Err(if has_cls {
                format!("the {place} token is not [CLS] = 0, but in the first sample it is")
            } else {
                format!("the {place} token is [CLS] = 0, but in the first sample it is not")
            });
        }
        let without_cls = if has_cls { cls.without(tokens) } else { tokens };
        if cls.is_present() && without_cls.contains(&CLS) {
            return Err(if !has_cls && cls.opposite().is_in(tokens) {
                let other = cls.opposite().name();
                format!(
                    "the sample has [CLS] = 0 {other}, but data.cls is \"{place}\"; if 0 is padding, leave it out"
                )
            } else {
                format!(
                    "token 0 is [CLS], which can only be {place}; number the other tokens from 1, and leave out padding; or do without [CLS], with data.cls = \"none\""
                )
            });
        }
        if let Some(token) = without_cls.iter().find(|&&token| token >= vocab_size) {
            return Err(format!(
                "token {token} is outside the vocabulary; {}",
                self.known()
            ));
        }
        let length = without_cls.len();
        let is_shorter = (1..seq_len).contains(&length);
        if length != seq_len && !(is_shorter && padding_token.is_some()) {
            let remedy = match padding_token {
                Some(_) => format!("give 1 to {seq_len}"),
                None if is_shorter => format!(
                    "give {seq_len}, or train with model.attention.padding_token, which pads shorter samples"
                ),
                None => format!("give {seq_len}"),
            };
            let tokens = if length == 1 { "token" } else { "tokens" };
            let has_place = cls.is_present();
            let besides = if has_place { " besides [CLS] = 0" } else { "" };
            return Err(format!(
                "the sample has {length} {tokens}{besides}, but data.seq_len is {seq_len}; {remedy}"
            ));
        }
        if cls == ClsPlace::First {
            into.push(CLS);
        }
        into.extend_from_slice(without_cls);
        let padding = padding_token.unwrap_or(CLS);
        into.extend(std::iter::repeat_n(padding, seq_len - length));
        if cls == ClsPlace::Last {
            into.push(CLS);
        }
        Ok(())
    }

    /// Samples from outside, one after the other, as [`arrange`](Self::arrange) makes them; they hold `[CLS]` if the first does.
    ///
    /// # Errors
    /// When a sample does not have this shape; the message has its number, from 0.
    pub fn arrange_all<'a>(
        self,
        samples: impl IntoIterator<Item = &'a [u32]>,
    ) -> Result<Vec<u32>, String> {
        let (mut all, mut samples) = (Vec::new(), samples.into_iter().enumerate().peekable());
        let has_cls = samples.peek().is_some_and(|(_, ids)| self.cls.is_in(ids));
        samples.try_for_each(|(index, sample)| {
            let arranged = self.arrange(sample, has_cls, &mut all);
            arranged.map_err(|reason| format!("sample {index}: {reason}"))
        })?;
        Ok(all)
    }

    /// Refuses padding between the tokens of a sample, and samples of padding alone: a new token of a later file may have
    /// the id of the padding.
    ///
    /// # Errors
    /// What is wrong, and which tokens samples can have.
    pub fn check_padding(self, sample: &[u32]) -> Result<(), String> {
        let without_cls = self.cls.without(sample);
        let Some(token) = self.padding_token else {
            return Ok(());
        };
        let parts = without_cls.split(|&id| id == token);
        if parts.filter(|part| !part.is_empty()).count() == 1 {
            return Ok(());
        }
        Err(format!(
            "token {token} is the padding token, which may not stand between other tokens, nor alone; leave it out; {}",
            self.known()
        ))
    }

    /// Whether a label of a token counts: neither that of `[CLS]` nor that of padding does.
    pub(crate) fn counts(self, token: u32) -> bool {
        Some(token) != self.padding_token && (token != CLS || !self.cls.is_present())
    }

    /// The tokens that samples can have, for messages.
    fn known(self) -> String {
        let (mut first, mut last) = (self.cls.first_token(), self.vocab_size - 1);
        let padding = self.padding_token.map_or_else(String::new, |token| {
            last -= u32::from(token == last);
            first += u32::from(token == first);
            format!("{token} = padding")
        });
        let cls = if self.cls.is_present() {
            "0 = [CLS]"
        } else {
            ""
        };
        let others = [cls, &padding];
        let others: Vec<&str> = others.into_iter().filter(|name| !name.is_empty()).collect();
        let besides = match &others[..] {
            [] => String::new(),
            others => format!(", besides {}", others.join(" and ")),
        };
        format!(
            "data.vocab_size is {}, so tokens are {first} to {last}{besides}",
            self.vocab_size
        )
    }

    /// The values of a sample's first `count` positions that are no padding, in values of all positions: a `[CLS]` that is last counts, too.
    pub fn values_without_padding(self, values: &[u32], count: usize) -> impl Iterator<Item = u32> {
        let last = (self.cls == ClsPlace::Last).then(|| values.last().copied());
        let without_cls = &values[..count - usize::from(last.is_some())];
        without_cls.iter().copied().chain(last.flatten())
    }

    /// A sample without the padding after its last token. It keeps at least one token.
    pub fn without_padding(self, sample: &[u32]) -> impl Iterator<Item = u32> {
        let tokens = self.cls.without(sample);
        let is_padding = |token: &&u32| Some(**token) == self.padding_token;
        let padding = tokens.iter().skip(1).rev().take_while(is_padding).count();
        let content = tokens[..tokens.len() - padding].iter().copied();
        let cls = |place| (self.cls == place).then_some(CLS);
        let kept = cls(ClsPlace::First).into_iter().chain(content);
        kept.chain(cls(ClsPlace::Last))
    }
}
