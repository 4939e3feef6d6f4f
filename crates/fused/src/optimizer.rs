//! The optimizers: Adam (Kingma and Ba 2015), as Keras and as PyTorch compute it, and SGD. What each keeps between steps.

use crate::instructions::for_each_isa;
use crate::lanes::{square, zero_below};
use crate::training::{Adam, AdamW, Optimizer, Sgd};

/// Running means over all parameters. With SGD, the first has the direction of the last step.
#[derive(Clone, Debug)]
pub(crate) struct Moments {
    pub(crate) first: Vec<f32>,
    pub(crate) second: Vec<f32>,
    pub(crate) steps: u32,
    /// `beta_1` and `beta_2` to the power of `steps`.
    powers: [f64; 2],
}

for_each_isa! {
    /// Moves the parameters against their gradient and sets the gradient to zero. `squares` replaces the squared gradient of the
    /// first parameters, and is set to zero too.
    pub(crate) fn update<'a>(
        moments: &'a mut Moments, optimizer: &'a Optimizer, parameters: &'a mut [f32], gradient: &'a mut [f32],
        squares: &'a mut [f32],
    ) {
        moments.count(optimizer);
        match optimizer {
            Optimizer::Adam(adam) => moments.adam(adam, parameters, gradient, squares),
            Optimizer::AdamW(adam) => moments.adam_w(adam, parameters, gradient),
            Optimizer::Sgd(sgd) => moments.sgd(sgd, parameters, gradient),
        }
    }
}

impl Moments {
    pub(crate) fn new(parameters: usize) -> Self {
        Self {
            first: vec![0.0; parameters],
            second: vec![0.0; parameters],
            steps: 0,
            powers: [1.0; 2],
        }
    }

    /// The moments after `steps` steps.
    pub(crate) fn after(
        steps: u32,
        optimizer: &Optimizer,
        first: Vec<f32>,
        second: Vec<f32>,
    ) -> Self {
        let mut moments = Self {
            first,
            second,
            ..Self::new(0)
        };
        // The same multiplications as step by step, so that they round to the same bits.
        for _ in 0..steps {
            moments.count(optimizer);
        }
        moments
    }

    /// Counts one step.
    fn count(&mut self, optimizer: &Optimizer) {
        self.steps += 1;
        let betas = match optimizer {
            Optimizer::Adam(adam) => {
                [adam.beta_1, adam.beta_2].map(|beta| f64::from(beta as f32)) // as Keras has them
            }
            // `1 - beta_2` of the nearest float32 would be off by 1e-5, and so would the first steps.
            Optimizer::AdamW(AdamW { adam, .. }) => [adam.beta_1, adam.beta_2],
            Optimizer::Sgd(_) => return,
        };
        // Powers by multiplication: libraries differ in the last bits of `powf`.
        for (power, beta) in self.powers.iter_mut().zip(betas) {
            *power *= beta;
        }
    }

    /// `w = (1 - rate decay) w - rate (m / (1 - beta_1^t)) / (sqrt(v) / sqrt(1 - beta_2^t) + epsilon)`
    #[inline(always)]
    fn adam_w(&mut self, settings: &AdamW, parameters: &mut [f32], gradient: &mut [f32]) {
        let AdamW { adam, weight_decay } = settings;
        let kept = (1.0 - adam.learning_rate * weight_decay) as f32;
        let rate = (adam.learning_rate / (1.0 - self.powers[0])) as f32;
        let root = ((1.0 - self.powers[1]) as f32).sqrt();
        let (gain_1, gain_2) = ((1.0 - adam.beta_1) as f32, (1.0 - adam.beta_2) as f32);
        let epsilon = adam.epsilon as f32;
        let count = parameters.len();
        let (first, second) = (&mut self.first[..count], &mut self.second[..count]);
        let gradient = &mut gradient[..count];
        for i in 0..count {
            let g = gradient[i];
            gradient[i] = 0.0;
            let v = zero_below(1e-30, second[i] + (square(g) - second[i]) * gain_2);
            let m = zero_below(1e-30, first[i] + (g - first[i]) * gain_1);
            first[i] = m;
            second[i] = v;
            parameters[i] = parameters[i] * kept - rate * m / (v.sqrt() / root + epsilon);
        }
    }

    #[inline(always)]
    fn sgd(&mut self, settings: &Sgd, parameters: &mut [f32], gradient: &mut [f32]) {
        let (rate, momentum) = (settings.learning_rate as f32, settings.momentum as f32);
        let count = parameters.len();
        let (first, gradient) = (&mut self.first[..count], &mut gradient[..count]);
        for i in 0..count {
            let direction = zero_below(1e-30, momentum * first[i] + gradient[i]);
            gradient[i] = 0.0;
            first[i] = direction;
            parameters[i] -= rate * direction;
        }
    }

    #[inline(always)]
    fn adam(
        &mut self,
        adam: &Adam,
        parameters: &mut [f32],
        gradient: &mut [f32],
        squares: &mut [f32],
    ) {
        // In f32, as in Keras.
        let correction_1 = 1.0 - self.powers[0] as f32;
        let correction_2 = 1.0 - self.powers[1] as f32;
        let rate = adam.learning_rate as f32 * correction_2.sqrt() / correction_1;
        let step = AdamStep {
            rate,
            gain_1: (1.0 - adam.beta_1) as f32,
            gain_2: (1.0 - adam.beta_2) as f32,
            epsilon: adam.epsilon as f32,
        };
        let split = squares.len();
        let (tokens, others) = parameters.split_at_mut(split);
        let (first, other_first) = self.first.split_at_mut(split);
        let (second, other_second) = self.second.split_at_mut(split);
        let (gradient, other_gradient) = gradient.split_at_mut(split);
        step.update(tokens, first, second, gradient, |index, _| squares[index]);
        step.update(others, other_first, other_second, other_gradient, |_, g| {
            square(g)
        });
        squares.fill(0.0);
    }
}

/// The factors of a step of Keras's Adam.
struct AdamStep {
    rate: f32,
    gain_1: f32,
    gain_2: f32,
    epsilon: f32,
}

impl AdamStep {
    #[inline(always)]
    fn update(
        &self,
        parameters: &mut [f32],
        first: &mut [f32],
        second: &mut [f32],
        gradient: &mut [f32],
        squares: impl Fn(usize, f32) -> f32,
    ) {
        let count = parameters.len();
        let (first, second) = (&mut first[..count], &mut second[..count]);
        let gradient = &mut gradient[..count];
        for i in 0..count {
            let g = gradient[i];
            gradient[i] = 0.0;
            // A gradient of 1e-15 moves nothing at an epsilon of 1e-7, and its moments would soon be
            // subnormal.
            let v = second[i] + (squares(i, g) - second[i]) * self.gain_2;
            let v = zero_below(1e-30, v);
            let m = first[i] + (g - first[i]) * self.gain_1;
            let m = if v == 0.0 { 0.0 } else { zero_below(1e-30, m) };
            first[i] = m;
            second[i] = v;
            parameters[i] -= m * self.rate / (v.sqrt() + self.epsilon);
        }
    }
}
