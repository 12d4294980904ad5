//! A run keeps to its own files, keeps its settings, and keeps others out.

mod common;

use common::{TINY, cinoc, files, finished, good, refused, resume, strong, tiny};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Updates made so far; a file that was just begun has no header yet.
fn updates(run: &Path) -> usize {
    std::fs::read_to_string(run.join("metrics.csv")).expect("metrics").lines().count().saturating_sub(1)
}

#[test]
fn nothing_that_was_there_is_touched() {
    let folder = tempfile::tempdir().expect("a folder");
    for (out, name) in [
        ("settings", "config.toml"),
        ("curves", "metrics.csv"),
        ("model", "model.safetensors"),
        ("events", "events.out.tfevents.0000000012.cinoc"),
        ("exp.events.out.tfevents.d", "notes.txt"),
        ("lock", "run.lock"),
    ] {
        let out = folder.path().join(out);
        std::fs::create_dir(&out).expect("a folder");
        std::fs::write(out.join(name), "foreign").expect("a file");
        let text = refused(&mut tiny(&out, 1));
        assert!(text.contains("is not empty and holds no run; choose another --out"), "{text}");
        assert_eq!(files(&out), [(name.to_owned(), b"foreign".to_vec())]);
    }
    // `cinoc train config.toml --out .`
    let here = folder.path().join("here");
    std::fs::create_dir(&here).expect("a folder");
    std::fs::write(here.join("config.toml"), "problem = \"heat1d\"\n").expect("a file");
    refused(cinoc(["train", "config.toml", "--out", "."]).current_dir(&here));
    assert_eq!(files(&here).len(), 1);
}

#[test]
fn a_run_killed_before_its_first_checkpoint_can_start_again() {
    let (_folder, run) = finished();
    let whole = files(&run);
    let events = whole.iter().find(|(name, _)| name.starts_with("events")).expect("events").0.clone();
    for name in ["checkpoint.safetensors", "model.safetensors", "last.safetensors"] {
        std::fs::remove_file(run.join(name)).expect("removed");
    }
    std::fs::write(run.join(".checkpoint.safetensors.123-0.partial"), "half").expect("a file");
    // A foreign file beside them: the rest may be foreign too.
    let foreign = run.join("events.out.tfevents.9999999999.cinoc");
    std::fs::write(&foreign, "foreign").expect("a file");
    let text = refused(&mut tiny(&run, 3));
    assert!(text.contains("holds no run"), "{text}");
    assert!(run.join(&events).exists() && run.join("metrics.csv").exists());
    std::fs::remove_file(foreign).expect("removed");

    good(&mut tiny(&run, 3));
    let again = files(&run);
    assert_eq!(again.len(), whole.len(), "{:?}", again.iter().map(|(name, _)| name).collect::<Vec<_>>());
    for name in ["model.safetensors", "last.safetensors", "metrics.csv", "config.toml"] {
        let find = |all: &[(String, Vec<u8>)]| all.iter().find(|(n, _)| n == name).expect(name).1.clone();
        assert!(find(&again) == find(&whole), "{name} differs");
    }
}

#[test]
fn settings_are_checked_before_a_folder_is_made() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("runs/new");
    for wrong in ["train.schedule=step", "policy.kind=mlp", "swarm.agents=0"] {
        refused(tiny(&run, 1).args(["--set", wrong]));
        assert!(!folder.path().join("runs").exists(), "{wrong} left a folder");
    }
    refused(&mut resume(&run, &[]));
    assert!(!folder.path().join("runs").exists());
}

