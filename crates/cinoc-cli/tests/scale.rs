//! Times against sizes: every size gets its line, the figure is drawn, mistakes are explained.

use std::process::{Command, Output};

fn scale(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cinoc")).arg("scale").args(arguments).output().expect("the program starts")
}

const TINY: [&str; 9] = ["heat2d", "--agents", "20,5", "--fixed-grid", "16", "--grids", "8,12", "--fixed-agents", "4"];

#[test]
fn every_size_has_its_line_and_its_place_in_the_figure() {
    let folder = tempfile::tempdir().expect("a folder");
    let picture = folder.path().join("scale.png");
    let output = scale(&[&TINY[..], &["--json", "-o", picture.to_str().expect("a plain path")]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines: Vec<serde_json::Value> =
        String::from_utf8_lossy(&output.stdout).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let sizes: Vec<_> = lines.iter().map(|line| (line["agents"].as_u64(), line["grid"][0].as_u64())).collect();
    let expected = [(5, 16), (20, 16), (4, 8), (4, 12)].map(|(agents, grid)| (Some(agents), Some(grid)));
    assert_eq!(sizes, expected);
    for line in &lines {
        let number = |key: &str| line[key].as_f64().unwrap_or_else(|| panic!("{line} lacks {key}"));
        assert!(number("ms_median") >= number("ms_min") && number("ms_min") > 0.0 && number("ms_fit") > 0.0, "{line}");
    }
    // Equally many cells on every grid.
    let cells = |line: &serde_json::Value, grid: f64| line["sigma"].as_f64().expect("a width") * (grid - 1.0);
    assert!((cells(&lines[2], 8.0) - cells(&lines[3], 12.0)).abs() < 1e-9);
    assert!(picture.metadata().expect("a figure").len() > 10_000);
}

#[test]
fn what_cannot_be_timed_is_explained() {
    for (arguments, expected) in [
        (&["heat1d"][..], "heat2d"),
        (&["heat2d", "--agents", "5,5"], "--agents"),
        (&["heat2d", "--grids", "0,8"], "--grids"),
        (&["heat2d", "--fixed-grid", "2"], "physics.nodes"),
        (&[&TINY[..], &["-o", "figure.gif"]].concat(), ".png"),
    ] {
        let output = scale(arguments);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && text.contains(expected), "{arguments:?} says {text:?}, which lacks {expected:?}");
    }
}
