//! Policies leave the house: what one agent computes in a tick, as a C file or as an ONNX model.
//!
//! ```text
//! instruments ──► observation ──► Policy::act ──► limits, safety ──► action       recorded once, with plain operations
//! Program: that recording ──► c::source | onnx::model | Program::run
//! ```
//!
//! There is no template for a kind of policy: whatever a policy records is translated, operation by operation. An operation that is not plain
//! says how it is written with plain ones ([`Op::plain`](cinoc_tape::Op::plain)); one that does not is named in the error.

pub mod c;
pub mod onnx;

mod program;
mod trial;
mod workspace;

pub use program::{Input, Line, Program, Value};
pub use trial::{Trial, trial};
