//! One sort for values of all types.

use std::cmp::Ordering;

/// The numbers below `count` in the order of a comparison; equal ones stay as they are.
///
/// The compiler makes a sort for each type and comparison, which is 4 kB of the page's module. Where time does not matter, this is
/// the one for all.
#[inline(never)]
pub fn order(count: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&one, &other| compare(one, other));
    order
}
