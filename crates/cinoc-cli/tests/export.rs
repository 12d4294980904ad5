//! `cinoc export` as a user calls it.

mod common;

use common::{cinoc, refused};
use serde_json::Value;
use std::process::Command;

/// Returns the output of a command that succeeds.
fn good(command: &mut Command) -> String {
    String::from_utf8(common::good(command).stdout).expect("text")
}

#[test]
fn both_kinds_of_files_and_decisions_to_compare_with() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let said = good(cinoc(["export", "heat1d:sharp"]).current_dir(&folder));
    assert!(said.contains("Wrote heat1d.c: 34 readings and 8 numbers of memory to 2 of action"), "{said}");
    let text = std::fs::read_to_string(path("heat1d.c")).expect("a C file");
    for expected in
        ["void cinoc_act(", "extern const cinoc_real cinoc_offset[12][1];", "strength:", "#define CINOC_TICK_TIME 1e-3"]
    {
        assert!(text.contains(expected), "the file lacks {expected:?}");
    }
    let both = ["export", "heat1d:sharp", "-o", "a.onnx", "--vectors", "a.npz", "--decisions", "200", "--json"];
    let facts: Value = serde_json::from_str(&good(cinoc(both).current_dir(&folder))).expect("JSON");
    assert!(facts["readings"] == 34 && facts["memory"] == 8 && facts["actions"] == 2 && facts["file"] == "a.onnx", "{facts}");
    let archive = std::fs::read(path("a.npz")).expect("arrays");
    let mut arrays = npyz::npz::NpzArchive::new(std::io::Cursor::new(archive)).expect("an archive");
    for (name, shape) in [("readings", vec![200, 34]), ("actions", vec![200, 2]), ("first", vec![200]), ("limits", vec![2])] {
        assert_eq!(arrays.by_name(name).expect("an array").expect("an array").shape(), shape, "{name}");
    }
}

#[test]
fn what_cannot_be_written_is_explained() {
    let folder = tempfile::tempdir().expect("a folder");
    let answer = |arguments: &[&str], expected: &str| {
        let text = refused(cinoc(arguments).current_dir(&folder));
        assert!(text.contains(expected), "{arguments:?}: {text}");
    };
    answer(&["export", "heat1d", "-o", "policy.py"], "its name must end in .c or .onnx");
    answer(&["export", "heat3d"], "there is no model \"heat3d\"");
    answer(&["export", "heat1d", "-o", "nowhere/policy.c"], "there is no folder nowhere; make it");
    answer(&["export", "heat1d", "--vectors", "a.npz", "--decisions", "0"], "it must be from 1 to");
}
