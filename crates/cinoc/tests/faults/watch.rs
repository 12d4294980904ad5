//! Limits of a case: no panic, bounded CPU time, and no array larger than the allowed memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError, mpsc};
use std::time::{Duration, Instant};

/// Returns the memory limit in megabytes, unless `CINOC_MEMORY_MB` says otherwise.
fn megabytes() -> usize {
    std::env::var("CINOC_MEMORY_MB").ok().and_then(|text| text.parse().ok()).unwrap_or(256)
}

/// Returns the number of random cases of a kind: `few`, times `CINOC_FAULTS` for nightly runs.
pub fn cases(few: u64) -> u64 {
    few * std::env::var("CINOC_FAULTS").ok().and_then(|text| text.parse::<u64>().ok()).unwrap_or(1)
}

/// Number of observations, a second apart, after which a running case is a hang. Observations, not seconds: a machine
/// may be paused.
const HANG: usize = 60;

struct Counting;

/// Largest array that was ever requested.
static LARGEST: AtomicUsize = AtomicUsize::new(0);
static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn taken(bytes: usize) {
    LARGEST.fetch_max(bytes, Ordering::Relaxed);
    PEAK.fetch_max(LIVE.fetch_add(bytes, Ordering::Relaxed) + bytes, Ordering::Relaxed);
}

#[allow(unsafe_code)]
// SAFETY: passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        taken(layout.size());
        // SAFETY: the caller keeps the contract of `GlobalAlloc`, which is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        taken(layout.size());
        // SAFETY: the caller keeps the contract of `GlobalAlloc`, which is passed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `GlobalAlloc`, which is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        taken(size);
        // SAFETY: the caller keeps the contract of `GlobalAlloc`, which is passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Sets the memory limit and disables the cache.
#[allow(unsafe_code)]
pub fn prepare() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: only the standard library reads the environment, and locks it.
        unsafe {
            std::env::set_var("CINOC_MEMORY_MB", megabytes().to_string());
            std::env::set_var("CINOC_CACHE", "/dev/null/nowhere");
        }
    });
}

/// Returns the CPU seconds of this thread, on Linux.
fn worked() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<f64>().ok()? * 1e-9)
}

/// Runs cases and collects failures.
pub struct Watch {
    kind: &'static str,
    since: Instant,
    cases: usize,
    wrong: Vec<String>,
    /// Current case, and number of observations of it.
    now: Arc<Mutex<Option<(String, usize)>>>,
    _end: mpsc::Sender<()>,
    dearest: (f64, String),
}

impl Watch {
    pub fn new(kind: &'static str) -> Self {
        prepare();
        let now = Arc::new(Mutex::new(None::<(String, usize)>));
        let (end, over) = mpsc::channel::<()>();
        let seen = now.clone();
        std::thread::spawn(move || {
            while over.recv_timeout(Duration::from_secs(1)) == Err(mpsc::RecvTimeoutError::Timeout) {
                if let Some((case, looks)) = &mut *seen.lock().unwrap_or_else(PoisonError::into_inner) {
                    *looks += 1;
                    if *looks > HANG {
                        eprintln!("{case} hangs");
                        std::process::exit(1);
                    }
                }
            }
        });
        Self { kind, since: Instant::now(), cases: 0, wrong: Vec::new(), now, _end: end, dearest: (0.0, String::new()) }
    }

    /// Runs one case with a limit of CPU seconds; `Err` says what is wrong.
    pub fn case(&mut self, name: &str, seconds: f64, work: impl FnOnce() -> Result<(), String>) {
        *self.now.lock().unwrap() = Some((format!("{}: {name}", self.kind), 0));
        self.cases += 1;
        let before = worked();
        let done = catch_unwind(AssertUnwindSafe(work));
        let spent = before.and_then(|before| Some(worked()? - before)).unwrap_or(0.0);
        match done {
            Err(panic) => {
                let text = panic.downcast_ref::<String>().cloned();
                let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).into()));
                self.wrong.push(format!("{name}: panicked: {}", text.unwrap_or_default()));
            }
            Ok(Err(wrong)) => self.wrong.push(format!("{name}: {wrong}")),
            Ok(Ok(())) => {}
        }
        if spent > seconds {
            self.wrong.push(format!("{name}: worked for {spent:.1} s, more than {seconds} s"));
        }
        if spent > self.dearest.0 {
            self.dearest = (spent, name.to_owned());
        }
        let largest = LARGEST.swap(0, Ordering::Relaxed);
        if largest > megabytes() * 1_000_000 {
            self.wrong.push(format!("{name} (or one beside it): an array of {:.0} MB", largest as f64 / 1e6));
        }
        *self.now.lock().unwrap() = None;
    }

    /// Prints the number of cases.
    ///
    /// # Panics
    /// If one failed.
    pub fn end(self, least: usize) {
        let Self { kind, since, cases, wrong, dearest, .. } = self;
        let peak = PEAK.load(Ordering::Relaxed) as f64 / 1e6;
        println!(
            "{kind}: {cases} cases in {:.0} s; the dearest worked {:.2} s ({}); {peak:.0} MB at most",
            since.elapsed().as_secs_f64(),
            dearest.0,
            dearest.1
        );
        assert!(cases >= least, "{cases} cases, not {least}");
        // Estimates are rough, and tests run in parallel.
        assert!(peak < 2.0 * megabytes() as f64, "{peak:.0} MB at once where {} may be used", megabytes());
        assert!(wrong.is_empty(), "{} of {cases} cases are wrong:\n{}", wrong.len(), wrong.join("\n"));
    }
}
