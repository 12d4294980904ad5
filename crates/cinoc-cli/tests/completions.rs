//! Completions of shells and manual pages.

use std::process::Command;

fn cinoc(words: &[&str]) -> String {
    let done = Command::new(env!("CARGO_BIN_EXE_cinoc")).args(words).output().expect("it starts");
    assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).expect("text")
}

#[test]
fn every_shell_is_told_of_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let text = cinoc(&["completions", shell]);
        assert!(
            ["train", "eval", "optimum", "--agents"].iter().all(|word| text.contains(word.trim_start_matches('-'))),
            "{shell}"
        );
    }
}

#[test]
fn every_command_has_a_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_str().expect("a name");
    cinoc(&["man", "-o", path]);
    for page in ["cinoc.1", "cinoc-train.1", "cinoc-eval.1", "cinoc-study.1"] {
        let text = std::fs::read_to_string(folder.path().join(page)).expect(page);
        assert!(text.contains(".SH NAME"), "{page}");
    }
}
