//! Threads that share work without changing its result: who does what never decides in which order numbers are added.

use crate::Error;

/// The most threads that can be asked for.
pub const MOST: usize = 1024;

/// A team of threads; one, where the feature `threads` is off.
pub struct Threads {
    #[cfg(feature = "threads")]
    pool: Option<rayon::ThreadPool>,
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
            let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build();
            let expected = |e| Error::bad("--threads", count.to_string(), format!("fewer: they cannot be started ({e})"));
            Ok(Self { pool: Some(pool.map_err(expected)?) })
        }
        #[cfg(not(feature = "threads"))]
        Ok(Self::one())
    }

    /// No other thread than the caller's.
    pub fn one() -> Self {
        Self {
            #[cfg(feature = "threads")]
            pool: None,
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        #[cfg(feature = "threads")]
        if let Some(pool) = &self.pool {
            return pool.current_num_threads();
        }
        1
    }

    /// Calls `f` for each item, each with its number.
    pub fn for_each<T: Send>(&self, items: &mut [T], f: impl Fn(usize, &mut T) + Sync) {
        #[cfg(feature = "threads")]
        if let Some(pool) = &self.pool {
            use rayon::prelude::*;
            return pool.install(|| items.par_iter_mut().enumerate().for_each(|(i, item)| f(i, item)));
        }
        items.iter_mut().enumerate().for_each(|(i, item)| f(i, item));
    }

    /// What `f` gives for each number below `count`, in their order.
    pub fn map<R: Send>(&self, count: usize, f: impl Fn(usize) -> R + Sync) -> Vec<R> {
        #[cfg(feature = "threads")]
        if let Some(pool) = &self.pool {
            use rayon::prelude::*;
            return pool.install(|| (0..count).into_par_iter().map(&f).collect());
        }
        (0..count).map(f).collect()
    }

    /// Calls `f` once on each thread.
    pub fn broadcast<R: Send>(&self, f: impl Fn() -> R + Sync) -> Vec<R> {
        #[cfg(feature = "threads")]
        if let Some(pool) = &self.pool {
            return pool.broadcast(|_| f());
        }
        vec![f()]
    }
}
