//! What goes wrong, as Python exceptions; never a panic.

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use std::any::Any;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError, TryLockError};

create_exception!(
    cinoc._native,
    CinocError,
    PyException,
    "A mistake that the engine explains; its sentence ends with what to do."
);

/// Where the last panic was.
static PLACE: Mutex<String> = Mutex::new(String::new());

/// Flags of the command line, and what they are called here.
const WORDS: [(&str, &str); 8] = [
    ("add --resume", "add resume=True"),
    ("leave out --resume", "leave out resume=True"),
    ("--resume", "resume=True"),
    ("another --out", "another out"),
    ("--threads", "threads"),
    ("--set ", ""),
    ("--preset paper", "preset=\"paper\""),
    ("`cinoc list PROBLEM` prints all of them", "`print(problem.config)` shows all of them"),
];

/// Panics become exceptions, which carry their message: nothing is printed for them. This library has a standard library of its own, so that
/// panics of other modules are theirs.
pub fn listen() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map_or_else(String::new, |at| format!(" ({}:{})", at.file(), at.line()));
        *PLACE.lock().unwrap_or_else(PoisonError::into_inner) = place;
    }));
}

/// A mistake that was explained.
pub fn explained(text: impl Display) -> PyErr {
    CinocError::new_err(WORDS.iter().fold(text.to_string(), |text, (flag, word)| text.replace(flag, word)))
}

/// A value that cannot be.
pub fn wrong(text: impl Display) -> PyErr {
    PyValueError::new_err(text.to_string())
}

/// Calls the engine without holding up other Python threads. A panic is a fault of ours, and an exception.
pub fn engine<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    py.detach(|| catch_unwind(AssertUnwindSafe(work))).map_err(|panic| fault(&*panic))
}

fn fault(panic: &(dyn Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    let place = PLACE.lock().unwrap_or_else(PoisonError::into_inner).clone();
    CinocError::new_err(format!("this is a fault of cinoc: please report it: {}{place}", text.unwrap_or("no message")))
}

/// What only one thread may use at a time; `what` is named in the error.
pub fn alone<'a, T>(mutex: &'a Mutex<T>, what: &str) -> PyResult<std::sync::MutexGuard<'a, T>> {
    match mutex.try_lock() {
        Ok(guard) => Ok(guard),
        Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => {
            Err(CinocError::new_err(format!("this {what} is in use by another thread; give each thread its own")))
        }
    }
}