/// A process that is training, past its first updates.
fn training(run: &Path, more: &[&str]) -> std::process::Child {
    let mut command = tiny(run, 1_000_000);
    let child = command.args(["--set", "train.checkpoint_every=1"]).args(more);
    let child = child.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program starts");
    let since = Instant::now();
    while !run.join("metrics.csv").exists() || updates(run) < 3 {
        assert!(since.elapsed() < Duration::from_secs(60), "it does not get going");
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

#[test]
fn a_second_process_is_kept_out_and_a_dead_one_is_forgotten() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    let mut first = training(&run, &[]);
    let text = refused(&mut resume(&run, &[]));
    assert!(text.contains("in use by another cinoc process"), "{text}");
    let text = refused(&mut tiny(&run, 1));
    assert!(text.contains("already holds a run"), "{text}");
    first.kill().expect("it can be killed");
    first.wait().expect("it ends");
    // The lock file of the killed process is still there.
    assert!(run.join("run.lock").exists());
    let text = refused(&mut resume(&run, &["--set", "train.updates=2"]));
    assert!(text.contains("train.updates may only be raised"), "{text}");
}

#[cfg(unix)]
#[test]
fn a_signal_saves_and_the_printed_command_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    for signal in ["INT", "TERM"] {
        let run = folder.path().join(format!("it's a run {signal}"));
        let child = training(&run, &[]);
        let sent = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status().expect("kill runs");
        assert!(sent.success());
        let output = child.wait_with_output().expect("it ends");
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(130), "{text}");
        let done = updates(&run);
        assert!(text.contains(&format!("saved after {done} updates")), "{text}");
        good(&mut cinoc(["eval", run.join("last.safetensors").to_str().expect("a path"), "--instances", "2"]));

        // The command works as it is printed; here it is refused in the end, as it would train for long.
        let command = text.trim_end().rsplit("Continue with:  ").next().expect("a command");
        let command = command.replace("cinoc train", &format!("{} train", env!("CARGO_BIN_EXE_cinoc")));
        let shell = Command::new("sh").args(["-c", &format!("{command} --set train.updates=1")]).output().expect("sh runs");
        let answer = String::from_utf8_lossy(&shell.stderr);
        assert!(answer.contains("train.updates may only be raised"), "{command}: {answer}");
    }
}

#[test]
fn a_run_goes_on_as_it_is_or_not_at_all() {
    let (folder, run) = finished();
    let path = run.to_str().expect("a path");
    // As it is, however that is said.
    good(&mut resume(&run, &[]));
    good(&mut resume(&run, &["--preset", "tuned", "--seed", "0", "--set", "physics.ticks=4"]));
    good(&mut cinoc(["train", "--resume", "--out", path]));
    let file = folder.path().join("same.toml");
    let text = "problem = \"heat1d\"\n[physics]\nticks = 4\n[train]\nbatch = 2\nupdates = 3\nvalidate_instances = 2\nvalidate_every = 1\n";
    std::fs::write(&file, text).expect("a file");
    good(&mut cinoc(["train", file.to_str().expect("a path"), "--resume", "--out", path]));
    std::fs::write(&file, text.replace("batch = 2", "batch = 3")).expect("a file");

    let before = files(&run);
    for (arguments, expected) in [
        (vec!["ks1d"], "problem = heat1d, not ks1d"),
        (vec!["heat1d", "--seed", "5"], "seed = 0, not 5"),
        (vec!["heat1d", "--preset", "paper"], "preset = tuned, not paper"),
        (vec!["heat1d", "--set", "physics.ticks=5"], "physics.ticks = 4, not 5"),
        (vec!["heat1d", "--set", "train.updates=2"], "train.updates may only be raised"),
        (vec!["heat1d", "--set", "train.rate=1"], "train.rate may only be lowered"),
        (vec![file.to_str().expect("a path")], "train.batch = 2, not 3"),
    ] {
        let text = refused(cinoc(["train", "--resume", "--out", path]).args(&arguments));
        assert!(text.contains(expected), "{arguments:?} says {text:?}, which lacks {expected:?}");
    }
    let text = refused(&mut cinoc(["train", "--resume"]));
    assert!(text.contains("--out"), "{text}");
    assert!(files(&run) == before, "a refused run was touched");
}

#[test]
fn a_run_may_go_on_for_longer_and_with_smaller_steps() {
    let (_folder, run) = finished();
    good(&mut resume(&run, &["--set", "train.updates=5"]));
    assert_eq!(updates(&run), 5);
    good(&mut resume(&run, &["--set", "train.updates=6", "--set", "train.rate=1e-5", "--set", "train.clip=0.5"]));
    assert_eq!(updates(&run), 6);
    let text = std::fs::read_to_string(run.join("config.toml")).expect("settings");
    for line in ["updates = 6", "rate = 0.00001", "clip = 0.5"] {
        assert!(text.contains(&format!("\n{line}\n")), "{text}");
    }
    // Partial files of killed processes are removed, those that look alike stay.
    let (left, foreign) = (run.join(".model.safetensors.99-1.partial"), run.join("model.partial"));
    [&left, &foreign].iter().for_each(|path| std::fs::write(path, "half").expect("a file"));
    good(&mut resume(&run, &[]));
    assert!(!left.exists() && foreign.exists());
    // What was changed is what the run has now.
    let text = refused(&mut resume(&run, &["--set", "train.updates=5"]));
    assert!(text.contains("the run in") && text.contains("has 6"), "{text}");
}

