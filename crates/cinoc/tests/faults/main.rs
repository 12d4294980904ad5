//! Fault injection: for any settings, files and sizes the answer is a result or one sentence; never a panic, a hang, or
//! more memory than allowed.
//!
//! Every case has a number that determines everything random in it: a failure names it and can be reproduced.

mod configs;
mod dice;
mod files;
mod named;
mod texts;
mod watch;
