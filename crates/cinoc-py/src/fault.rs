//! Errors as Python exceptions; never a panic.

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use std::any::Any;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError, TryLockError};

create_exception!(cinoc._native, CinocError, PyException, "An error of use; its message ends with what to do.");

/// The place of the last panic.
static PLACE: Mutex<String> = Mutex::new(String::new());

/// Turns panics into exceptions, which carry their message: nothing is printed for them. This library links its own standard library, so that
/// panics of other modules are not affected.
pub fn listen() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map_or_else(String::new, |at| format!(" ({}:{})", at.file(), at.line()));
        *PLACE.lock().unwrap_or_else(PoisonError::into_inner) = place;
    }));
}

/// An error of use, with a sentence.
pub fn explained(text: impl Display) -> PyErr {
    CinocError::new_err(text.to_string())
}

/// A value that is not allowed.
pub fn wrong(text: impl Display) -> PyErr {
    PyValueError::new_err(text.to_string())
}

/// Calls the engine without the global interpreter lock. A panic is a fault of the engine, and an exception.
pub fn engine<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    py.detach(|| catch_unwind(AssertUnwindSafe(work))).map_err(|panic| fault(&*panic))
}

fn fault(panic: &(dyn Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    let place = PLACE.lock().unwrap_or_else(PoisonError::into_inner).clone();
    CinocError::new_err(format!("this is a fault of cinoc: please report it: {}{place}", text.unwrap_or("no message")))
}

/// Locks an object that one thread may use at a time; `what` is named in the error.
pub fn alone<'a, T>(mutex: &'a Mutex<T>, what: &str) -> PyResult<std::sync::MutexGuard<'a, T>> {
    match mutex.try_lock() {
        Ok(guard) => Ok(guard),
        Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => {
            Err(CinocError::new_err(format!("this {what} is in use by another thread; give each thread its own")))
        }
    }
}
