//! A wrong word gives one line that says what would have been right.

mod common;

use std::process::{Command, Output};

fn cinoc(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cinoc")).args(arguments).output().expect("the program starts")
}

fn error(arguments: &[&str]) -> String {
    let output = cinoc(arguments);
    assert!(!output.status.success(), "{arguments:?} should fail");
    let text = String::from_utf8(output.stderr).expect("text");
    assert_eq!(text.trim_end().lines().count(), 1, "one line, not: {text}");
    text
}

#[test]
fn wrong_words_are_answered_with_right_ones() {
    let out = tempfile::tempdir().expect("a folder");
    let run = out.path().join("run");
    let run = run.to_str().expect("a plain path");
    for (arguments, expected) in [
        (vec!["train", "heat1", "--out", run], "heat1d"),
        (vec!["train", "no-such-problem", "--out", run], "heat1d, fkpp1d"),
        (vec!["train", "heat1d", "--out", run, "--set", "train.updtes=3"], "train.updates"),
        (vec!["train", "heat1d", "--out", run, "--set", "train.updates=many"], "a whole number"),
        (vec!["train", "heat1d", "--out", run, "--set", "train.updates=-3"], "a whole number from 0 to 1e8"),
        (vec!["train", "heat1d", "--out", run, "--set", "swarm.agents=0"], "a whole number from 1 to 1e7"),
        (vec!["train", "heat1d", "--out", run, "--set", "swarm.sigma=-1"], "a number from 1e-6 to 1e6"),
        (vec!["train", "heat1d", "--out", run, "--set", "train.schedule=\"step\""], "\"exp\" or \"warmup-cosine\""),
        (vec!["train", "heat1d", "--out", run, "--set", "policy.kind=\"mlp\""], "deeponet"),
        (vec!["train", "heat1d", "--out", run, "--set", "nonsense"], "key=value"),
        (vec!["train", "no-such-file.toml", "--out", run], "check that it exists"),
        (vec!["train", "heat1d", "--out", run, "--resume"], "leave out --resume"),
        (vec!["eval", "no-such-model"], "run folder"),
        (vec!["eval", "Cargo.toml"], "cinoc train"),
        (vec!["show", "no-such-model"], "run folder"),
        (vec!["show", "Cargo.toml"], "no policy yet"),
        (vec!["check", "heat2"], "did you mean heat2d? Otherwise choose one of: heat1d, fkpp1d"),
        (vec!["show", "heat3d"], "did you mean heat1d or heat2d? Otherwise give"),
        (vec!["train", "heat1d", "--out", run, "--set", "updates=5"], "did you mean train.updates? Otherwise"),
        (
            vec!["train", "heat1d", "--out", run, "--set", "physics.updates=5"],
            "did you mean train.updates? Otherwise choose one of: physics.",
        ),
        (vec!["list", "heat1d", "--set", "physics.nodes=1"], "physics.nodes cannot be 1"),
        (vec!["study", "foo"], "one of cardinality"),
        (vec!["study", "failure"], "study failure PROBLEM"),
        (vec!["stability", "density2d"], "choose one of: "),
        (vec!["stability", "ks1d", "--fail", "2"], "a share from 0 to 1"),
        (
            vec!["show", "heat1d", "-o", "no-such-folder/a.png"],
            "there is no folder no-such-folder; make it, or choose another name",
        ),
        (vec!["show", "heat1d", "-o", "a.pdf"], ".gif (an animation) or .html (a page)"),
    ] {
        let text = error(&arguments);
        assert!(text.contains(expected), "{arguments:?} says {text:?}, which lacks {expected:?}");
    }
}

/// Mistakes that are found by the parser of the command line.
#[test]
fn numbers_are_asked_for() {
    for (arguments, expected) in [
        (
            vec!["eval", "heat1d", "--agents", "8,x"],
            "give a whole number such as 8; where several are allowed, separate them by commas",
        ),
        (vec!["show", "heat1d", "--instance", "first"], "give a whole number"),
        (vec!["eval", "heat1d", "--fail", "half"], "give a number such as 0.5"),
    ] {
        let output = cinoc(&arguments);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && text.contains(expected), "{arguments:?} says {text:?}");
    }
}

