//! The `cinoc` command in double precision, with the problems and policies that come with it.

use cinoc::Registry;
use std::process::ExitCode;

fn main() -> ExitCode {
    cinoc_cli_f64::run(Registry::builtin())
}
