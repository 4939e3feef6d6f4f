//! What stands around attention and around a feed-forward layer: the residual addition, and a norm before or after.
//!
//! ```text
//! norm after (post):   y = norm(x + c W + b)
//! norm before (pre):   y = x + c W + b,       c is made from norm(x)
//! no norm:             y = x + c W + b,       c is made from x
//! ```

use headlight_architecture::NormPlace;

use super::norm::NormValues;
use crate::aligned::Aligned;
use crate::gradients::Gradients;
use crate::kernel::Kernel;
use crate::lanes::Lanes;
use crate::parameters::Norm;

/// The values of a norm and of a residual addition.
#[derive(Clone, Debug)]
pub(crate) struct Sublayer<const L: usize> {
    place: NormPlace,
    /// Empty without a norm.
    norm: NormValues<L>,
    /// The input plus what was computed of it; empty where the norm follows, which has it then. `[position, d_model]`
    sum: Aligned<L>,
}

impl<const L: usize> Sublayer<L> {
    /// Room for rows of a padded width.
    pub(crate) fn new(place: NormPlace, rows: usize, width: usize) -> Self {
        let [with_norm, with_sum] = [NormPlace::None, NormPlace::Post]
            .map(|without| if place == without { 0 } else { rows });
        Self {
            place,
            norm: NormValues::new(with_norm, width),
            sum: Aligned::zeros(with_sum * width),
        }
    }

    /// With the norm first, normalises the input.
    pub(crate) fn normalize_before(
        &mut self,
        k: Kernel<'_>,
        slots: Option<Norm>,
        input: &[Lanes<L>],
    ) {
        if let (NormPlace::Pre, Some(slots)) = (self.place, slots) {
            self.norm.forward_of(k, slots, input);
        }
    }

    /// What attention or the feed-forward layer reads: the sublayer's own input, or that after the norm.
    #[inline(always)]
    pub(crate) fn source<'a>(&'a self, input: &'a [Lanes<L>]) -> &'a [Lanes<L>] {
        match self.place {
            NormPlace::Pre => &self.norm.output,
            NormPlace::Post | NormPlace::None => input,
        }
    }

    /// The residual.
    #[inline(always)]
    pub(crate) fn residual_mut(&mut self) -> &mut [Lanes<L>] {
        match self.place {
            NormPlace::Post => &mut self.norm.normalized,
            NormPlace::Pre | NormPlace::None => &mut self.sum,
        }
    }

    /// With the norm last, normalises the residuals of some rows.
    pub(crate) fn normalize_after(&mut self, k: Kernel<'_>, slots: Option<Norm>, rows: usize) {
        if let (NormPlace::Post, Some(slots)) = (self.place, slots) {
            self.norm.forward(k, slots, rows);
        }
    }

    /// What it gives on: the residual, or that after the norm.
    #[inline(always)]
    pub(crate) fn output(&self) -> &[Lanes<L>] {
        match self.place {
            NormPlace::Post => &self.norm.output,
            NormPlace::Pre | NormPlace::None => &self.sum,
        }
    }

    #[inline(always)]
    pub(crate) fn output_mut(&mut self) -> &mut [Lanes<L>] {
        match self.place {
            NormPlace::Post => &mut self.norm.output,
            NormPlace::Pre | NormPlace::None => &mut self.sum,
        }
    }

    /// From the gradient of the output to that of the residual, in place.
    pub(crate) fn backward_after(
        &self,
        k: Kernel<'_>,
        slots: Option<Norm>,
        gradient: &mut [Lanes<L>],
        gradients: &mut Gradients<'_>,
    ) {
        if let (NormPlace::Post, Some(slots)) = (self.place, slots) {
            self.norm.backward(k, slots, gradient, gradients);
        }
    }

    /// From the gradient of the [`source`](Self::source) to that of the input, in place.
    pub(crate) fn backward_before(
        &self,
        k: Kernel<'_>,
        slots: Option<Norm>,
        gradient: &mut [Lanes<L>],
        gradients: &mut Gradients<'_>,
    ) {
        if let (NormPlace::Pre, Some(slots)) = (self.place, slots) {
            self.norm.backward(k, slots, gradient, gradients);
        }
    }
}
