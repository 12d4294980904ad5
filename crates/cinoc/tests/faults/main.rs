//! Fault injection: whatever settings, files and sizes are given, the answer is a result or one sentence; never a panic, a hang, or more memory
//! than was said.
//!
//! Every case has a number, and everything random in it follows from that number: a failure names it, and it fails again.

mod configs;
mod dice;
mod files;
mod named;
mod texts;
mod watch;
