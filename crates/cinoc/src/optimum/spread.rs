//! Searches on all ranks at once: each has its own, and what one finds is told on every one while the others go on.

use super::{Listen, Record};
use crate::ranks::Ranks;
use crate::threads::Threads;
use crate::{Error, Real};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::mem::take;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

/// The longest that ranks go without hearing of each other.
const ROUND: Duration = Duration::from_millis(200);

/// The thread on which a rank's own work is handed out.
type Worker<'s> = ScopedJoinHandle<'s, Result<(), Error>>;

/// Does `count` pieces of work, on all threads of all ranks.
pub fn spread<T: Record + Serialize + DeserializeOwned + Send>(
    threads: &Threads,
    count: usize,
    listen: &dyn Listen<T>,
    work: impl Fn(usize, &dyn Listen<T>) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    let ranks = threads.ranks();
    if ranks.count() == 1 {
        return threads.map(count, |i| work(i, listen)).into_iter().collect();
    }
    let (own, news) = (ranks.own(count), News::default());
    thread::scope(|scope| {
        // Ranks talk on the thread that called: while it computed, nobody could be told anything.
        let worker = scope.spawn(|| {
            let _end = End(&news);
            threads.map(own.len(), |i| work(own.start + i, &news)).into_iter().collect()
        });
        let told = news.exchange(ranks, listen, worker);
        // Where a rank has failed there is no use in going on.
        news.stop.fetch_or(told.is_err(), Ordering::Relaxed);
        told
    })
}

/// The end of a rank's own work, also by a panic.
struct End<'a, T>(&'a News<T>);

impl<T> Drop for End<'_, T> {
    fn drop(&mut self) {
        self.0.happened().ended = true;
        self.0.ended.notify_all();
    }
}

/// What has happened on this rank since the others were told.
struct News<T> {
    happened: Mutex<Happened<T>>,
    ended: Condvar,
    stop: AtomicBool,
}

struct Happened<T> {
    found: Vec<T>,
    share: f64,
    ended: bool,
}

impl<T> Default for News<T> {
    fn default() -> Self {
        let happened = Mutex::new(Happened { found: Vec::new(), share: 0.0, ended: false });
        Self { happened, ended: Condvar::new(), stop: AtomicBool::new(false) }
    }
}

impl<T> News<T> {
    fn happened(&self) -> MutexGuard<'_, Happened<T>> {
        self.happened.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Record + Serialize + DeserializeOwned + Send> News<T> {
    /// Rounds in which every rank tells the others, until all have ended.
    fn exchange(&self, ranks: &dyn Ranks, listen: &dyn Listen<T>, worker: Worker) -> Result<(), Error> {
        let mut worker = Some(worker);
        loop {
            let happened = self.happened();
            let (mut happened, _) =
                self.ended.wait_timeout_while(happened, ROUND, |now| !now.ended).unwrap_or_else(PoisonError::into_inner);
            let (found, share, ended) = (take(&mut happened.found), take(&mut happened.share), happened.ended);
            drop(happened);
            if let Some(worker) = worker.take_if(|_| ended) {
                worker.join().unwrap_or_else(|panic| resume_unwind(panic))?;
            }
            let told = ranks.gather(&encode(found, share, ended, listen.stop()))?;
            let mut all_ended = true;
            for (rank, message) in told.iter().enumerate() {
                let Some((found, share, ended, stop)) = decode(message) else {
                    let reason =
                        "it searches for something else; start every rank with the same version and the same command".into();
                    return Err(Error::Elsewhere { rank, reason });
                };
                listen.advance(share);
                if !found.is_empty() {
                    listen.found(found);
                }
                all_ended &= ended;
                self.stop.fetch_or(stop, Ordering::Relaxed);
            }
            if all_ended {
                return Ok(());
            }
        }
    }
}

impl<T: Send> Listen<T> for News<T> {
    fn stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn advance(&self, share: f64) {
        self.happened().share += share;
    }

    fn found(&self, found: Vec<T>) {
        self.happened().found.extend(found);
    }
}

/// A message. Actions are no part of a record's text; they follow as their bits.
fn encode<T: Record + Serialize>(found: Vec<T>, share: f64, ended: bool, stop: bool) -> Vec<u8> {
    let actions: Vec<Vec<_>> = found.iter().map(|one| one.actions().iter().map(|a| a.to_bits()).collect()).collect();
    serde_json::to_vec(&(found, actions, share, ended, stop)).expect("records are plain numbers")
}

fn decode<T: Record + DeserializeOwned>(message: &[u8]) -> Option<(Vec<T>, f64, bool, bool)> {
    let (mut found, actions, share, ended, stop): (Vec<T>, Vec<Vec<_>>, f64, bool, bool) =
        serde_json::from_slice(message).ok()?;
    for (one, actions) in found.iter_mut().zip(actions) {
        *one.actions_mut() = actions.into_iter().map(Real::from_bits).collect();
    }
    Some((found, share, ended, stop))
}
