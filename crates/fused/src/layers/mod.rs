//! The layers of a pass, each with its forward and its backward pass; `mask`, `elements` and `dropout` are what several need.
//!
//! Each piece is compiled by itself for each set of instructions. Compiled as one, the passes took minutes.
//!
//! # What was tried
//!
//! - Tiles of three rows in the products of matrices: they need more registers than AVX2 has.
//! - Products for a `d_model` of 16 or heads of 8 that the compiler knows: no gain.
//! - AVX-512 with eight lanes: a small gain. Sixteen lanes are up to twice as fast, where products name its instructions: of
//!   plain loops the compiler makes pairs of short vectors.
//! - Loops over lanes whose turns the compiler takes side by side, and transposes all that they read and write: five times
//!   as slow. `one_at_a_time` and flat slices prevent it.
//! - Rows of gradients that are kept an odd number of cache lines apart, and tiles of four inputs that hold the sums of many
//!   passes in registers: no gain.
//! - Smaller tiles of queries, which the first cache would hold: no gain. The exponential takes longer than the memory.

pub(crate) mod activation;
mod attention;
mod dropout;
pub(crate) mod elements;
mod embedding;
mod feed_forward;
mod loss;
mod mask;
pub(crate) mod norm;
mod read_row;
mod readout;
pub(crate) mod residual;
mod rotary;
mod softmax;
