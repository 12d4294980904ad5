//! Exported policies: the decision of one agent as a C file or as an ONNX model.
//!
//! ```text
//! readings ──► guard ──► observation ──► Policy::act ──► limits, safety ──► action
//! Program: that recording, with plain operations ──► c::source | onnx::model | Program::run
//! ```
//!
//! ```
//! let (registry, policy) = (cinoc::Registry::builtin(), cinoc::pretrained("heat1d")?);
//! let file = cinoc::export::c::source(&registry, &policy, "heat1d")?;
//! assert!(file.contains("void cinoc_act("));
//! # Ok::<(), cinoc::Error>(())
//! ```
//!
//! There is no template per kind of policy: the recording is translated, operation by operation. An operation that is
//! not plain is rewritten with plain ones ([`Op::decompose`](cinoc_tape::Op::decompose)); one without such a form is named in
//! the error.

pub mod c;
#[doc(hidden)]
pub mod guard;
pub mod onnx;

mod program;
mod text;
mod trial;
mod workspace;

#[doc(hidden)]
pub use program::Program;
#[doc(hidden)]
pub use program::{Input, Instruction, Value};
#[doc(hidden)]
pub use trial::{Trial, trial};
