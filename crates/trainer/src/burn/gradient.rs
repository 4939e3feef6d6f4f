//! The gradient of all parameters as one vector, and the squares that Adam takes.

use burn::module::{Module, ModuleVisitor, Param, ParamId};
use burn::tensor::{Gradients, IndexingUpdateOp, Int, Tensor};
use headlight_experiment::config::TokenSecondMoment;
use headlight_model::TransformerClassifier;

/// The tokens of a batch and their embeddings. The embeddings are a leaf of the graph.
#[derive(Clone, Debug)]
pub(super) struct TokenLookup {
    /// `[batch, position]`
    pub(super) tokens: Tensor<2, Int>,
    /// `[batch, position, d_model]`
    pub(super) rows: Tensor<3>,
}

/// All gradients, flattened and joined in the model's order.
pub(super) struct FlatGradient {
    /// `[parameter]`
    pub(super) values: Tensor<1>,
    /// The squares, if those of tokens are not the squares of the values. `[parameter]`
    pub(super) squares: Option<Tensor<1>>,
}

impl FlatGradient {
    /// Joins the gradients of a model's parameters.
    pub(super) fn new(
        model: &TransformerClassifier,
        mut gradients: Gradients,
        lookup: &TokenLookup,
        token_second_moment: TokenSecondMoment,
    ) -> Self {
        let table = &model.embedding.token_embedding;
        let [vocab_size, d_model] = table.dims();
        let rows = lookup.rows.grad_remove(&mut gradients);
        // A classifier that shares the token embedding adds to its gradient directly.
        let direct = table.val().grad_remove(&mut gradients);
        let mut others = OtherGradients {
            gradients: &mut gradients,
            excluded: table.id,
            parts: Vec::new(),
        };
        model.visit(&mut others);
        // The token embedding comes first in the model's order.
        let join = |tokens: Tensor<1>, others: &[Tensor<1>]| {
            Tensor::cat([&[tokens], others].concat(), 0) // [parameter]
        };
        let others = others.parts;
        let zeros =
            Tensor::<2>::zeros([vocab_size, d_model], &lookup.rows.clone().inner().device());
        let occurrences = lookup.tokens.dims().iter().product::<usize>();
        let tokens = lookup.tokens.clone().inner().reshape([occurrences]);
        let sum_by_token = |rows: Tensor<3>| {
            let rows = rows.reshape([occurrences, d_model]);
            zeros
                .clone()
                .select_assign(0, tokens.clone(), rows, IndexingUpdateOp::Add)
                .reshape([vocab_size * d_model])
        };
        let rows = rows.unwrap_or_else(|| lookup.rows.clone().inner().zeros_like());
        let mut by_token = sum_by_token(rows.clone());
        if let Some(direct) = direct {
            by_token = by_token + direct.reshape([vocab_size * d_model]);
        }
        let squares = match token_second_moment {
            TokenSecondMoment::PerToken => None,
            TokenSecondMoment::PerOccurrence => {
                let others: Vec<_> = others.iter().map(|other| other.clone().square()).collect();
                Some(join(sum_by_token(rows.square()), &others))
            }
        };
        Self {
            values: join(by_token, &others),
            squares,
        }
    }
}

/// Collects the flattened gradients of all parameters but one.
struct OtherGradients<'a> {
    gradients: &'a mut Gradients,
    excluded: ParamId,
    parts: Vec<Tensor<1>>,
}

impl ModuleVisitor for OtherGradients<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if param.id == self.excluded {
            return;
        }
        let gradient = gradient(param, self.gradients);
        let size = gradient.shape().num_elements();
        self.parts.push(gradient.reshape([size]));
    }
}

/// Removes the gradient of a parameter: 0 for one that the loss does not depend on.
pub(super) fn gradient<const D: usize>(
    param: &Param<Tensor<D>>,
    gradients: &mut Gradients,
) -> Tensor<D> {
    let parameter = param.val();
    let gradient = parameter.grad_remove(gradients);
    gradient.unwrap_or_else(|| parameter.inner().zeros_like())
}
