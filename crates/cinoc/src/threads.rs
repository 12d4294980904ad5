//! Threads that share work without changing its result: who does what never decides in which order numbers are added.

use crate::Error;
#[cfg(feature = "threads")]
use team::Team;

/// The most threads that can be asked for.
pub const MOST: usize = 1024;

/// A team of threads; one, where the feature `threads` is off.
pub struct Threads {
    #[cfg(feature = "threads")]
    team: Option<Team>,
}

impl Threads {
    /// `count` threads; 0 takes as many as there are cores.
    pub fn new(count: usize) -> Result<Self, Error> {
        if count > MOST {
            return Err(Error::bad("--threads", count.to_string(), format!("from 0 (all cores) to {MOST}")));
        }
        if count == 1 {
            return Ok(Self::one());
        }
        #[cfg(feature = "threads")]
        {
            let expected = |e| Error::bad("--threads", count.to_string(), format!("fewer: they cannot be started ({e})"));
            Ok(Self { team: Some(Team::new(count).map_err(expected)?) })
        }
        #[cfg(not(feature = "threads"))]
        Ok(Self::one())
    }

    /// No other thread than the caller's.
    pub fn one() -> Self {
        Self {
            #[cfg(feature = "threads")]
            team: None,
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        #[cfg(feature = "threads")]
        if let Some(team) = &self.team {
            return team.count();
        }
        1
    }

    /// Calls `f` for each item, each with its number.
    pub fn for_each<T: Send>(&self, items: &mut [T], f: impl Fn(usize, &mut T) + Sync) {
        #[cfg(feature = "threads")]
        if let Some(pool) = self.team.as_ref().and_then(Team::pool) {
            use rayon::prelude::*;
            return pool.install(|| items.par_iter_mut().enumerate().for_each(|(i, item)| f(i, item)));
        }
        items.iter_mut().enumerate().for_each(|(i, item)| f(i, item));
    }

    /// What `f` gives for each number below `count`, in their order.
    pub fn map<R: Send>(&self, count: usize, f: impl Fn(usize) -> R + Sync) -> Vec<R> {
        #[cfg(feature = "threads")]
        if let Some(pool) = self.team.as_ref().and_then(Team::pool) {
            use rayon::prelude::*;
            return pool.install(|| (0..count).into_par_iter().map(&f).collect());
        }
        (0..count).map(f).collect()
    }

    /// Calls `f` once on each thread.
    pub fn broadcast<R: Send>(&self, f: impl Fn() -> R + Sync) -> Vec<R> {
        #[cfg(feature = "threads")]
        if let Some(pool) = self.team.as_ref().and_then(Team::pool) {
            return pool.broadcast(|_| f());
        }
        vec![f()]
    }
}

/// A pool that survives a fork. The threads of a process are not those of its child, which would wait for them without end: the child makes a
/// pool of its own when it first needs one.
#[cfg(feature = "threads")]
mod team {
    use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
    use std::process;
    use std::sync::{Arc, Mutex, PoisonError};

    pub struct Team {
        count: usize,
        first: Pool,
        /// The pool of a child. Locked in children alone, and a child begins with one thread, so that no lock is held when it is made.
        child: Mutex<Option<Pool>>,
    }

    impl Team {
        pub fn new(count: usize) -> Result<Self, ThreadPoolBuildError> {
            let first = Pool::new(count)?;
            let count = first.threads.as_ref().map_or(1, |threads| threads.current_num_threads());
            Ok(Self { count, first, child: Mutex::default() })
        }

        pub fn count(&self) -> usize {
            self.count
        }

        /// The pool of this process; none where a child may start no threads.
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
            let threads = ThreadPoolBuilder::new().num_threads(count).build()?;
            Ok(Self { process: process::id(), threads: Some(Arc::new(threads)) })
        }

        fn lives(&self) -> bool {
            self.process == process::id()
        }
    }

    impl Drop for Pool {
        /// What threads of another process held at the fork stays held: they cannot be asked to end.
        fn drop(&mut self) {
            if !self.lives() {
                std::mem::forget(self.threads.take());
            }
        }
    }
}