#[test]
fn the_version_is_that_of_the_program() {
    let text = String::from_utf8(cinoc(&["--version"]).stdout).expect("text");
    assert_eq!(text.trim_end(), format!("cinoc {}", env!("CARGO_PKG_VERSION")));
}

/// A table begins when there is a row: an error is not announced by a header.
#[test]
fn nothing_is_printed_before_an_error() {
    let output = cinoc(&["eval", "heat1d", "--agents", "100000000"]);
    assert!(!output.status.success() && output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
}

/// Names with escape sequences once reached the terminal as they were.
#[test]
fn names_are_printed_without_escape_sequences() {
    let out = tempfile::tempdir().expect("a folder");
    let strange = out.path().join("a\x1b[31m.png");
    let output = common::good(common::cinoc(["show", "heat1d", "-o"]).arg(&strange));
    assert!(strange.exists() && !output.stdout.contains(&0x1b), "{}", String::from_utf8_lossy(&output.stdout));
    for command in ["eval", "show"] {
        let text = common::refused(&mut common::cinoc([command, "no\x1b[31msuch.safetensors"]));
        assert!(!text.contains('\x1b'), "{text:?}");
    }
    std::fs::write(out.path().join("b\x1b[31m.safetensors"), "no model").expect("written");
    let text =
        common::refused(&mut common::cinoc([std::ffi::OsStr::new("eval"), out.path().join("b\x1b[31m.safetensors").as_os_str()]));
    assert!(!text.contains('\x1b') && text.contains("is not a CINOC model"), "{text:?}");
    let run = out.path().join("run\x1b[31m");
    let output = common::good(&mut common::tiny(&run, 1));
    assert!(!output.stdout.contains(&0x1b), "{}", String::from_utf8_lossy(&output.stdout));
}

/// A run in a folder of any name can be scored and drawn.
#[cfg(target_os = "linux")]
#[test]
fn names_need_not_be_utf8() {
    use std::os::unix::ffi::OsStrExt;
    let out = tempfile::tempdir().expect("a folder");
    let run = out.path().join(std::ffi::OsStr::from_bytes(b"\xff\xfe"));
    common::good(&mut common::tiny(&run, 1));
    common::good(common::cinoc(["eval", "--instances", "2"]).arg(&run));
    common::good(common::cinoc(["show"]).arg(&run).arg("-o").arg(run.join("a.png")));
    common::good(common::cinoc(["export"]).arg(&run).arg("-o").arg(run.join("a.c")));
}

/// Pipes once blocked for ever, and `/dev/zero` filled the memory.
#[cfg(target_os = "linux")]
#[test]
fn only_files_that_end_are_read() {
    let out = tempfile::tempdir().expect("a folder");
    let pipe = out.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    let (zero, page) = (out.path().join("zero.toml"), out.path().join("page.html"));
    std::os::unix::fs::symlink("/dev/zero", &zero).expect("a link");
    let path = |path: &std::path::Path| path.to_str().expect("a plain path").to_owned();
    let (pipe, zero, page) = (path(&pipe), path(&zero), path(&page));
    for (arguments, expected) in [
        (vec!["eval", &pipe], "it is a pipe"),
        (vec!["eval", "heat1d", "--start", &pipe], "it is a pipe"),
        (vec!["eval", "heat2d", "--target", &pipe], "it is a pipe"),
        (vec!["optimum", "heat1d", "-o", &pipe], "not a regular file"),
        (vec!["show", "heat1d", "-o", &page, "--engine", &pipe], "it is a pipe"),
        (vec!["show", "heat1d", "-o", &page, "--engine", "/dev/zero"], "it does not end"),
        (vec!["show", "heat1d", "-o", &page, "--engine", "/etc/passwd"], "is not WebAssembly"),
        (vec!["train", &zero], "it does not end"),
        (vec!["list", &zero], "it does not end"),
    ] {
        let text = error(&arguments);
        assert!(text.contains(expected), "{arguments:?} says {text:?}");
    }
    assert!(!std::path::Path::new(&page).exists());
}

#[test]
fn a_blown_up_run_says_where_and_what_to_do() {
    let out = tempfile::tempdir().expect("a folder");
    let run = out.path().join("run");
    let mut command = common::strong(&run);
    let text = common::refused(command.env("CINOC_CACHE", out.path()));
    assert!(text.contains("update 1") && text.contains("tick") && text.contains("train.rate"), "{text}");
}

#[test]
fn a_file_of_changes_is_a_problem_too() {
    let out = tempfile::tempdir().expect("a folder");
    let (file, run) = (out.path().join("tiny.toml"), out.path().join("run"));
    let text = "problem = \"fkpp1d\"\npreset = \"paper\"\n[physics]\nticks = 5\n[train]\nbatch = 2\nupdates = 3\nvalidate_instances = 2\n";
    std::fs::write(&file, text).expect("a file");
    let (file, run) = (file.to_str().expect("a path"), run.to_str().expect("a path"));
    let output = cinoc(&["train", file, "--out", run, "--json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let line: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((line["problem"].as_str(), line["updates"].as_u64()), (Some("fkpp1d"), Some(3)));

    let output = cinoc(&["eval", run, "--agents", "3,20", "--instances", "4", "--fail", "0.5", "--json"]);
    let rows: Vec<serde_json::Value> =
        String::from_utf8_lossy(&output.stdout).lines().map(|l| serde_json::from_str(l).expect("JSON")).collect();
    assert_eq!(rows.len(), 2);
    for key in ["problem", "model", "agents", "instances", "seed", "score", "uncontrolled", "ratio", "effort", "diverged"] {
        assert!(!rows[0][key].is_null(), "eval --json lacks {key}");
    }
    for key in ["mean", "std", "median"] {
        assert!(rows[1]["score"][key].is_number());
    }
    let again = error(&["train", file, "--out", run]);
    assert!(again.contains("--resume"), "{again}");
    for name in ["a.png", "a.svg", "a.gif"] {
        let picture = out.path().join(name);
        let drawn =
            cinoc(&["show", run, "--agents", "5", "--instance", "2", "--fail", "0.3", "-o", picture.to_str().expect("a path")]);
        assert!(drawn.status.success(), "{}", String::from_utf8_lossy(&drawn.stderr));
        assert!(picture.metadata().expect("a picture").len() > 1000);
    }
}

#[test]
fn every_command_reports_numbers_as_json() {
    let small = ["--set", "physics.ticks=4", "--set", "train.batch=2", "--json"];
    for (command, keys) in [
        (
            vec!["bench", "heat1d", "--updates", "2"],
            vec!["ms_per_update_median", "ms_forward_median", "steps_per_s", "ms_flop_limit"],
        ),
        (vec!["bench", "heat1d", "--updates", "1", "--preset", "tuned"], vec!["ms_per_update_median", "shards"]),
        (vec!["bench", "heat1d", "--updates", "1", "--shards"], vec!["parameters", "seconds", "shards"]),
        (vec!["check", "fkpp1d"], vec!["parts", "sweep", "growth", "memory_mb"]),
    ] {
        let output = cinoc(&[&command[..], &small[..]].concat());
        let line: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        keys.iter().for_each(|key| assert!(!line[key].is_null(), "{command:?} lacks {key}"));
    }
}

/// Every command that reports numbers does so in JSON.
#[test]
fn lists_figures_and_analyses_report_json_too() {
    let out = tempfile::tempdir().expect("a folder");
    let picture = out.path().join("a.png");
    let picture = picture.to_str().expect("a path");
    for (command, keys) in [
        (vec!["list", "heat1d", "--set", "train.updates=7"], vec!["train", "physics"]),
        (vec!["show", "heat1d", "-o", picture], vec!["score", "uncontrolled", "files", "seed"]),
        (vec!["study"], vec!["study", "about"]),
        (
            vec!["stability", "heat1d", "--agents", "8"],
            vec!["agents", "rate", "stable", "uncontrolled", "slower_than_uncontrolled", "gain_margin", "delay_margin"],
        ),
        (vec!["stability", "ks1d:sharp", "--agents", "8", "--fail", "0.25"], vec!["failed", "rate", "rate_infinite"]),
    ] {
        let output = cinoc(&[&command[..], &["--json"]].concat());
        let text = String::from_utf8(output.stdout).expect("text");
        let line: serde_json::Value = serde_json::from_str(text.lines().next().expect("a line")).expect("JSON");
        keys.iter().for_each(|key| assert!(!line[key].is_null(), "{command:?} lacks {key}: {line}"));
    }
}

/// The states of a chaotic problem are the same when they are made, kept, read again, or cannot be kept.
#[test]
fn stored_states_are_those_made() {
    let out = tempfile::tempdir().expect("a folder");
    let describe = |cache: &str, seed: &str| {
        let small = ["ks1d", "--set", "data.settle=5", "--set", "data.train_states=40", "--json"];
        let output = Command::new(env!("CARGO_BIN_EXE_cinoc"))
            .arg("data")
            .args(small)
            .args(["--seed", seed])
            .env("CINOC_CACHE", cache)
            .output()
            .expect("the program runs");
        let lines = String::from_utf8(output.stdout).expect("text");
        let facts = lines.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
        facts.map(|facts| [facts["mean_square"].to_string(), facts["largest"].to_string()]).collect::<Vec<_>>()
    };
    let folder = out.path().join("kept");
    let kept = folder.to_str().expect("a path");
    let file = out.path().join("file");
    std::fs::write(&file, "no folder").expect("written");
    let made = ["0", "7"].map(|seed| describe(kept, seed));
    // A set for each use and seed, all of them different.
    let mut sets = made.concat();
    assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), 6);
    sets.sort();
    sets.dedup();
    assert_eq!(sets.len(), 6, "{sets:?}");
    for (seed, made) in ["0", "7"].into_iter().zip(&made) {
        assert_eq!(made.len(), 3);
        assert_eq!(describe(kept, seed), *made);
        assert_eq!(describe(file.to_str().expect("a path"), seed), *made);
    }
    assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), 6);
}

