//! Products of matrices (`multiply`), one sample per lane, and sums over samples, one column per lane (`sums`).

mod multiply;
mod sums;

pub(crate) use multiply::{Apart, Grid, SideBySide, Target, multiply, multiply_all};
pub(crate) use sums::{Block, add_products, to_rows};
