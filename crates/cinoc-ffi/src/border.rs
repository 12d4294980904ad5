//! The border to C: codes, messages, pointers.

use cinoc::{Error, Real};
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Result of a call.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CinocCode {
    /// Success.
    Ok = 0,
    /// An argument is not valid; cinoc_message says which, and what would be.
    Mistake = 1,
    /// A fault of the library; please report what cinoc_message says. Handles of the call can then only be closed.
    Fault = 2,
}

/// A call that fails: its code, and a sentence that ends with what to do.
pub struct Failure {
    code: CinocCode,
    text: String,
}

impl Failure {
    /// An argument that is not valid.
    pub fn mistake(text: impl Into<String>) -> Self {
        Self { code: CinocCode::Mistake, text: text.into() }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::mistake(error.to_string())
    }
}

/// Fails with a mistake that is described by `text`.
pub fn wrong<T>(text: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::mistake(text))
}

/// An object behind a handle. After a panic in one of its calls it may be half changed, and is not used again.
pub trait Object {
    /// The name of its parameter.
    const NAME: &'static str;

    /// True after a panic.
    fn broken(&mut self) -> &mut bool;
}

thread_local! {
    static MESSAGE: RefCell<CString> = RefCell::default();
}

/// Runs a call from C: keeps its message and turns a panic into a code.
pub fn guard(work: impl FnOnce() -> Result<(), Failure>) -> CinocCode {
    let Failure { code, text } = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => return CinocCode::Ok,
        Ok(Err(failure)) => failure,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
            let text = format!("this is a fault of cinoc: please report it: {}", text.unwrap_or("no message"));
            Failure { code: CinocCode::Fault, text }
        }
    };
    MESSAGE.set(CString::new(text.replace('\0', " ")).unwrap_or_default());
    code
}

/// Runs a call on an object, which no call uses again after a panic.
///
/// # Safety
/// `object` is null or was returned by this library, has not been closed, and no other thread uses it.
pub unsafe fn guard_on<T: Object>(object: *mut T, work: impl FnOnce(&mut T) -> Result<(), Failure>) -> CinocCode {
    // SAFETY: the caller's contract is that of `handle`.
    let code = guard(|| work(unsafe { handle(object) }?));
    if code == CinocCode::Fault {
        // SAFETY: as above; the reference that the call had ended with it.
        unsafe { mark_broken(object) };
    }
    code
}

/// Marks an object as one that can only be closed.
///
/// # Safety
/// As that of [`guard_on`].
pub unsafe fn mark_broken<T: Object>(object: *mut T) {
    // SAFETY: null or a valid object that nothing else refers to, by the caller's contract.
    if let Some(object) = unsafe { object.as_mut() } {
        *object.broken() = true;
    }
}

/// Returns the sentence about the last call of this thread that failed; valid until the next such call.
#[unsafe(no_mangle)]
pub extern "C" fn cinoc_message() -> *const c_char {
    MESSAGE.with_borrow(|message| message.as_ptr())
}

/// Returns the version of the library.
#[unsafe(no_mangle)]
pub extern "C" fn cinoc_version() -> *const c_char {
    const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => panic!("a version without zeros"),
    };
    VERSION.as_ptr()
}

/// Borrows a string from C; `what` is named in the error.
///
/// # Safety
/// `text` is null or ends with a zero.
pub unsafe fn text<'a>(what: &str, text: *const c_char) -> Result<&'a str, Failure> {
    if text.is_null() {
        return wrong(format!("{what} is NULL; give a string"));
    }
    // SAFETY: not null, and ends with a zero by the caller's contract.
    let bytes = unsafe { CStr::from_ptr(text) };
    bytes.to_str().map_err(|_| Failure::mistake(format!("{what} is not UTF-8; give it in that encoding")))
}

/// Reads changes of settings from C: one `key=value` per line; null for none.
///
/// # Safety
/// `settings` is null or ends with a zero.
pub unsafe fn settings(settings: *const c_char) -> Result<cinoc::settings::Overlay, Failure> {
    if settings.is_null() {
        return Ok(Default::default());
    }
    // SAFETY: the caller's contract is that of `text`.
    let all = unsafe { text("settings", settings) }?;
    Ok(cinoc::settings::Overlay::from_pairs(all.lines().map(str::trim).filter(|line| !line.is_empty()))?)
}

/// Borrows the object behind a handle.
///
/// # Safety
/// `object` is null or was returned by this library, has not been closed, and no other thread uses it.
pub unsafe fn handle<'a, T: Object>(object: *mut T) -> Result<&'a mut T, Failure> {
    let what = T::NAME;
    // SAFETY: null or valid, and used by this call only, by the caller's contract.
    let Some(object) = (unsafe { object.as_mut() }) else {
        return wrong(format!("{what} is NULL; open one first, and check the code that this returns"));
    };
    if *object.broken() {
        let text = format!("an earlier call on this {what} ended in a fault of cinoc; close it and open another");
        return Err(Failure { code: CinocCode::Fault, text });
    }
    Ok(object)
}

/// Writes a single output to C.
///
/// # Safety
/// `to` is null or points to room for one value, initialised or not.
pub unsafe fn output<T: Copy>(what: &str, to: *mut T, value: T) -> Result<(), Failure> {
    if to.is_null() {
        return wrong(format!("{what} is NULL; give the address of one"));
    }
    // SAFETY: not null, and room for one value by the caller's contract.
    unsafe { to.write(value) };
    Ok(())
}

