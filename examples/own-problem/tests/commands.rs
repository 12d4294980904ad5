//! All commands on the problem of this crate, as a user would call them.

use serde_json::Value;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Settings of a short run.
const TINY: [&str; 10] = [
    "--set",
    "physics.ticks=8",
    "--set",
    "train.batch=4",
    "--set",
    "train.updates=10",
    "--set",
    "train.validate_every=5",
    "--set",
    "train.validate_instances=4",
];

fn run<S: AsRef<OsStr>>(folder: &Path, arguments: impl IntoIterator<Item = S>) -> Output {
    Command::new(env!("CARGO_BIN_EXE_own-problem")).args(arguments).current_dir(folder).output().expect("the program starts")
}

/// Runs a command that succeeds and returns its output.
fn good<'a>(folder: &Path, arguments: impl IntoIterator<Item = &'a str>) -> String {
    let arguments: Vec<&str> = arguments.into_iter().collect();
    let output = run(folder, &arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// Returns the single line on standard error of a rejected command.
fn refused(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "it should be refused: {text}");
    assert_eq!(text.trim_end().lines().count(), 1, "one line, not: {text}");
    text
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn from_the_list_to_a_picture() {
    let temporary = tempfile::tempdir().expect("a folder");
    let folder = temporary.path();
    assert!(good(folder, ["list"]).contains("phases  "));
    let all = good(folder, ["list", "phases"]);
    for expected in ["# Diffusivity ε", "waves = 3", "kind = \"linear-integral\"", "keep = 0.95", "from 0 to 1)"] {
        assert!(all.contains(expected), "the settings lack {expected:?}: {all}");
    }
    let trained = good(folder, ["train", "phases", "--out", "run"].into_iter().chain(TINY));
    assert!(trained.contains("own-problem eval run"), "the advice names this program: {trained}");
    let row = json(&good(folder, ["eval", "run", "--agents", "20", "--instances", "4", "--fail", "0.25", "--json"]));
    assert!(row["problem"] == "phases" && row["ratio"].is_number() && row["measures"]["last"].is_number(), "{row}");
    for picture in ["a.png", "a.svg", "a.gif"] {
        good(folder, ["show", "run", "-o", picture]);
        assert!(folder.join(picture).metadata().expect("a picture").len() > 5000);
    }
    for file in ["a.c", "a.onnx"] {
        let facts = json(&good(folder, ["export", "run", "-o", file, "--json"]));
        assert_eq!((&facts["readings"], &facts["memory"], &facts["actions"]), (&18.into(), &1.into(), &1.into()), "{facts}");
    }
    let strict = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-c", "a.c"];
    let compiled = Command::new("cc").args(strict).current_dir(folder).output().expect("a C compiler");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let checked = json(&good(folder, ["check", "phases", "--json"].into_iter().chain(TINY)));
    for part in checked["parts"].as_array().expect("parts") {
        assert!(part["error"].as_f64().expect("a number") < 1e-2, "{part}");
    }
    let errors =
        checked["sweep"]["points"].as_array().expect("points").iter().map(|point| point["error"].as_f64().expect("a number"));
    assert!(errors.fold(f64::INFINITY, f64::min) < 1e-3, "{checked}");
    good(folder, ["bench", "phases", "--updates", "2", "--json"].into_iter().chain(TINY));
    let timed = good(folder, ["bench", "phases", "--updates", "2"].into_iter().chain(TINY));
    assert!(timed.contains("one update") && !timed.contains("inf"), "{timed}");
    assert!(good(folder, ["data", "phases"]).contains("drawn when needed"));
}

#[test]
fn policies_and_problems_of_both_crates_mix() {
    let temporary = tempfile::tempdir().expect("a folder");
    let folder = temporary.path();
    for (problem, policy) in
        [("heat1d", "linear-integral"), ("phases", "deeponet"), ("phases", "recurrent"), ("heat2d", "linear-integral")]
    {
        let (kind, out) = (format!("policy.kind={policy}"), format!("{problem}-{policy}"));
        good(folder, ["train", problem, "--out", &out, "--set", &kind].into_iter().chain(TINY));
    }
}

#[test]
fn settings_are_checked_and_answered_with_what_would_be_right() {
    let temporary = tempfile::tempdir().expect("a folder");
    for (set, expected) in [
        ("policy.keep=2", "a number from 0 to 1"),
        ("task.wave=2", "did you mean task.waves?"),
        ("observe.window=3", "at most the length of the domain, 1"),
        ("policy.kind=pid", "deeponet, recurrent, centralised, pi, state_feedback, uncontrolled, linear-integral"),
    ] {
        let text = refused(&run(temporary.path(), ["train", "phases", "--set", set]));
        assert!(text.contains(expected) && text.starts_with("own-problem: "), "{set}: {text}");
    }
}

/// Builds the `cinoc` command with the profile of this crate and returns its path.
fn plain() -> PathBuf {
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--package", "cinoc-cli"]).current_dir(env!("CARGO_MANIFEST_DIR"));
    build.args(if cfg!(debug_assertions) { &[][..] } else { &["--release"] });
    assert!(build.status().expect("cargo starts").success(), "cinoc can be built");
    Path::new(env!("CARGO_BIN_EXE_own-problem")).with_file_name(format!("cinoc{}", std::env::consts::EXE_SUFFIX))
}

/// The `cinoc` command does not contain the problem of this crate.
#[test]
fn the_plain_program_refuses_a_model_of_this_crate() {
    let temporary = tempfile::tempdir().expect("a folder");
    let folder = temporary.path();
    good(folder, ["train", "phases", "--out", "run"].into_iter().chain(TINY));
    let text = refused(&Command::new(plain()).arg("eval").arg(folder.join("run")).output().expect("the program starts"));
    assert!(text.contains("is a model of the problem \"phases\", which this program does not define; open it with "), "{text}");
}
