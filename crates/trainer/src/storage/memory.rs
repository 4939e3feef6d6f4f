//! Memory is asked for before it is used: Rust cannot report an allocation that fails later, it ends the process.

use std::hint::black_box;

use crate::Failure;

/// Less than this is not asked for beforehand, in bytes.
const FREE: u64 = 32 << 20;

/// The memory that training takes for each parameter, in bytes: weights, gradients, both moments of Adam, the best model and
/// the copies that a checkpoint is written from. Measured.
pub const PER_PARAMETER: u64 = 57;

/// What a larger training takes besides, in bytes: dumps, reports and what the allocator holds.
const BESIDES: u64 = 64 << 20;

/// What the system sets aside for a thread, in bytes: its stack, and its arena of the allocator.
const PER_THREAD: u64 = 136 << 20;

/// Checks that the system has room for a training of so many bytes, on so many threads, at this moment.
///
/// # Errors
/// When it has not, because of `ulimit -v` or its own size.
pub fn check_training(bytes: u64, threads: usize) -> Result<(), Failure> {
    if bytes <= FREE {
        return Ok(());
    }
    check(bytes + BESIDES + PER_THREAD * (threads as u64 - 1))
}

/// Checks that the system has room for so many bytes at this moment.
///
/// # Errors
/// When it has not, because of `ulimit -v` or its own size.
pub fn check(bytes: u64) -> Result<(), Failure> {
    if bytes <= FREE {
        return Ok(());
    }
    let mut room: Vec<u8> = Vec::new();
    let found = room.try_reserve_exact(usize::try_from(bytes).unwrap_or(usize::MAX));
    // Otherwise the compiler leaves the unused memory out.
    black_box(&room);
    found.map_err(|_| {
        Failure::System(format!(
            "the model needs about {} of memory, and the system has less left; raise its limit (`ulimit -v`), or choose a smaller \
             model or shorter samples",
            headlight_input::size(bytes)
        ))
    })
}
