//! The C library: environments to step, policies that decide, gradients with respect to actions. cbindgen makes
//! `include/cinoc.h` from this crate, and a test checks that it is up to date; `examples/c` uses it.
//!
//! Functions that can fail return a [`CinocCode`], and [`cinoc_message`] explains a failure in a sentence that ends
//! with what to do. A panic does not cross the border: it is a fault of the library and has a code; the handles of that
//! call can then only be closed.
//!
//! ```
//! use cinoc_ffi::{CinocCode, cinoc_env_close, cinoc_env_open, cinoc_env_reset};
//! use std::ptr::{null, null_mut};
//!
//! let mut env = null_mut();
//! // SAFETY: the strings end with a zero, `env` points to a pointer, and one thread uses the handle.
//! unsafe {
//!     assert!(cinoc_env_open(c"heat1d".as_ptr(), null(), 2, 8, 1, &raw mut env) == CinocCode::Ok);
//!     assert!(cinoc_env_reset(env, 0, 0) == CinocCode::Ok);
//!     cinoc_env_close(env);
//! }
//! ```

// The border to C: pointers are checked for null; their contract, in each function's `Safety`, covers the rest.
#![allow(unsafe_code)]

mod border;
mod env;
mod gradient;
mod policy;

pub use border::{CinocCode, cinoc_message, cinoc_version};
pub use env::*;
pub use gradient::cinoc_env_gradient;
pub use policy::*;
