//! Supervised reading of inputs.

use crate::{Answer, Target, allocation, input};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, Once, PoisonError, mpsc};
use std::time::{Duration, Instant};

/// CPU seconds allowed for one file, unless its target says otherwise: beyond, it is a hang. Reading takes microseconds; the longest part is building the
/// problem of a model.
pub const SECONDS: f64 = 2.0;

/// Number of observations, a second apart, after which a file still being read is a hang. Observations, not seconds: a
/// machine may be paused.
const LOOKS: usize = 60;

/// Outcome of many inputs.
#[derive(Debug, Default)]
pub struct Tally {
    /// Number of inputs.
    pub inputs: u64,
    /// Number of accepted inputs.
    pub accepted: u64,
    /// Number of refused inputs.
    pub refused: u64,
    /// Number of panics.
    pub panics: u64,
    /// Number of inputs that took longer than [`SECONDS`].
    pub hangs: u64,
    /// Number of inputs that took more memory than their size explains.
    pub greedy: u64,
    /// Number of wrong answers: no sentence, or content other than that of the file.
    pub wrong: u64,
    /// Longest time, in seconds, and its input.
    pub slowest: (f64, u64),
    /// Peak memory, in bytes, and its input.
    pub largest: (usize, u64),
    /// Bytes of the longest input.
    pub longest: usize,
    /// Total time.
    pub seconds: f64,
    /// Descriptions of the first few failures.
    pub failures: Vec<String>,
}

impl Tally {
    /// Returns the number of failed inputs.
    pub fn failed(&self) -> u64 {
        self.panics + self.hangs + self.greedy + self.wrong
    }

    fn fails(&mut self, number: u64, what: String) {
        if self.failures.len() < 20 {
            self.failures.push(format!("{number}: {what}"));
        }
    }
}

/// Reads the inputs of these numbers.
pub fn watch(target: &dyn Target, seed: u64, numbers: std::ops::Range<u64>, progress: &mut dyn FnMut(u64)) -> Tally {
    quiet();
    let (since, guard, mut tally) = (Instant::now(), Guard::new(target.name(), seed), Tally::default());
    for number in numbers {
        let file = input(target, seed, number);
        guard.begins(number);
        let before = worked();
        let (done, most) = allocation::most(|| catch_unwind(AssertUnwindSafe(|| target.read(&file))));
        let spent = before.and_then(|before| Some(worked()? - before)).unwrap_or(0.0);
        guard.ends();
        tally.inputs += 1;
        tally.longest = tally.longest.max(file.len());
        if spent > tally.slowest.0 {
            tally.slowest = (spent, number);
        }
        if most > tally.largest.0 {
            tally.largest = (most, number);
        }
        let wrong = match done {
            Err(_) => {
                tally.panics += 1;
                let said = LAST_WORDS.with_borrow_mut(std::mem::take);
                tally.fails(number, format!("panicked: {said}"));
                None
            }
            Ok(Ok(Answer::Accepted)) => {
                tally.accepted += 1;
                None
            }
            Ok(Ok(Answer::Refused(text))) => {
                tally.refused += 1;
                sentence(&text).err()
            }
            Ok(Err(wrong)) => Some(wrong),
        };
        if let Some(wrong) = wrong {
            tally.wrong += 1;
            tally.fails(number, wrong);
        }
        if spent > target.seconds() {
            tally.hangs += 1;
            tally.fails(number, format!("worked for {spent:.1} s"));
        }
        let allowed = target.allowance().of(file.len());
        if most > allowed {
            tally.greedy += 1;
            tally.fails(number, format!("{most} bytes of memory for a file of {}, where {allowed} are explained", file.len()));
        }
        progress(number);
    }
    tally.seconds = since.elapsed().as_secs_f64();
    tally
}

/// Checks that an answer is one sentence that says what to do.
fn sentence(text: &str) -> Result<(), String> {
    let advises = text.contains("; ") || text.contains('?');
    match text.is_empty() || text.contains('\n') || text.len() > 4000 || !advises {
        true => Err(format!("not a sentence that says what to do: {text:?}")),
        false => Ok(()),
    }
}

thread_local! {
    /// Message of the last panic of this thread.
    static LAST_WORDS: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Counts panics instead of printing them.
fn quiet() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| match std::thread::current().name() {
            Some(name) if name.starts_with("fuzz") => LAST_WORDS.set(info.to_string().replace('\n', " ")),
            _ => usual(info),
        }));
    });
}

/// Returns the CPU seconds of this thread, on Linux.
fn worked() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<f64>().ok()? * 1e-9)
}

/// Ends the program if an input hangs.
struct Guard {
    now: Arc<Mutex<Option<(u64, usize)>>>,
    _end: mpsc::Sender<()>,
}

impl Guard {
    fn new(target: &'static str, seed: u64) -> Self {
        let now = Arc::new(Mutex::new(None::<(u64, usize)>));
        let (end, over) = mpsc::channel::<()>();
        let seen = now.clone();
        std::thread::spawn(move || {
            while over.recv_timeout(Duration::from_secs(1)) == Err(mpsc::RecvTimeoutError::Timeout) {
                if let Some((number, looks)) = &mut *seen.lock().unwrap_or_else(PoisonError::into_inner) {
                    *looks += 1;
                    if *looks > LOOKS {
                        eprintln!("{target}, seed {seed}, input {number} hangs");
                        std::process::exit(1);
                    }
                }
            }
        });
        Self { now, _end: end }
    }

    fn begins(&self, number: u64) {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = Some((number, 0));
    }

    fn ends(&self) {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