#[test]
fn after_a_divergence_the_advice_works() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    let text = refused(strong(&run).env("CINOC_CACHE", folder.path()));
    let command = text.trim_end().rsplit("For example:  cinoc train ").next().expect("a command");
    let arguments: Vec<&str> = command.split(' ').collect();
    // A smaller rate does not help here, but it is taken.
    let text = refused(cinoc(["train"]).args(&arguments).env("CINOC_CACHE", folder.path()));
    assert!(text.contains("update 1:"), "{arguments:?}: {text}");
    let settings = std::fs::read_to_string(run.join("config.toml")).expect("settings");
    assert!(settings.contains("\nrate = 0.001\n"), "{settings}");
}

#[test]
fn lost_curves_do_not_lose_the_run() {
    let (_folder, run) = finished();
    let curves = run.join("metrics.csv");
    let whole = std::fs::read_to_string(&curves).expect("metrics");
    let events = |run: &Path| files(run).into_iter().filter(|(name, _)| name.starts_with("events")).count();
    // Cut within the second line of numbers.
    let cut = &whole[..whole.lines().take(2).map(|line| line.len() + 1).sum::<usize>() + 5];
    std::fs::write(&curves, cut).expect("written");
    let output = good(&mut resume(&run, &["--set", "train.updates=4"]));
    assert!(String::from_utf8_lossy(&output.stderr).contains("metrics.csv was cut short"));
    let found = std::fs::read_to_string(&curves).expect("metrics");
    // The line that was cut is lost, and no other.
    let left = &cut[..cut.rfind('\n').expect("whole lines") + 1];
    let rest = found.strip_prefix(left).expect("whole lines are kept");
    assert!(rest.starts_with("4,") && rest.lines().count() == 1 && !found.contains('\0'), "{found:?}");
    assert_eq!(events(&run), 1);

    // Gone altogether; and a short event file is left as it is, a new one continues.
    std::fs::remove_file(&curves).expect("removed");
    let old = files(&run).into_iter().find(|(name, _)| name.starts_with("events")).expect("events");
    std::fs::write(run.join(&old.0), &old.1[..old.1.len() - 3]).expect("written");
    let output = good(&mut resume(&run, &["--set", "train.updates=5"]));
    assert!(String::from_utf8_lossy(&output.stderr).contains("event file"));
    let found = std::fs::read_to_string(&curves).expect("metrics");
    assert!(found.starts_with("update,cost,") && found.lines().nth(1).is_some_and(|line| line.starts_with("5,")), "{found}");
    assert_eq!(events(&run), 2);
    assert_eq!(std::fs::read(run.join(&old.0)).expect("events").len(), old.1.len() - 3);
    // From now on all is as usual.
    let output = good(&mut resume(&run, &["--set", "train.updates=6"]));
    assert!(!String::from_utf8_lossy(&output.stderr).contains("cut short"));
    assert_eq!((events(&run), std::fs::read_to_string(&curves).expect("metrics").lines().count()), (2, 3));
}

/// A limit on the size of a file acts like a full disk.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_the_old_files_whole() {
    let (_folder, run) = finished();
    let before = files(&run);
    let arguments = format!("train --resume --threads 1 --out {} --set train.updates=4", run.display());
    let script = format!("trap '' XFSZ; ulimit -f 20; exec {} {arguments}", env!("CARGO_BIN_EXE_cinoc"));
    let text = refused(Command::new("sh").args(["-c", &script]));
    assert!(text.contains("could not be written") && text.contains("make room"), "{text}");
    let after = files(&run);
    let names = |all: &[(String, Vec<u8>)]| all.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&before), names(&after));
    for ((name, old), (_, new)) in before.iter().zip(&after).filter(|((name, _), _)| name.ends_with(".safetensors")) {
        assert!(old == new, "{name} changed");
    }
    good(&mut resume(&run, &["--set", "train.updates=4"]));
}

#[test]
fn best_and_last_models_can_be_scored() {
    let (_folder, run) = finished();
    for name in ["model.safetensors", "last.safetensors", ""] {
        good(&mut cinoc(["eval", run.join(name).to_str().expect("a path"), "--instances", "2"]));
    }
    let text = refused(&mut cinoc(["eval", run.join("checkpoint.safetensors").to_str().expect("a path")]));
    assert!(text.contains("it is a checkpoint"), "{text}");
    // No update at all is a run too.
    let none = run.with_file_name("none");
    good(cinoc(["train", "heat1d", "--set", "train.updates=0", "--out"]).arg(&none).args(TINY));
    good(&mut cinoc(["eval", none.to_str().expect("a path"), "--instances", "2"]));
    std::fs::remove_file(none.join("model.safetensors")).expect("removed");
    let text = refused(&mut cinoc(["eval", none.to_str().expect("a path")]));
    assert!(text.contains("holds no model yet"), "{text}");
}
