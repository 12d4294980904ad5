//! A tiny run, and what the program says about it.
#![allow(dead_code, reason = "not every test needs everything")]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// Settings of a run that takes a blink.
pub const TINY: [&str; 8] = [
    "--set",
    "physics.ticks=4",
    "--set",
    "train.batch=2",
    "--set",
    "train.validate_instances=2",
    "--set",
    "train.validate_every=1",
];

/// The program with some arguments.
pub fn cinoc<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cinoc"));
    command.args(arguments);
    command
}

/// `cinoc train heat1d` with tiny settings.
pub fn tiny(out: &Path, updates: usize) -> Command {
    let mut command = cinoc(["train", "heat1d", "--threads", "1", "--out"]);
    command.arg(out).args(TINY).args(["--set", &format!("train.updates={updates}")]);
    command
}

/// `cinoc train ks1d` with actuators strong enough to break the equation, and states that are soon made.
pub fn strong(out: &Path) -> Command {
    let mut command = cinoc(["train", "ks1d", "--threads", "1", "--out"]);
    command.arg(out).args(TINY);
    let states = ["data.settle=5", "data.apart=5", "data.train_states=8", "data.validation_states=4"];
    for change in states.into_iter().chain(["swarm.u_limit=1e9", "physics.ticks=40", "train.updates=3"]) {
        command.args(["--set", change]);
    }
    command
}

/// Resumes a run.
pub fn resume(out: &Path, more: &[&str]) -> Command {
    let mut command = cinoc(["train", "heat1d", "--threads", "1", "--resume", "--out"]);
    command.arg(out).args(more);
    command
}

/// Ends well; returns what it printed.
pub fn good(command: &mut Command) -> Output {
    let output = command.output().expect("the program starts");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// Ends with one sentence, which is returned.
pub fn refused(command: &mut Command) -> String {
    let output = command.output().expect("the program starts");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{command:?} should fail: {text}");
    assert_eq!(text.trim_end().lines().count(), 1, "one line, not: {text}");
    text
}

/// A finished run of three updates, in a new folder.
pub fn finished() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    good(&mut tiny(&run, 3));
    (folder, run)
}

/// Name and content of all files of a folder, sorted.
pub fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    let mut all: Vec<_> =
        entries.map(|e| (e.file_name().to_string_lossy().into_owned(), std::fs::read(e.path()).expect("a file"))).collect();
    all.sort();
    all
}
