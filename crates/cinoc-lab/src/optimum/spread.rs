//! Searches on all ranks: each has its own part, and results are reported on every rank while the others continue.

use super::{Listen, Record};
use cinoc::internal::ranks::Ranks;
use cinoc::internal::threads::Threads;
use cinoc::{Error, Real};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::mem::take;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

/// Longest time between exchanges of ranks.
const ROUND: Duration = Duration::from_millis(200);

/// Thread that distributes a rank's own work.
type Worker<'s> = ScopedJoinHandle<'s, Result<(), Error>>;

/// Performs `count` pieces of work, on all threads of all ranks.
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
    let (own, events) = (ranks.own(count), Events::default());
    thread::scope(|scope| {
        // Ranks communicate on the calling thread: it must not compute meanwhile.
        let worker = scope.spawn(|| {
            let _end = End(&events);
            threads.map(own.len(), |i| work(own.start + i, &events)).into_iter().collect()
        });
        let told = events.exchange(ranks, listen, worker);
        // After a failure of a rank all work stops.
        events.stop.fetch_or(told.is_err(), Ordering::Relaxed);
        told
    })
}

/// Marks the end of a rank's own work, also after a panic.
struct End<'a, T>(&'a Events<T>);

impl<T> Drop for End<'_, T> {
    fn drop(&mut self) {
        self.0.pending().ended = true;
        self.0.ended.notify_all();
    }
}

/// Events of this rank since the last exchange.
struct Events<T> {
    pending: Mutex<Pending<T>>,
    ended: Condvar,
    stop: AtomicBool,
}

struct Pending<T> {
    found: Vec<T>,
    share: f64,
    ended: bool,
}

impl<T> Default for Events<T> {
    fn default() -> Self {
        let pending = Mutex::new(Pending { found: Vec::new(), share: 0.0, ended: false });
        Self { pending, ended: Condvar::new(), stop: AtomicBool::new(false) }
    }
}

impl<T> Events<T> {
    fn pending(&self) -> MutexGuard<'_, Pending<T>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Record + Serialize + DeserializeOwned + Send> Events<T> {
    /// Exchanges events between ranks until all have ended.
    fn exchange(&self, ranks: &dyn Ranks, listen: &dyn Listen<T>, worker: Worker) -> Result<(), Error> {
        let mut worker = Some(worker);
        loop {
            let pending = self.pending();
            let (mut pending, _) =
                self.ended.wait_timeout_while(pending, ROUND, |now| !now.ended).unwrap_or_else(PoisonError::into_inner);
            let (found, share, ended) = (take(&mut pending.found), take(&mut pending.share), pending.ended);
            drop(pending);
            if let Some(worker) = worker.take_if(|_| ended) {
                worker.join().unwrap_or_else(|panic| resume_unwind(panic))?;
            }
            let told = ranks.gather(&encode(found, share, ended, listen.stop()))?;
            let mut all_ended = true;
            for (rank, message) in told.iter().enumerate() {
                let Some((found, share, ended, stop)) = decode(message) else {
                    let reason = "it runs another search; start every rank with the same version and the same command".into();
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

impl<T: Send> Listen<T> for Events<T> {
    fn stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn advance(&self, share: f64) {
        self.pending().share += share;
    }

    fn found(&self, found: Vec<T>) {
        self.pending().found.extend(found);
    }
}

/// Encodes a message. Actions are not part of a record's text; they follow as bits.
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