#[cfg(not(feature = "mpi"))]
#[test]
fn one_of_several_ranks_needs_mpi() {
    let out = tempfile::tempdir().expect("a folder");
    let run = out.path().join("run");
    let rank = |names: [&str; 2], rank: &str, more: &[(&str, &str)]| {
        let mut command = common::tiny(&run, 1);
        command.env(names[0], rank).env(names[1], "2").envs(more.iter().copied()).output().expect("the program starts")
    };
    for names in
        [["OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"], ["PMI_RANK", "PMI_SIZE"], ["SLURM_PROCID", "SLURM_STEP_NUM_TASKS"]]
    {
        let refused = rank(names, "0", &[]);
        let text = String::from_utf8_lossy(&refused.stderr);
        assert!(!refused.status.success() && text.contains("one of 2 ranks") && text.contains("--features mpi"), "{text}");
        assert!(rank(names, "1", &[]).stderr.is_empty(), "one of them says it");
    }
    assert!(!run.exists());
    // A batch script of Slurm is one process, whatever it may start.
    assert!(rank(["SLURM_PROCID", "SLURM_NTASKS"], "0", &[]).status.success());
    std::fs::remove_dir_all(&run).expect("a run");
    assert!(rank(["PMI_RANK", "PMI_SIZE"], "1", &[("CINOC_ALONE", "1")]).status.success());
    assert!(run.join("model.safetensors").exists());
}
