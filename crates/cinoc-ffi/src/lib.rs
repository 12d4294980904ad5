//! The C library: environments to step, policies that decide, gradients by actions. `include/cinoc.h` is made from this crate by cbindgen, and a
//! test says that it is the present one; `examples/c` uses it.
//!
//! Every function returns a [`CinocCode`]. Whatever goes wrong is explained by [`cinoc_message`], in a sentence that ends with what to do. A panic does not
//! cross the border: it is a fault of ours, and a code too.

// A border to C: pointers are checked for null, and for nothing else, since nothing else can be.
#![allow(unsafe_code)]

mod border;
mod env;
mod gradient;
mod policy;

pub use border::{CinocCode, cinoc_message, cinoc_version};
pub use env::*;
pub use gradient::cinoc_env_gradient;
pub use policy::*;
