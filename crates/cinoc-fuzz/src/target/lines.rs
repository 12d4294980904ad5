//! Tables of studies and searches, which can be continued.

use super::scratch;
use crate::{Allowance, Answer, Target, mutate};
use arbitrary::{Result, Unstructured};
use cinoc::internal::threads::Threads;
use cinoc_cli::readers::{Results, Table};
use cinoc_lab::optimum::OptimumRecord;
use cinoc_lab::study::{Case, Row};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Values of JSON take up to a hundred times the bytes of their text (`{"":0}` is a node of a map), and both values and
/// records exist.
const ALLOWANCE: Allowance = Allowance { fixed: 1 << 16, per_byte: 256 };

/// Generates a file of lines, damaged somewhere.
fn file(choice: &mut Unstructured, sound: &[u8]) -> Result<Vec<u8>> {
    match choice.int_in_range(0..=4)? {
        0 => Ok(sound[..choice.choose_index(sound.len() + 1)?].to_vec()),
        1 => Ok([sound, mutate::nested(choice, &[("[", "]"), ("{\"a\":", "}"), ("[{\"\":", "}]")])?.as_bytes(), b"\n"].concat()),
        2 => Ok([sound, mutate::soup(choice)?.as_bytes(), b"\n"].concat()),
        _ => mutate::changed(choice, sound, sound),
    }
}

/// Checks that a refused file is unchanged, and that an accepted one lost at most a truncated last line.
fn untouched(path: &Path, input: &[u8], answer: &Answer) -> Result<(), String> {
    let now = std::fs::read(path).map_err(|error| error.to_string())?;
    let whole = input.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    match answer {
        Answer::Refused(_) if now == input => Ok(()),
        Answer::Refused(_) => Err("a file that was refused was changed".into()),
        Answer::Accepted if whole == 0 || now == input[..whole] => Ok(()),
        Answer::Accepted => Err("whole lines were lost".into()),
    }
}

/// The table of a study.
pub struct Studies {
    folder: TempDir,
    sound: Vec<u8>,
}

impl Studies {
    pub fn new() -> Self {
        let own = Self { folder: scratch(), sound: Vec::new() };
        let mut table = Table::open(&own.path(), &Self::header(), Threads::single().ranks()).expect("a table");
        let row = || Row::of(&Case::default(), 8, 4);
        (0..3).for_each(|case| table.add(case, 0, 1, vec![row(), row()]).expect("a line"));
        drop(table);
        let sound = std::fs::read(own.path()).expect("a file");
        Self { sound, ..own }
    }

    fn header() -> Value {
        json!({"study": "failure", "problem": "heat1d", "seed": 4000, "cases": [1, 2], "models": ["a"]})
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("table.jsonl")
    }
}

impl Target for Studies {
    fn name(&self) -> &'static str {
        "studies"
    }

    fn allowance(&self) -> Allowance {
        ALLOWANCE
    }

    fn input(&self, choice: &mut Unstructured) -> Result<Vec<u8>> {
        file(choice, &self.sound)
    }

    fn read(&self, input: &[u8]) -> Result<Answer, String> {
        std::fs::write(self.path(), input).map_err(|error| error.to_string())?;
        let answer = Answer::of(Table::open(&self.path(), &Self::header(), Threads::single().ranks()));
        untouched(&self.path(), input, &answer)?;
        Ok(answer)
    }
}

/// Results of searches for the optimum.
pub struct Optima {
    folder: TempDir,
    sound: Vec<u8>,
}

impl Optima {
    pub fn new() -> Self {
        let found = |instance: usize| {
            json!({"instance": instance, "uncontrolled": 0.5, "policy": 0.1, "optimum": 0.01, "from": "policy", "iterations": 7, "evaluations": 9,
                "gradient_fall": 1e-3, "ended": "flat", "converged": true, "seconds": 0.5})
        };
        let lines = [Self::header(), found(0), found(1), found(2), json!({"summary": {"instances": 3}})];
        let sound: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let own = Self { folder: scratch(), sound: sound.into_bytes() };
        assert_eq!(own.read(&own.sound), Ok(Answer::Accepted), "what is written here is what the program writes");
        own
    }

    fn header() -> Value {
        json!({"problem": "heat1d", "model": "heat1d", "agents": 8, "seed": 3000, "settings": "problem = \"heat1d\"\n"})
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("found.jsonl")
    }
}

impl Target for Optima {
    fn name(&self) -> &'static str {
        "optima"
    }

    fn allowance(&self) -> Allowance {
        ALLOWANCE
    }

    fn input(&self, choice: &mut Unstructured) -> Result<Vec<u8>> {
        file(choice, &self.sound)
    }

    fn read(&self, input: &[u8]) -> Result<Answer, String> {
        std::fs::write(self.path(), input).map_err(|error| error.to_string())?;
        let answer = Answer::of(Results::<OptimumRecord>::open(Some(&self.path()), Self::header()));
        untouched(&self.path(), input, &answer)?;
        Ok(answer)
    }
}
