//! Reports, warnings and refusals of `cinoc eval`.

mod common;

use common::{cinoc, good, refused};
use std::process::{Command, Output};

fn eval(arguments: &[&str]) -> Command {
    let mut command = cinoc(["eval"]);
    command.args(arguments);
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn row(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// States of `ks1d` that are soon made.
const SOON: [&str; 6] = ["--set", "data.settle=20", "--set", "data.apart=5", "--set", "data.test_states=4"];

#[test]
fn numbers_of_agents_outside_the_card_are_warned_of() {
    let output = good(&mut eval(&["heat1d:sharp", "--instances", "2", "--agents", "2,4,8,32"]));
    let warning = text(&output.stderr);
    assert!(warning.contains("trained with 8 agents and is known to work with 6 to 512; 2, 4 lie outside"), "{warning}");
    let warning = text(&good(&mut eval(&["fkpp1d:sharp", "--instances", "2", "--agents", "20,160"])).stderr);
    assert!(warning.contains("trained with 20 agents and is known to work with 15 to 80; 160 lie outside"), "{warning}");
    assert_eq!(text(&good(&mut eval(&["heat1d:sharp", "--instances", "2", "--agents", "6,8,32"])).stderr), "");
    // Numbers alone go to standard output.
    let output = good(&mut eval(&["heat1d:sharp", "--instances", "2", "--agents", "4", "--json"]));
    assert!(row(&output)["agents"] == 4 && text(&output.stderr).contains("4 lie outside"));
}

#[test]
fn the_trained_number_of_agents_is_that_of_the_training() {
    let said = text(&good(&mut eval(&["heat1d", "--instances", "2", "--set", "swarm.agents=16"])).stdout);
    assert!(said.contains("trained with 8 agents"), "{said}");
    assert!(said.lines().last().is_some_and(|line| line.trim_start().starts_with("16 ")), "{said}");
}

#[test]
fn a_folder_does_not_hide_a_model() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("heat1d")).expect("a folder");
    let output = good(eval(&["heat1d", "--instances", "2", "--json"]).current_dir(folder.path()));
    let (hint, elsewhere) = (text(&output.stderr), good(&mut eval(&["heat1d", "--instances", "2", "--json"])));
    assert!(hint.contains("./heat1d") && hint.lines().count() == 1, "{hint}");
    assert_eq!(output.stdout, elsewhere.stdout);
    assert_eq!(text(&elsewhere.stderr), "");
    // What the hint says works: here there is no model in the folder.
    let missing = refused(eval(&["./heat1d"]).current_dir(folder.path()));
    assert!(missing.contains("model.safetensors"), "{missing}");
}

#[test]
fn more_than_there_is_is_refused_with_advice() {
    let told = refused(&mut eval(&["ks1d", "--instances", "500"]));
    assert!(told.contains("64 test states") && told.contains("--set data.test_states=500"), "{told}");
    let told = refused(eval(&["ks1d", "--instances", "5"]).args(SOON));
    assert!(told.contains("--instances 4 or fewer"), "{told}");
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    let told = refused(&mut eval(&["heat1d", "--threads", "1000000"]));
    assert!(told.contains("--threads cannot be 1000000; it must be from 0 (all cores) to 1024"), "{told}");
    let told = refused(cinoc(["train", "heat1d", "--threads", "1000000", "--out"]).arg(&run));
    assert!(told.contains("--threads cannot be 1000000") && !run.exists(), "{told}");
}

#[test]
fn an_effort_that_costs_nothing_is_still_measured() {
    let effort = |changes: &[&str]| {
        let output = good(eval(&["heat1d", "--instances", "3", "--json"]).args(changes));
        row(&output)["effort"].as_f64().expect("a finite number")
    };
    let (free, dear) = (effort(&["--set", "cost.effort=0"]), effort(&[]));
    assert!(free > 1.0 && free == dear, "{free} and {dear}: its weight changes what is trained, not what is measured");
}

#[test]
fn two_seeds_of_a_chaotic_problem_are_two_samples() {
    let folder = tempfile::tempdir().expect("a folder");
    let means = ["1", "2", "1"].map(|seed| {
        let mut command = eval(&["ks1d", "--instances", "4", "--json", "--seed", seed]);
        let found = row(&good(command.args(SOON).env("CINOC_CACHE", folder.path())));
        ["score", "uncontrolled"].map(|key| found[key]["mean"].as_f64().expect("a number"))
    });
    assert_eq!(means[0], means[2]);
    assert!(means[0][0] != means[1][0] && means[0][1] != means[1][1], "{means:?}");
}

#[test]
fn a_policy_that_diverges_fails_loudly() {
    let folder = tempfile::tempdir().expect("a folder");
    for json in [&[][..], &["--json"]] {
        let mut command = eval(&["ks1d", "--instances", "4", "--set", "swarm.u_limit=1e6"]);
        let output = command.args(SOON).args(json).env("CINOC_CACHE", folder.path()).output().expect("the program starts");
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{told}");
        assert!(told.contains("4 of 4 episodes diverged; their score counts as infinite"), "{told}");
        assert!(told.contains("with 8 agents all 4 episodes diverged; lower the actuator limits"), "{told}");
        if json.is_empty() {
            assert!(text(&output.stdout).lines().last().is_some_and(|line| line.contains(" inf ")), "{output:?}");
        } else {
            let found = row(&output);
            assert_eq!((&found["score"]["mean"], &found["ratio"]), (&"inf".into(), &"inf".into()), "{found}");
            assert!(found["diverged"] == 4 && found["uncontrolled"]["mean"].is_number(), "{found}");
        }
    }
}
