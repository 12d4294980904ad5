//! Lists, tables, continuation and refusals of `cinoc study`.

mod common;

use common::{cinoc, good, refused};
use std::path::Path;
use std::process::Command;

/// A small study in a folder.
fn study(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = cinoc(["study"]);
    command.args(arguments).args(["--instances", "2", "-o"]).arg(folder);
    command
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).expect("a file")
}

#[test]
fn without_a_name_all_are_listed() {
    let listed = String::from_utf8(good(&mut cinoc(["study"])).stdout).expect("text");
    for study in cinoc_lab::study::ALL {
        assert!(listed.contains(study.name) && listed.contains(study.about), "{listed}");
    }
}

#[test]
fn a_study_writes_a_table_and_a_picture_and_goes_on_where_it_stopped() {
    let folder = tempfile::tempdir().expect("a folder");
    let (whole, part) = (folder.path().join("whole"), folder.path().join("part"));
    let table = |folder: &Path| folder.join("failure-heat1d.jsonl");
    good(&mut study(&whole, &["failure", "heat1d", "--threads", "1"]));
    let rows = text(&table(&whole));
    assert_eq!(rows.lines().count(), 1 + 4 * 6, "a header and a line for each case");
    assert!(text(&whole.join("failure-heat1d.svg")).contains("</svg>"));
    // As if it had been killed while it wrote.
    std::fs::create_dir(&part).expect("a folder");
    std::fs::write(table(&part), &rows[..rows.len() / 2]).expect("a file");
    good(&mut study(&part, &["failure", "heat1d", "--threads", "2"]));
    assert_eq!(text(&table(&part)), rows);
    let points = String::from_utf8(good(&mut study(&part, &["failure", "heat1d", "--json"])).stdout).expect("text");
    assert_eq!(points.lines().count(), 4 * 6);
    assert_eq!(text(&table(&part)), rows, "nothing was computed twice");
    let message = refused(&mut study(&part, &["failure", "heat1d", "--seed", "9"]));
    assert!(message.contains("seed 4000"), "{message}");
}

#[test]
fn policies_are_trained_where_a_study_asks_for_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let short = ["--set", "train.updates=1", "--set", "physics.ticks=4", "--train-seeds", "3,4"];
    let arguments = [&["view", "heat1d"][..], &short[..]].concat();
    good(&mut study(folder.path(), &arguments));
    let runs = std::fs::read_dir(folder.path().join("runs")).expect("runs").count();
    let rows = text(&folder.path().join("view-heat1d.jsonl"));
    assert_eq!(rows.lines().count(), 1 + 4 * runs, "four numbers of agents for each policy");
    assert!(rows.contains("\"trained\":3") && rows.contains("\"trained\":4"), "{rows}");
    // Without its table they serve again, but not other settings.
    std::fs::remove_file(folder.path().join("view-heat1d.jsonl")).expect("a file");
    good(&mut study(folder.path(), &arguments));
    assert_eq!(text(&folder.path().join("view-heat1d.jsonl")), rows);
    std::fs::remove_file(folder.path().join("view-heat1d.jsonl")).expect("a file");
    let message = refused(&mut study(folder.path(), &[&arguments[..], &["--set", "train.rate=1e-4"]].concat()));
    assert!(message.contains("other settings") && message.contains("remove it"), "{message}");
}

/// Policies that were trained with noise can be used without.
#[test]
fn settings_in_use_are_those_of_every_case() {
    let folder = tempfile::tempdir().expect("a folder");
    let (quiet, loud) = (folder.path().join("quiet"), folder.path().join("loud"));
    let rows = |folder: &Path| text(&folder.join("failure-heat1d.jsonl")).lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
    good(&mut study(&quiet, &["failure", "heat1d", "--used", "swarm.sensor_noise=0"]));
    good(&mut study(&loud, &["failure", "heat1d", "--used", "swarm.sensor_noise=0.1"]));
    assert!(rows(&quiet).iter().zip(rows(&loud)).all(|(quiet, loud)| *quiet != loud));
    let message = refused(&mut study(&quiet, &["failure", "heat1d"]));
    assert!(message.contains("other cases"), "{message}");
    let message = refused(&mut study(&folder.path().join("new"), &["failure", "heat1d", "--used", "swarm.noise=0.1"]));
    assert!(message.contains("swarm.noise"), "{message}");
}

#[test]
fn cases_can_be_chosen_by_their_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let few = ["ablation", "heat1d", "--set", "train.updates=1", "--set", "physics.ticks=4", "--train-seeds", "3"];
    good(&mut study(folder.path(), &[&few[..], &["--only", "as shipped,without: memory"]].concat()));
    let rows = text(&folder.path().join("ablation-heat1d.jsonl"));
    assert_eq!(rows.lines().count(), 1 + 2 * 4, "a header, and four numbers of agents for each of two policies");
    assert!(rows.contains("without: memory, four times") && !rows.contains("only: memory"), "{rows}");
}

#[test]
fn what_makes_no_sense_is_refused_in_words() {
    let folder = tempfile::tempdir().expect("a folder");
    for (arguments, word) in [
        (&["cardinal", "heat1d"][..], "cardinality"),
        (&["failure", "heat3d"], "heat"),
        (&["physics", "ks1d"], "no cases for ks1d"),
        (&["failure", "heat1d", "--policies", "ks1d"], "trained for ks1d"),
        (&["failure", "heat1d", "--only", "nothing"], "begins with nothing"),
        (&["failure", "heat1d", "--policies", "nowhere"], "nowhere"),
    ] {
        let message = refused(&mut study(folder.path(), arguments));
        assert!(message.contains(word), "{arguments:?}: {message}");
    }
}
