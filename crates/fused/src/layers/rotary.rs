//! Rotary positions (Su et al. 2021): queries and keys are rotated by angles that grow with their position. Component `i`
//! of a head, in the first half, is paired with component `i + d_head / 2`, as in GPT-NeoX:
//!
//! ```text
//! (a, b) becomes (a cos - b sin, b cos + a sin)
//! ```
//!
//! The derivative rotates back.

use crate::instructions::for_each_isa;
use crate::kernel::Sizes;
use crate::lanes::Lanes;

for_each_isa! {
    /// Rotates rows of all heads side by side; the first is at position `first`. `tables` has the cosines and the sines,
    /// `[position, d_head / 2]`; `sign` is -1 to rotate back.
    pub(crate) fn rotate<'a, L>(
        rows: &'a mut [Lanes<L>], sizes: Sizes, first: usize, tables: &'a [Vec<f32>; 2], sign: f32,
    ) {
        let half = sizes.d_head / 2;
        for (index, row) in rows.chunks_exact_mut(sizes.heads_width).enumerate() {
            let start = (first + index) * half;
            let [cosines, sines] = [&tables[0][start..][..half], &tables[1][start..][..half]];
            for head in 0..sizes.n_heads {
                let (upper, lower) = row[2 * half * head..][..2 * half].split_at_mut(half);
                for i in 0..half {
                    let (cosine, sine) = (cosines[i], sign * sines[i]);
                    let (a, b) = (upper[i], lower[i]);
                    for l in 0..L {
                        upper[i][l] = a[l] * cosine - b[l] * sine;
                        lower[i][l] = b[l] * cosine + a[l] * sine;
                    }
                }
            }
        }
    }
}
