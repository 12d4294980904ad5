//! Figures and refusals of `cinoc show`.

mod common;

use common::{TINY, cinoc, good, refused};
use std::path::{Path, PathBuf};

/// Episodes that are soon over.
const SHORT: [&str; 2] = ["--set", "physics.ticks=12"];

/// Temperatures around 300 beside a share, and a solid corner.
const FILE: &str = r#"
[domain]
size = [2.0, 1.0]
cells = [4, 4]
solid = "min(x - 1.5, y - 0.3) > 0"
[fields]
T = { start = "300 + 5*tanh(random(0.5))" }
fuel = { start = "where(T > 300, 0.5, 1)" }
[equations]
T = "0.05*lap(T) + fuel + push"
fuel = "-0.1*fuel"
[agents]
number = 4
push = { width = 0.3, range = [0, 40] }
see = { window = 0.6, points = 3 }
[task]
target = "310"
cost = { error = "mean((T - target)^2)" }
score = "mean((T - target)^2)"
[time]
tick = 0.05
ticks = 20
"#;

#[test]
fn three_swarms_of_the_same_instance_are_drawn() {
    let folder = tempfile::tempdir().expect("a folder");
    for (model, names) in
        [("heat1d", ["8 agents", "4 agents", "8 agents, 3 fail at tick 6"]), ("heat2d", ["16 agents", "8 agents", "5 fail"])]
    {
        let path = folder.path().join(format!("{model}.svg"));
        good(cinoc(["show", model, "--swarms", "--seed", "0", "-o"]).arg(&path).args(SHORT));
        let svg = std::fs::read_to_string(&path).expect("a figure");
        for name in names.into_iter().chain(["uncontrolled", "error to the target"]) {
            assert!(svg.contains(name), "{model} lacks {name:?}");
        }
    }
    // Without -o it does not take the place of the usual figure.
    good(
        cinoc(["show", "heat1d", "--swarms", "--agents", "5", "--fail", "0.6", "--fail-at", "0"])
            .args(SHORT)
            .current_dir(&folder),
    );
    assert!(folder.path().join("heat1d_swarms.png").is_file() && !folder.path().join("heat1d.png").exists());
}

#[test]
fn what_does_not_go_together_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let (gif, arrays) = (folder.path().join("a.gif"), folder.path().join("a.npz"));
    let told = refused(cinoc(["show", "heat1d", "--swarms", "-o"]).arg(&gif).args(SHORT));
    assert!(told.contains("side by side are a figure") && told.contains(".png or .svg") && !gif.exists(), "{told}");
    let told = refused(cinoc(["show", "heat1d", "--swarms", "--export"]).arg(&arrays).args(SHORT));
    assert!(told.contains("--export writes one episode") && !arrays.exists(), "{told}");
    let told = refused(cinoc(["show", "heat1d", "--swarms", "--agents", "1"]).args(SHORT));
    assert!(told.contains("--agents 2 or more"), "{told}");
}

#[test]
fn swarms_that_lose_agents_are_animated() {
    let folder = tempfile::tempdir().expect("a folder");
    for model in ["heat1d", "heat2d"] {
        let path = folder.path().join(format!("{model}.gif"));
        good(cinoc(["show", model, "--fail", "0.33", "-o"]).arg(&path).args(SHORT));
        assert!(std::fs::read(&path).expect("a movie").starts_with(b"GIF89a"));
    }
}

#[test]
fn a_page_is_one_file_that_asks_for_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("page.html");
    good(cinoc(["show", "heat1d", "--agents", "5", "--optimum", "3", "-o"]).arg(&path).args(SHORT));
    let html = std::fs::read_to_string(&path).expect("a page");
    for part in ["id=\"engine\"", "id=\"model\"", "\"agents\":5", "\"starts\":4", "\"ticks\":12", "class PlaneView"] {
        assert!(html.contains(part), "the page lacks {part}");
    }
    assert!(!html.contains("src=") && !html.contains("https:"), "a page asks for nothing");
}

#[test]
fn pages_refuse_what_is_for_pictures() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = folder.path().join("page.html");
    for flags in [&["--swarms"][..], &["--fail", "0.3"], &["--before", "5"]] {
        let told = refused(cinoc(["show", "heat1d", "-o"]).arg(&page).args(flags).args(SHORT));
        assert!(told.contains("click agents on the page") && !page.exists(), "{told}");
    }
    let told = refused(cinoc(["show", "heat1d", "--optimum", "3"]).args(SHORT).current_dir(&folder));
    assert!(told.contains("-o heat1d.html"), "{told}");
    let told = refused(cinoc(["show", "heat1d", "--engine", "nowhere.wasm", "-o"]).arg(&page).args(SHORT));
    assert!(told.contains("nowhere.wasm"), "{told}");
}

/// Trains a problem file of a folder for an update.
fn trained(folder: &Path, text: &str) -> PathBuf {
    let (file, run) = (folder.join("mine.toml"), folder.join("run"));
    std::fs::write(&file, text).expect("written");
    good(cinoc(["train", "--set", "train.updates=1", "--out"]).args([&run, &file]).args(TINY));
    run
}

#[test]
fn the_page_of_a_problem_file_has_its_fields_and_the_larger_engine() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = trained(folder.path(), FILE);
    let page = folder.path().join("page.html");
    good(cinoc(["show", "-o"]).args([&page, &run]));
    let html = std::fs::read_to_string(&page).expect("a page");
    for part in [r#""fields":["T","fuel"]"#, r#""sees_target":true"#, r#""solid":[13,3]"#] {
        assert!(html.contains(part), "the page lacks {part}");
    }
    let facts = html.split_once("\"ranges\":[[").expect("ranges").1.split_once("]]").expect("an end").0;
    let ends: Vec<f64> = facts.split([',', '[', ']']).filter_map(|end| end.parse().ok()).collect();
    assert!(ends.len() == 4 && ends[0] > 290.0 && (ends[0] + ends[1] - 620.0).abs() < 1e-3, "even about the target: {ends:?}");
    assert!((0.4..0.5).contains(&ends[2]) && ends[3] == 1.0, "{ends:?}");
    good(cinoc(["show", "heat1d", "-o"]).arg(&page).args(SHORT));
    assert!(std::fs::metadata(&page).expect("a page").len() + 100_000 < html.len() as u64, "files have another engine");
}

#[test]
fn a_page_of_a_box_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = FILE.replace("[2.0, 1.0]", "[1.0, 1.0, 1.0]").replace("[4, 4]", "[4, 4, 4]");
    let run = trained(folder.path(), &text);
    let page = folder.path().join("page.html");
    let told = refused(cinoc(["show", "-o"]).args([&page, &run]));
    assert!(told.contains("on a line or in the plane") && told.contains(".gif") && !page.exists(), "{told}");
}
