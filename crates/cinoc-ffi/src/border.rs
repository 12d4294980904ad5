//! What crosses the border: codes, messages, pointers.

use cinoc::{Error, Real};
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How a call went.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CinocCode {
    /// As asked.
    Ok = 0,
    /// Something that was given cannot be; cinoc_message says what would be right.
    Mistake = 1,
    /// A fault of the library; please report what cinoc_message says.
    Fault = 2,
}

/// What is wrong, in a sentence that ends with what to do.
pub struct Mistake(pub String);

impl From<Error> for Mistake {
    fn from(error: Error) -> Self {
        Self(error.to_string())
    }
}

/// A mistake that is described like this.
pub fn wrong<T>(text: impl Into<String>) -> Result<T, Mistake> {
    Err(Mistake(text.into()))
}

thread_local! {
    static MESSAGE: RefCell<CString> = RefCell::default();
}

/// Does some work for a caller in C.
pub fn guard(work: impl FnOnce() -> Result<(), Mistake>) -> CinocCode {
    let (code, text) = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => return CinocCode::Ok,
        Ok(Err(Mistake(text))) => (CinocCode::Mistake, text),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
            (CinocCode::Fault, format!("this is a fault of cinoc: please report it: {}", text.unwrap_or("no message")))
        }
    };
    MESSAGE.set(CString::new(text.replace('\0', " ")).unwrap_or_default());
    code
}

/// What the last call of this thread that did not go well has to say; valid until the next such call.
#[unsafe(no_mangle)]
pub extern "C" fn cinoc_message() -> *const c_char {
    MESSAGE.with_borrow(|message| message.as_ptr())
}

/// The version of the library.
#[unsafe(no_mangle)]
pub extern "C" fn cinoc_version() -> *const c_char {
    const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => panic!("a version without zeros"),
    };
    VERSION.as_ptr()
}

/// Text that C gave; `what` is named in the error.
///
/// # Safety
/// `text` is null or ends with a zero.
pub unsafe fn text<'a>(what: &str, text: *const c_char) -> Result<&'a str, Mistake> {
    if text.is_null() {
        return wrong(format!("{what} is NULL; give a string"));
    }
    // SAFETY: not null, and the caller says that it ends with a zero.
    let bytes = unsafe { CStr::from_ptr(text) };
    bytes.to_str().map_err(|_| Mistake(format!("{what} is not UTF-8; give it in that encoding")))
}

/// Changes of settings that C gave: `key=value` each, in lines of their own; null for none.
///
/// # Safety
/// `settings` is null or ends with a zero.
pub unsafe fn settings(settings: *const c_char) -> Result<cinoc::settings::Overlay, Mistake> {
    if settings.is_null() {
        return Ok(Default::default());
    }
    // SAFETY: as the caller says.
    let all = unsafe { text("settings", settings) }?;
    Ok(cinoc::settings::Overlay::from_pairs(all.lines().map(str::trim).filter(|line| !line.is_empty()))?)
}

/// What a handle points to.
///
/// # Safety
/// `handle` is null or was given by this library, has not been closed, and no other thread uses it.
pub unsafe fn handle<'a, T>(what: &str, handle: *mut T) -> Result<&'a mut T, Mistake> {
    // SAFETY: as the caller says.
    unsafe { handle.as_mut() }.map_or_else(|| wrong(format!("{what} is NULL; open one first, and look at what that returns")), Ok)
}

/// Numbers that C gave, as many as are needed.
///
/// # Safety
/// `numbers` is null or points to `count` numbers.
pub unsafe fn numbers<'a>(what: &str, numbers: *const Real, count: usize, needed: usize) -> Result<&'a [Real], Mistake> {
    fits(what, numbers.is_null(), count, needed)?;
    // SAFETY: not null, and as many as the caller says.
    Ok(unsafe { std::slice::from_raw_parts(numbers, count) })
}

/// Room for numbers that C gave, for as many as are needed.
///
/// # Safety
/// `room` is null or points to room for `count` of them that nobody else uses.
pub unsafe fn room<'a, T>(what: &str, room: *mut T, count: usize, needed: usize) -> Result<&'a mut [T], Mistake> {
    fits(what, room.is_null(), count, needed)?;
    // SAFETY: not null, and as much as the caller says.
    Ok(unsafe { std::slice::from_raw_parts_mut(room, count) })
}

fn fits(what: &str, null: bool, count: usize, needed: usize) -> Result<(), Mistake> {
    if null {
        return wrong(format!("{what} is NULL; give an array of {needed}"));
    }
    if count != needed {
        return wrong(format!("{what} has {count} numbers; give {needed}"));
    }
    Ok(())
}

/// Refuses numbers that are none.
pub fn finite(what: &str, numbers: &[Real]) -> Result<(), Mistake> {
    match numbers.iter().position(|x| !x.is_finite()) {
        Some(i) => wrong(format!("{what}[{i}] is {}; give finite numbers", numbers[i])),
        None => Ok(()),
    }
}

/// Hands something over to C, which closes it later.
///
/// # Safety
/// `to` is null or points to room for a pointer.
pub unsafe fn give<T>(what: &str, to: *mut *mut T, value: T) -> Result<(), Mistake> {
    if to.is_null() {
        return wrong(format!("{what} is NULL; give the address of a pointer"));
    }
    // SAFETY: not null, and room for a pointer.
    unsafe { to.write(Box::into_raw(Box::new(value))) };
    Ok(())
}

/// Takes back what was handed over.
///
/// # Safety
/// `handle` is null or was handed over by [`give`], and is not used again.
pub unsafe fn take<T>(handle: *mut T) {
    if !handle.is_null() {
        // SAFETY: it came from a box, and nobody uses it any more.
        drop(catch_unwind(AssertUnwindSafe(|| drop(unsafe { Box::from_raw(handle) }))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_code() {
        assert_eq!(guard(|| panic!("out of order")), CinocCode::Fault);
        // SAFETY: a string of this thread, which is read at once.
        let said = unsafe { CStr::from_ptr(cinoc_message()) }.to_str().expect("UTF-8");
        assert!(said.ends_with("please report it: out of order"), "{said}");
        assert_eq!(guard(|| Ok(())), CinocCode::Ok);
    }
}
