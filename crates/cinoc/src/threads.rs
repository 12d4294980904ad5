//! Threads that share work without changing its result: the order of summation does not depend on which thread does
//! what. Where there are fewer instances than threads, the others help inside of operations.

use crate::Error;
use crate::ranks::{Ranks, SingleRank};
use std::sync::Arc;
#[cfg(feature = "threads")]
use team::Team;

/// Maximum number of threads.
#[doc(hidden)]
pub const MOST: usize = 1024;

/// A team of threads; a single one where the feature `threads` is off. It may be one of several teams, each on a
/// separate rank: functions that distribute work over ranks say so ([`Threads::ranks`]), all others use this team
/// alone.
pub struct Threads {
    #[cfg(feature = "threads")]
    team: Option<Team>,
    ranks: Option<Arc<dyn Ranks>>,
}

impl Threads {
    /// Starts `count` threads; 0 means one per core.
    pub fn new(count: usize) -> Result<Self, Error> {
        if count > MOST {
            return Err(Error::bad("threads", count.to_string(), format!("from 0 (all cores) to {MOST}")));
        }
        if count == 1 {
            return Ok(Self::single());
        }
        #[cfg(feature = "threads")]
        {
            let expected = |e| Error::bad("threads", count.to_string(), format!("fewer: they cannot be started ({e})"));
            Ok(Self { team: Some(Team::new(count).map_err(expected)?), ranks: None })
        }
        #[cfg(not(feature = "threads"))]
        Ok(Self::single())
    }

    /// Uses only the calling thread.
    pub fn single() -> Self {
        Self {
            #[cfg(feature = "threads")]
            team: None,
            ranks: None,
        }
    }

    /// Joins these threads to a job of several ranks.
    #[doc(hidden)]
    pub fn on_ranks(self, ranks: Arc<dyn Ranks>) -> Self {
        Self { ranks: Some(ranks), ..self }
    }

    /// Starts another team of equal size on the same ranks.
    #[doc(hidden)]
    pub fn try_clone(&self) -> Result<Self, Error> {
        Ok(Self { ranks: self.ranks.clone(), ..Self::new(self.count())? })
    }

    /// Returns the ranks of the job.
    #[doc(hidden)]
    pub fn ranks(&self) -> &dyn Ranks {
        self.ranks.as_deref().unwrap_or(&SingleRank)
    }

    /// Returns the number of threads.
    pub fn count(&self) -> usize {
        #[cfg(feature = "threads")]
        if let Some(team) = &self.team {
            return team.count();
        }
        1
    }

    /// Calls `f` for each item with its index.
    #[doc(hidden)]
    pub fn for_each<T: Send>(&self, items: &mut [T], f: impl Fn(usize, &mut T) + Sync) {
        #[cfg(feature = "threads")]
        if let Some(team) = &self.team {
            return if items.len() < team.count() { team.help(items, &f) } else { team.share(items, &f) };
        }
        items.iter_mut().enumerate().for_each(|(i, item)| f(i, item));
    }

    /// Returns the results of `f` for each index below `count`, in order.
    #[doc(hidden)]
    pub fn map<R: Send>(&self, count: usize, f: impl Fn(usize) -> R + Sync) -> Vec<R> {
        let mut found: Vec<Option<R>> = (0..count).map(|_| None).collect();
        self.for_each(&mut found, |i, found| *found = Some(f(i)));
        found.into_iter().map(|found| found.expect("each was made")).collect()
    }

    /// Calls `f` once on each thread that may have worked: those of the team and the caller's.
    #[doc(hidden)]
    pub fn broadcast<R: Send>(&self, f: impl Fn() -> R + Sync) -> Vec<R> {
        #[cfg(feature = "threads")]
        if let Some(pool) = self.team.as_ref().and_then(Team::pool) {
            let mut all = pool.broadcast(|_| f());
            all.push(f());
            return all;
        }
        vec![f()]
    }
}

