//! Threads that share the steps of one run.

use std::fmt;
use std::{
    hint,
    sync::Arc,
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use headlight_fused::Team;

/// The calling thread, and others if there are any.
#[derive(Default)]
pub(crate) struct Threads {
    pool: Option<rayon_core::ThreadPool>,
    /// Pieces of work so far.
    pieces: Arc<AtomicUsize>,
}

/// How long a thread waits for the next piece of work before it sleeps. A step takes less; to wake it takes about 50 µs.
const PATIENCE: Duration = Duration::from_micros(200);

impl Threads {
    /// So many threads with the calling one, or that one alone if the system gives no others.
    pub(crate) fn new(count: usize) -> Self {
        let builder = rayon_core::ThreadPoolBuilder::new().num_threads(count);
        // The calling thread takes a share of the work: to hand all of it over would take longer than a small step.
        let start = || builder.use_current_thread().build().ok();
        Self {
            pool: if count > 1 { start() } else { None },
            ..Self::default()
        }
    }

    /// Keeps the other threads awake until the next piece of work begins.
    fn keep_awake(&self, pool: &rayon_core::ThreadPool, others: usize, piece: usize) {
        for _ in 0..others {
            let pieces = Arc::clone(&self.pieces);
            pool.spawn(move || {
                let start = Instant::now();
                while pieces.load(Ordering::Relaxed) == piece && start.elapsed() < PATIENCE {
                    (0..20).for_each(|_| hint::spin_loop());
                }
            });
        }
    }
}

impl fmt::Debug for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Threads").field(&self.threads()).finish()
    }
}

impl Team for Threads {
    fn threads(&self) -> usize {
        let pool = self.pool.as_ref();
        pool.map_or(1, rayon_core::ThreadPool::current_num_threads)
    }

    fn each<T: Send>(&self, parts: &mut [T], work: impl Fn(usize, &mut T) + Sync) {
        let (Some(pool), [first, others @ ..]) = (&self.pool, &mut *parts) else {
            return headlight_fused::SingleThread.each(parts, work);
        };
        let (work, waiting) = (&work, others.len());
        let piece = self.pieces.fetch_add(1, Ordering::Relaxed) + 1;
        pool.in_place_scope(|scope| {
            for (index, part) in others.iter_mut().enumerate() {
                scope.spawn(move |_| work(index + 1, part));
            }
            work(0, first);
        });
        self.keep_awake(pool, waiting, piece);
    }
}
