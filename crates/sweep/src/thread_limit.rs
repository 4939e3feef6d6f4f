//! How many threads this process has room for, if its address space is limited (`ulimit -v`).

use std::fs;

/// The address space that a thread takes: 64 MiB that the C library reserves for its memory, its stack of 2 MiB, and
/// what it trains.
const PER_THREAD: u64 = 72 << 20;

/// What is left to the thread that writes the results.
const RESERVE: u64 = 16 << 20;

/// How many threads fit; any number where nothing is limited, or the system does not tell.
pub(crate) fn threads_that_fit() -> usize {
    let limit = number_after("/proc/self/limits", "Max address space", 1);
    let used = number_after("/proc/self/status", "VmSize:", 1 << 10);
    limit.zip(used).map_or(usize::MAX, |(limit, used)| {
        (limit.saturating_sub(used).saturating_sub(RESERVE) / PER_THREAD) as usize
    })
}

/// The first word after a name at the start of a line, as a number of `unit` bytes.
fn number_after(path: &str, name: &str, unit: u64) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    let number = rest.split_whitespace().next()?.parse::<u64>().ok()?;
    number.checked_mul(unit)
}
