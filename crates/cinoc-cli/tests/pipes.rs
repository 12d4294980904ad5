//! Standard output may be closed or full, and paths may be of any bytes: no panic, a sentence where one helps.

mod common;

use common::{TINY, cinoc, good};
use std::process::Stdio;

#[test]
fn a_closed_pipe_ends_quietly() {
    for arguments in
        [&["list"][..], &["list", "heat1d"], &["list", "--json"], &["eval", "heat1d", "--instances", "2"], &["data", "heat1d"]]
    {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output = cinoc(arguments).stdout(writer).output().expect("the program starts");
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), &*text), (Some(141), ""), "{arguments:?}");
    }
}

#[test]
fn nobody_has_to_read_the_progress() {
    let folder = tempfile::tempdir().expect("a folder");
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut command = cinoc(["train", "heat1d", "--set", "train.updates=2", "--out"]);
    let status = command
        .arg(folder.path().join("run"))
        .args(TINY)
        .stdout(Stdio::null())
        .stderr(writer)
        .status()
        .expect("the program starts");
    assert!(status.success());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_device_is_named() {
    for arguments in [&["list"][..], &["list", "heat1d"], &["eval", "heat1d", "--instances", "2"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("the device");
        let text = {
            let output = cinoc(arguments).stdout(full).output().expect("the program starts");
            assert_eq!(output.status.code(), Some(1));
            String::from_utf8_lossy(&output.stderr).into_owned()
        };
        assert!(text.contains("the output could not be written") && text.lines().count() == 1, "{arguments:?}: {text}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_path_of_any_bytes_is_reported() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join(std::ffi::OsStr::from_bytes(b"\xff"));
    let output = good(cinoc(["train", "heat1d", "--json", "--set", "train.updates=1", "--out"]).arg(&run).args(TINY));
    let line: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(line["run"].as_str().is_some_and(|path| path.ends_with('\u{fffd}')), "{line}");
}