/// Borrows an array of numbers from C, which must have the length `needed`.
///
/// # Safety
/// `numbers` is null or points to `count` numbers.
pub unsafe fn numbers<'a>(what: &str, numbers: *const Real, count: usize, needed: usize) -> Result<&'a [Real], Failure> {
    fits(what, numbers.is_null(), count, needed)?;
    // SAFETY: not null, and of this length by the caller's contract.
    Ok(unsafe { std::slice::from_raw_parts(numbers, count) })
}

/// Numbers of which all bits may be zero.
pub trait Number: Copy {}
impl Number for f32 {}
impl Number for f64 {}
impl Number for u8 {}

/// Borrows an array for results from C, filled with zeros, which must have the length `needed`.
///
/// # Safety
/// `room` is null or points to room for `count` numbers, initialised or not, that nothing else uses.
pub unsafe fn room<'a, T: Number>(what: &str, room: *mut T, count: usize, needed: usize) -> Result<&'a mut [T], Failure> {
    fits(what, room.is_null(), count, needed)?;
    // SAFETY: not null, of this length and unshared by the caller's contract; zeros are valid numbers.
    unsafe {
        room.write_bytes(0, count);
        Ok(std::slice::from_raw_parts_mut(room, count))
    }
}

/// Borrows an array of numbers from C that is read and written, which must have the length `needed`.
///
/// # Safety
/// `numbers` is null or points to `count` initialised numbers that nothing else uses.
pub unsafe fn state<'a>(what: &str, numbers: *mut Real, count: usize, needed: usize) -> Result<&'a mut [Real], Failure> {
    fits(what, numbers.is_null(), count, needed)?;
    // SAFETY: not null, of this length, initialised and unshared by the caller's contract.
    Ok(unsafe { std::slice::from_raw_parts_mut(numbers, count) })
}

fn fits(what: &str, null: bool, count: usize, needed: usize) -> Result<(), Failure> {
    if null {
        return wrong(format!("{what} is NULL; give an array of {needed}"));
    }
    if count != needed {
        return wrong(format!("{what} has {count} numbers; give {needed}"));
    }
    Ok(())
}

/// Fails if a number is not finite.
pub fn finite(what: &str, numbers: &[Real]) -> Result<(), Failure> {
    match numbers.iter().position(|x| !x.is_finite()) {
        Some(i) => wrong(format!("{what}[{i}] is {}; give finite numbers", numbers[i])),
        None => Ok(()),
    }
}

/// Opens an object for C, which closes it later. `to` is null after a failure.
///
/// # Safety
/// `to` is null or points to a pointer.
pub unsafe fn open<T: Object>(to: *mut *mut T, make: impl FnOnce() -> Result<T, Failure>) -> CinocCode {
    guard(|| {
        if to.is_null() {
            return wrong(format!("{} is NULL; give the address of a pointer", T::NAME));
        }
        // SAFETY: not null, and points to a pointer by the caller's contract.
        unsafe { to.write(std::ptr::null_mut()) };
        let object = Box::into_raw(Box::new(make()?));
        // SAFETY: as above.
        unsafe { to.write(object) };
        Ok(())
    })
}

/// Closes an object.
///
/// # Safety
/// `object` is null or was opened by [`open`], and is not used again.
pub unsafe fn close<T>(object: *mut T) {
    if !object.is_null() {
        // SAFETY: it came from a box in `open`, and nothing uses it any more, by the caller's contract.
        drop(catch_unwind(AssertUnwindSafe(|| drop(unsafe { Box::from_raw(object) }))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message() -> String {
        // SAFETY: a string of this thread, which is read at once.
        unsafe { CStr::from_ptr(cinoc_message()) }.to_str().expect("UTF-8").to_owned()
    }

    #[test]
    fn a_panic_is_a_code() {
        assert_eq!(guard(|| panic!("out of order")), CinocCode::Fault);
        assert!(message().ends_with("please report it: out of order"), "{}", message());
        assert_eq!(guard(|| Ok(())), CinocCode::Ok);
    }

    #[derive(Default)]
    struct Counter {
        broken: bool,
        calls: usize,
    }

    impl Object for Counter {
        const NAME: &'static str = "counter";

        fn broken(&mut self) -> &mut bool {
            &mut self.broken
        }
    }

    #[test]
    fn after_a_panic_an_object_can_only_be_closed() {
        let mut counter = Counter::default();
        let mut call = |fails: bool| {
            // SAFETY: an object of this test.
            unsafe {
                guard_on(&mut counter, |counter| {
                    counter.calls += 1;
                    assert!(!fails, "half done");
                    Ok(())
                })
            }
        };
        assert_eq!(
            [false, true, false, false].map(&mut call),
            [CinocCode::Ok, CinocCode::Fault, CinocCode::Fault, CinocCode::Fault]
        );
        assert!(message().ends_with("close it and open another"), "{}", message());
        assert_eq!(counter.calls, 2, "no call reaches it after the panic");
    }

    #[test]
    fn a_failed_opening_gives_null() {
        let mut object = std::ptr::dangling_mut::<Counter>();
        // SAFETY: the address of a pointer, which is not followed.
        assert_eq!(unsafe { open(&mut object, || wrong("no; try again")) }, CinocCode::Mistake);
        assert!(object.is_null());
        object = std::ptr::dangling_mut();
        // SAFETY: as above.
        assert_eq!(unsafe { open(&mut object, || panic!("out of order")) }, CinocCode::Fault);
        assert!(object.is_null());
    }
}
