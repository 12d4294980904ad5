//! `kill -9` at any moment, then `--resume`: the same bits as an uninterrupted run. Real processes, real kills.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const UPDATES: usize = 150;

fn train(out: &Path, resume: bool) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cinoc"));
    command.args(["train", "heat1d", "--preset", "paper", "--seed", "7", "--out"]).arg(out);
    if resume {
        command.arg("--resume");
    } else {
        for change in [
            "physics.ticks=100",
            "train.batch=6",
            "train.shard=3",
            &format!("train.updates={UPDATES}"),
            "train.validate_every=7",
            "train.validate_instances=6",
            "train.checkpoint_every=3",
            "train.vary=[\"swarm.delay = 0..3\", \"swarm.sensor_noise = 0 | 0.01..0.1\"]",
        ] {
            command.args(["--set", change]);
        }
    }
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts")
}

/// Moments that look random and are always the same.
fn moments(count: usize) -> impl Iterator<Item = Duration> {
    let mut state = 12345u64;
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Duration::from_millis(1 + (state >> 33) % 60)
    })
    .take(count)
}

#[test]
fn a_killed_run_resumes_to_the_same_bits() {
    let folder = tempfile::tempdir().expect("a folder");
    let (whole, killed) = (folder.path().join("whole"), folder.path().join("killed"));
    assert!(train(&whole, false).wait().expect("it ends").success());

    let mut kills = 0;
    for moment in moments(20) {
        let resume = killed.join("checkpoint.safetensors").exists();
        if !resume {
            // Killed before its first checkpoint: nothing to resume, the folder may be half made.
            let _ = std::fs::remove_dir_all(&killed);
        }
        let mut child = train(&killed, resume);
        std::thread::sleep(moment);
        if child.try_wait().expect("a state").is_none() {
            child.kill().expect("it can be killed");
            kills += 1;
        }
        child.wait().expect("it ends");
    }
    assert!(kills >= 10, "only {kills} of 20 kills hit a running process");
    if !killed.join("checkpoint.safetensors").exists() {
        let _ = std::fs::remove_dir_all(&killed);
        assert!(train(&killed, false).wait().expect("it ends").success());
    }
    assert!(train(&killed, true).wait().expect("it ends").success());

    for file in ["model.safetensors", "metrics.csv", "config.toml"] {
        let read = |run: &Path| std::fs::read(run.join(file)).expect("a file");
        assert!(read(&whole) == read(&killed), "{file} differs after {kills} kills");
    }
    let lines = std::fs::read_to_string(killed.join("metrics.csv")).expect("metrics").lines().count();
    assert_eq!(lines, UPDATES + 1);
}
