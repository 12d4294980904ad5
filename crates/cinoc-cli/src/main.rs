//! The `cinoc` command with the problems and policies that come with it.

use cinoc::Registry;
use std::process::ExitCode;

fn main() -> ExitCode {
    cinoc_cli::run(Registry::builtin())
}
