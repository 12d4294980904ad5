//! Threads that share work without changing its result: who does what never decides in which order numbers are added. Where there are fewer
//! instances than threads, the others help inside of operations.

use crate::Error;
use crate::ranks::{Alone, Ranks};
use std::sync::Arc;
#[cfg(feature = "threads")]
use team::Team;

/// The most threads that can be asked for.
pub const MOST: usize = 1024;

/// A team of threads; one, where the feature `threads` is off. It may be one of several teams, each on a rank of its own: what is spread over
/// ranks says so ([`Threads::ranks`]), and everything else stays with this team.
pub struct Threads {
    #[cfg(feature = "threads")]
    team: Option<Team>,
    ranks: Option<Arc<dyn Ranks>>,
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
            Ok(Self { team: Some(Team::new(count).map_err(expected)?), ranks: None })
        }
        #[cfg(not(feature = "threads"))]
        Ok(Self::one())
    }

    /// No other thread than the caller's.
    pub fn one() -> Self {
        Self {
            #[cfg(feature = "threads")]
            team: None,
            ranks: None,
        }
    }

    /// These threads, as one of several such teams.
    pub fn among(self, ranks: Arc<dyn Ranks>) -> Self {
        Self { ranks: Some(ranks), ..self }
    }

    /// Another team like this one, on the same ranks.
    pub fn again(&self) -> Result<Self, Error> {
        Ok(Self { ranks: self.ranks.clone(), ..Self::new(self.count())? })
    }

    /// The ranks that this team is one of.
    pub fn ranks(&self) -> &dyn Ranks {
        self.ranks.as_deref().unwrap_or(&Alone)
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
        if let Some(team) = &self.team {
            return if items.len() < team.count() { team.help(items, &f) } else { team.share(items, &f) };
        }
        items.iter_mut().enumerate().for_each(|(i, item)| f(i, item));
    }

    /// What `f` gives for each number below `count`, in their order.
    pub fn map<R: Send>(&self, count: usize, f: impl Fn(usize) -> R + Sync) -> Vec<R> {
        let mut found: Vec<Option<R>> = (0..count).map(|_| None).collect();
        self.for_each(&mut found, |i, found| *found = Some(f(i)));
        found.into_iter().map(|found| found.expect("each was made")).collect()
    }

    /// Calls `f` once on each thread that may have worked: those of the team and the caller's.
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

/// A pool that survives a fork. The threads of a process are not those of its child, which would wait for them without end: the child makes a
/// pool of its own when it first needs one.
#[cfg(feature = "threads")]
mod team {
    use cinoc_tape::kernel::crew;
    use rayon::prelude::*;
    use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex, PoisonError};
    use std::time::{Duration, Instant};
    use std::{process, thread};

    /// How long a caller looks out for the last of the others before it sleeps: sleeping and waking take a large part of a short tick.
    const PATIENCE: Duration = Duration::from_micros(50);

    /// The threads of a pool. Where there is enough to do the caller takes the place of one.
    pub struct Team {
        count: usize,
        first: Pool,
        /// The pool of a child. Locked in children alone, and a child begins with one thread, so that no lock is held when it is made.
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

        /// Calls `f` for each item, each with its number, on whichever thread comes first. The caller works too: it need not wait for anybody to wake.
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

        /// The same with fewer items than threads: those that have none help inside of its operations.
        pub fn help<T: Send>(&self, items: &mut [T], f: &(impl Fn(usize, &mut T) + Sync)) {
            let Some(pool) = self.pool() else {
                return items.iter_mut().enumerate().for_each(|(i, item)| f(i, item));
            };
            let help = |count: usize, work: &(dyn Fn(usize) + Sync)| (0..count).into_par_iter().for_each(work);
            pool.install(|| items.par_iter_mut().enumerate().for_each(|(i, item)| crew::with(help, || f(i, item))));
        }

        /// The pool of this process; none where there is nobody but the caller, or where a child may start no threads.
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
        /// What threads of another process held at the fork stays held: they cannot be asked to end.
        fn drop(&mut self) {
            if !self.lives() {
                std::mem::forget(self.threads.take());
            }
        }
    }
}
