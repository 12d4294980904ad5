//! Reports, files and refusals of `cinoc optimum`.

mod common;

use common::{cinoc, good, refused};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// A small case.
const SMALL: [&str; 9] = ["heat1d", "--agents", "3", "--iterations", "20", "--set", "physics.ticks=20", "--seed", "7"];

fn optimum(arguments: &[&str]) -> Command {
    let mut command = cinoc(["optimum"]);
    command.args(SMALL).args(arguments);
    command
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).expect("a file");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// The instances of a file in order, without how long they took.
fn instances(path: &Path) -> Vec<Value> {
    let mut found: Vec<Value> = lines(path).into_iter().filter(|line| line.get("instance").is_some()).collect();
    found.sort_by_key(|line| line["instance"].as_u64());
    for line in &mut found {
        line["seconds"] = Value::Null;
    }
    found
}

#[test]
fn json_says_what_was_found() {
    let output = good(&mut optimum(&["--instances", "2", "--json"]));
    let found: Value = serde_json::from_slice(&output.stdout).expect("one object");
    assert_eq!((&found["agents"], &found["instances"], &found["optimum"]["count"]), (&3.into(), &2.into(), &2.into()));
    let mean = |key: &str| found[key]["mean"].as_f64().expect(key);
    assert!(mean("optimum") < mean("policy") && mean("optimum") < mean("uncontrolled"), "{found}");
    assert!((found["ratio"].as_f64().expect("a ratio") / (mean("optimum") / mean("uncontrolled")) - 1.0).abs() < 1e-9);
    for key in ["q05", "q25", "median", "q75", "q95", "worst"] {
        assert!(found["ratios"][key].as_f64().is_some() && found["gap"][key].as_f64().is_some_and(|gap| gap > 1.0), "{key}");
    }
    assert!(mean("bound_unlimited_static") >= 0.0);
}

#[test]
fn a_search_goes_on_where_it_stopped() {
    let folder = tempfile::tempdir().expect("a folder");
    let (whole, part) = (folder.path().join("whole.jsonl"), folder.path().join("part.jsonl"));
    let run = |path: &Path, more: &[&str]| {
        let mut command = optimum(&["--instances", "3", "--threads", "1", "-o"]);
        command.arg(path).args(more);
        command
    };
    good(&mut run(&whole, &[]));
    // As if it had been killed while it wrote the second line.
    let text = std::fs::read_to_string(&whole).expect("a file");
    let cut = text.match_indices('\n').nth(1).expect("two lines").0 + 40;
    std::fs::write(&part, &text[..cut]).expect("a file");
    good(&mut run(&part, &[]));
    assert_eq!(instances(&part), instances(&whole));
    assert!(lines(&part).last().is_some_and(|line| line["summary"]["optimum"]["count"] == 3));
    // Nothing is missing now, and more can be asked for.
    good(&mut run(&part, &[]));
    let other = refused(optimum(&["--instances", "3", "--fail", "0.3", "-o"]).arg(&part));
    assert!(other.contains("was made with fail 0.0, not 0.3") && other.contains("give another name with -o"), "{other}");
    let settings = refused(run(&part, &["--set", "swarm.u_limit=3"]).arg("--json"));
    assert!(settings.contains("other settings of the problem; repeat its --set"), "{settings}");
    std::fs::write(&part, "notes\n").expect("a file");
    let strange = refused(&mut run(&part, &[]));
    assert!(strange.contains("is not a file of `optimum`") && strange.contains("give another name with -o"), "{strange}");
    assert_eq!(std::fs::read_to_string(&part).expect("a file"), "notes\n");
}

#[test]
fn a_receding_horizon_is_timed() {
    let output = good(&mut optimum(&["--instances", "2", "--horizon", "6", "--every", "3", "--json"]));
    let found: Value = serde_json::from_slice(&output.stdout).expect("one object");
    assert_eq!(found["decisions"], 14);
    assert!(found["ratio"].as_f64().is_some_and(|ratio| ratio < 1.0), "{found}");
    let (median, worst) = (&found["decision_seconds"]["median"], &found["decision_seconds_worst"]);
    assert!(median.as_f64() > Some(0.0) && worst.as_f64() >= median.as_f64(), "{found}");
    let told = refused(&mut optimum(&["--horizon", "0"]));
    assert!(told.contains("must be 1 or more"), "{told}");
}

#[test]
fn eval_reports_the_gap() {
    let mut command = cinoc(["eval", "heat1d", "--instances", "3", "--set", "physics.ticks=20", "--optimum", "2", "--json"]);
    let found: Value = serde_json::from_slice(&good(&mut command).stdout).expect("one object");
    let gap = &found["optimum"]["gap"];
    assert!(gap["count"] == 2 && gap["median"].as_f64().is_some_and(|gap| gap > 1.0), "{found}");
}

/// Requests that no search could hold or know are refused before it begins.
#[test]
fn what_cannot_be_searched_is_refused_with_a_sentence() {
    for many in [&["--instances", "1", "--agents", "99999999"][..], &["--agents", "99999999", "--horizon", "9"]] {
        let text = refused(cinoc(["optimum", "heat1d"]).args(many));
        assert!(text.contains("GB") && text.lines().count() == 1, "{text}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    let tiny = ["--set", "train.updates=1", "--set", "physics.ticks=4", "--set", "policy.hidden=[4]"];
    good(cinoc(["train", "heat1d", "--preset", "paper", "--set", "policy.kind=centralised"]).args(tiny).arg("--out").arg(&run));
    let text = refused(cinoc(["optimum"]).arg(&run).args(["--agents", "3", "--instances", "1"]));
    assert!(text.contains("it must be 8") && text.lines().count() == 1, "{text}");
    // Trained with other numbers of agents it is refused as well.
    let text = refused(cinoc(["train", "heat1d", "--set", "policy.kind=centralised", "--out"]).arg(folder.path().join("other")));
    assert!(text.starts_with("cinoc: train.agents cannot be ") && text.contains("the paper's preset"), "{text}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_device_is_no_place_for_results() {
    let text = refused(&mut optimum(&["--instances", "1", "-o", "/dev/full"]));
    assert!(text.contains("not a regular file") && text.contains("give another name with -o"), "{text}");
}

#[test]
fn two_processes_do_not_share_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("kept.jsonl");
    good(optimum(&["--instances", "1", "-o"]).arg(&path));
    let held = std::fs::OpenOptions::new().write(true).read(true).open(&path).expect("a file");
    held.lock().expect("a lock");
    let text = refused(optimum(&["--instances", "2", "-o"]).arg(&path));
    assert!(text.contains("another process writes"), "{text}");
    drop(held);
    // An instance that is there twice counts once.
    let again = lines(&path).into_iter().find(|line| line.get("instance").is_some()).expect("an instance");
    let text = std::fs::read_to_string(&path).expect("a file") + &again.to_string() + "\n";
    std::fs::write(&path, text).expect("a file");
    let output = good(optimum(&["--instances", "2", "--json", "-o"]).arg(&path));
    let found: Value = serde_json::from_slice(&output.stdout).expect("one object");
    assert_eq!(found["optimum"]["count"], 2);
}
