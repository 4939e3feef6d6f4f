//! The whole model: embeddings, blocks, and a classifier.

use burn::module::Module;
use burn::tensor::{Bool, Int, Tensor, TensorData, s};
use headlight_architecture::{DropoutPlace, Inputs, Mask, Readout};

use crate::{BlockOutput, Classifier, Dropout, Norm, TokenPositionEmbedding, TransformerBlock};

/// A transformer that classifies samples by the output at `[CLS]`, or at what its config names.
#[derive(Module, Debug)]
pub struct TransformerClassifier {
    /// Maps tokens and positions to vectors.
    pub embedding: TokenPositionEmbedding,
    /// Normalises the first block's input.
    pub embedding_norm: Option<Norm>,
    /// The blocks, in order.
    pub blocks: Vec<TransformerBlock>,
    /// Normalises the last block's output.
    pub final_norm: Option<Norm>,
    /// Maps the vector that it reads to the logits.
    pub classifier: Classifier,
    /// The properties of its samples.
    #[module(skip)]
    pub inputs: Inputs,
    /// Which keys each query may look at, by position.
    #[module(skip)]
    pub mask: Mask,
    /// The token that no query looks at, at any position.
    #[module(skip)]
    pub padding_token: Option<u32>,
    /// What the classifier reads.
    #[module(skip)]
    pub readout: Readout,
}

/// All values that a forward pass computes.
#[derive(Clone, Debug)]
pub struct ForwardOutput {
    /// Log-odds of class 1, or the logit of each class. `[answer, logit]`: an answer for each sample or, if samples have a label
    /// per position, for each position of each, those of a sample side by side.
    pub logits: Tensor<2>,
    /// The classifier's hidden layer, after the activation. `[answer, hidden]`
    pub classifier_hidden: Option<Tensor<2>>,
    /// The vectors that the classifier reads. `[answer, d_model]`
    pub pooled: Tensor<2>,
    /// The input of the first block. `[batch, position, d_model]`
    pub embeddings: Tensor<3>,
    /// Which keys each query may look at, in all blocks and heads; `None` if every query may look at every key.
    /// `[batch, query, key]`
    pub mask: Option<Tensor<3, Bool>>,
    /// The values of each block.
    pub layers: Vec<BlockOutput>,
}

impl TransformerClassifier {
    /// Computes the forward pass.
    ///
    /// # Shapes
    /// - tokens: `[batch, position]`; if samples have `[CLS]`, 0 at its position
    ///
    /// # Panics
    /// When the mask is a matrix for another number of positions.
    pub fn forward(&self, tokens: Tensor<2, Int>) -> ForwardOutput {
        let rows = self.embedding.token_rows(tokens.clone());
        self.forward_rows(tokens, rows, Dropout::default())
    }

    /// Computes the forward pass from the vectors of the tokens, with dropout. Training uses this, to get the gradient of each
    /// occurrence of a token.
    ///
    /// # Shapes
    /// - tokens: `[batch, position]`
    /// - `token_rows`: `[batch, position, d_model]`
    ///
    /// # Panics
    /// The same as [`forward`](Self::forward).
    pub fn forward_rows(
        &self,
        tokens: Tensor<2, Int>,
        token_rows: Tensor<3>,
        dropout: Dropout<'_>,
    ) -> ForwardOutput {
        let sums = self.embedding.add_positions(token_rows); // [batch, position, d_model]
        let embeddings = normalized(self.embedding_norm.as_ref(), sums); // [batch, position, d_model]
        let mask = self.mask_for(tokens.clone()); // [batch, query, key]
        let of_heads = mask.clone().map(|mask| mask.unsqueeze_dim::<4>(1)); // [batch, 1, query, key]
        let mut layers: Vec<BlockOutput> = Vec::with_capacity(self.blocks.len());
        let mut stream = dropout.apply(DropoutPlace::Embedding, embeddings.clone()); // [batch, position, d_model]
        for (layer, block) in self.blocks.iter().enumerate() {
            let layer = block.forward(stream, of_heads.clone(), (dropout, layer));
            stream = layer.output();
            layers.push(layer);
        }
        let stream = normalized(self.final_norm.as_ref(), stream); // [batch, position, d_model]
        let pooled = self.pool(stream, tokens); // [answer, d_model]
        let token_embedding = &self.embedding.token_embedding;
        let classified = self.classifier.forward(pooled.clone(), token_embedding);
        ForwardOutput {
            logits: classified.logits,
            classifier_hidden: classified.hidden,
            pooled,
            embeddings,
            mask,
            layers,
        }
    }

    /// The vectors that the classifier reads: that at a position, or the mean over all that are not padding; 0 if all are; or
    /// that of each position. `[answer, d_model]`
    fn pool(&self, stream: Tensor<3>, tokens: Tensor<2, Int>) -> Tensor<2> {
        match self.readout {
            Readout::Every => return stream.flatten(0, 1),
            Readout::Position => {
                let position = self.inputs.read_position;
                let at = stream.slice(s![.., position..position + 1, ..]); // [batch, 1, d_model]
                return at.squeeze_dim(1);
            }
            Readout::Mean => {}
        }
        let Some(padding) = self.padding_token else {
            return stream.mean_dim(1).squeeze_dim(1);
        };
        let counted = tokens.not_equal_elem(padding).float().unsqueeze_dim::<3>(2); // [batch, position, 1]
        let number = counted.clone().sum_dim(1).clamp_min(1.0); // [batch, 1, 1]
        let sum = (stream * counted).sum_dim(1); // [batch, 1, d_model]
        (sum / number).squeeze_dim(1)
    }

    /// Combines the mask by position with the one that hides padding. `[batch, query, key]`
    fn mask_for(&self, tokens: Tensor<2, Int>) -> Option<Tensor<3, Bool>> {
        let ([batch, positions], device) = (tokens.dims(), tokens.device());
        let by_position = match self.mask.matrix(positions, positions) {
            Ok(matrix) => matrix.map(|values| {
                let data = TensorData::new(values, [1, positions, positions]);
                Tensor::<3, Bool>::from_data(data, &device).expand([batch, positions, positions])
            }),
            Err(message) => panic!("{message}"),
        };
        let by_token = self.padding_token.map(|token| {
            tokens
                .not_equal_elem(token)
                .unsqueeze_dim::<3>(1)
                .expand([batch, positions, positions])
        });
        match (by_position, by_token) {
            (Some(by_position), Some(by_token)) => Some(by_position.bool_and(by_token)),
            (by_position, by_token) => by_position.or(by_token),
        }
    }
}

fn normalized(norm: Option<&Norm>, input: Tensor<3>) -> Tensor<3> {
    match norm {
        Some(norm) => norm.forward(input),
        None => input,
    }
}