/// A thread pool that survives a fork. A child process does not have the threads of its parent and would wait for them
/// forever: it starts a new pool when it first needs one.
#[cfg(feature = "threads")]
mod team {
    use cinoc_tape::kernel::parallel;
    use rayon::prelude::*;
    use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex, PoisonError};
    use std::time::{Duration, Instant};
    use std::{process, thread};

    /// Time that a caller spins for the last of the others before it sleeps: sleeping and waking take a large part of a
    /// short tick.
    const PATIENCE: Duration = Duration::from_micros(50);

    /// Threads of a pool. Where there is enough work the caller replaces one of them.
    pub struct Team {
        count: usize,
        first: Pool,
        /// Pool of a child process. Locked only in children, and a child begins with one thread, so that the lock is
        /// free at the fork.
        child: Mutex<Option<Pool>>,
    }

    impl Team {
        pub fn new(count: usize) -> Result<Self, ThreadPoolBuildError> {
            let count = if count == 0 { thread::available_parallelism().map_or(1, usize::from) } else { count };
            Ok(Self { count, first: Pool::new(count)?, child: Mutex::default() })
        }

        pub fn count(&self) -> usize {
            self.count
        }

        /// Calls `f` for each item with its index, on the next free thread. The caller works too, without waiting for
        /// others to wake.
        pub fn share<T: Send>(&self, items: &mut [T], f: &(impl Fn(usize, &mut T) + Sync)) {
            let Some(pool) = self.pool() else {
                return items.iter_mut().enumerate().for_each(|(i, item)| f(i, item));
            };
            let (count, done) = (items.len(), AtomicUsize::new(0));
            let next = Mutex::new(items.iter_mut().enumerate());
            let take = || next.lock().unwrap_or_else(PoisonError::into_inner).next();
            let work = || {
                while let Some((i, item)) = take() {
                    f(i, item);
                    done.fetch_add(1, Ordering::Release);
                }
            };
            pool.in_place_scope(|scope| {
                (1..self.count.min(count)).for_each(|_| scope.spawn(|_| work()));
                work();
                let since = Instant::now();
                while done.load(Ordering::Acquire) < count && since.elapsed() < PATIENCE {
                    std::hint::spin_loop();
                }
            });
        }

        /// Calls `f` for fewer items than threads: idle threads help inside of operations.
        pub fn help<T: Send>(&self, items: &mut [T], f: &(impl Fn(usize, &mut T) + Sync)) {
            let Some(pool) = self.pool() else {
                return items.iter_mut().enumerate().for_each(|(i, item)| f(i, item));
            };
            let help = |count: usize, work: &(dyn Fn(usize) + Sync)| (0..count).into_par_iter().for_each(work);
            pool.install(|| items.par_iter_mut().enumerate().for_each(|(i, item)| parallel::with_executor(help, || f(i, item))));
        }

        /// Returns the pool of this process; none with a single thread, or where a child process may not start threads.
        pub fn pool(&self) -> Option<Arc<ThreadPool>> {
            if self.first.lives() {
                return self.first.threads.clone();
            }
            let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
            if !child.as_ref().is_some_and(Pool::lives) {
                *child = Some(Pool::new(self.count).ok()?);
            }
            child.as_ref()?.threads.clone()
        }
    }

    /// Threads of one process.
    struct Pool {
        process: u32,
        threads: Option<Arc<ThreadPool>>,
    }

    impl Pool {
        fn new(count: usize) -> Result<Self, ThreadPoolBuildError> {
            let threads = match count {
                1 => None,
                _ => Some(Arc::new(ThreadPoolBuilder::new().num_threads(count).build()?)),
            };
            Ok(Self { process: process::id(), threads })
        }

        fn lives(&self) -> bool {
            self.process == process::id()
        }
    }

    impl Drop for Pool {
        /// Locks held by threads of another process at the fork stay locked: the threads are not joined.
        fn drop(&mut self) {
            if !self.lives() {
                std::mem::forget(self.threads.take());
            }
        }
    }
}
