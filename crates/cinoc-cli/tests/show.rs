//! Figures and refusals of `cinoc show`.

mod common;

use common::{cinoc, good, refused};

/// Episodes that are soon over.
const SHORT: [&str; 2] = ["--set", "physics.ticks=12"];

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
