//! Problem files: the examples with damaged bytes, lines and texts, opened, built and stepped.

use crate::{Allowance, Answer, Target, mutate};
use arbitrary::{Result, Unstructured};
use cinoc::env::Env;
use cinoc::internal::random::Stream;
use cinoc::problem::Preset;
use cinoc::rollout::InitialCondition;
use cinoc::settings::Overlay;
use cinoc::{Config, Error, Registry, Threads};
use std::ops::Range;
use std::sync::Arc;
use tempfile::TempDir;

macro_rules! example {
    ($name:literal) => {
        include_str!(concat!("../../../../examples/problems/", $name, ".toml"))
    };
}

const EXAMPLES: [&str; 14] = [
    include_str!("parts.toml"),
    example!("allen_cahn"),
    example!("burgers"),
    example!("cahn_hilliard"),
    example!("cooling_wall"),
    example!("fitzhugh_nagumo"),
    example!("floor_plan"),
    example!("gray_scott"),
    example!("heat_cube"),
    example!("island"),
    example!("room"),
    example!("server_room"),
    example!("swift_hohenberg"),
    example!("wildfire"),
];

/// Data files of the examples.
const DATA: [(&str, &[u8]); 2] = [
    ("floor_plan.png", include_bytes!("../../../../examples/problems/floor_plan.png")),
    ("weather.csv", include_bytes!("../../../../examples/problems/weather.csv")),
];

/// Parts of texts beside the names of a file.
const TOKENS: [&str; 52] = [
    "+",
    "-",
    "*",
    "/",
    "^",
    "<",
    "<=",
    "==",
    "&&",
    "||",
    "(",
    ")",
    ",",
    ".",
    "=",
    "exp",
    "log",
    "sqrt",
    "sin",
    "tanh",
    "abs",
    "min",
    "max",
    "clamp",
    "where",
    "step",
    "smoothstep",
    "grad",
    "lap",
    "div",
    "dot",
    "dx",
    "dy",
    "dz",
    "mean",
    "sum",
    "random",
    "x",
    "y",
    "z",
    "t",
    "target",
    "0",
    "1",
    "2.5",
    "-3",
    "1e30",
    "1e-30",
    "é",
    "²",
    " and ",
    "\\n",
];

/// Cells times substeps, beyond which a problem is not stepped.
const MOST_WORK: usize = 200_000;

/// Any problem file.
pub struct Problems {
    registry: Registry,
    folder: TempDir,
}

impl Problems {
    pub fn new() -> Self {
        let folder = super::scratch();
        for (name, bytes) in DATA {
            std::fs::write(folder.path().join(name), bytes).expect("a data file");
        }
        Self { registry: Registry::builtin(), folder }
    }

    fn open(&self, text: &str) -> Result<Config, Error> {
        let place = self.folder.path().join("some.toml");
        self.registry.open_text(text, &place.to_string_lossy(), Preset::Tuned, &Overlay::default())
    }

    /// Builds an accepted file and makes two ticks of it, if they are cheap.
    fn step(&self, config: &Config) -> Result<(), Error> {
        let problem = Arc::new(self.registry.build(config)?);
        if problem.stepper.state_count() * problem.stepper.substeps() > MOST_WORK || problem.agents > 100 {
            return Ok(());
        }
        let mut env = Env::new(problem.clone(), 1, problem.agents, Threads::single())?;
        env.reset(&[true], &mut |_| InitialCondition::drawn(&problem, problem.agents, 1, Stream::Test, 0));
        let zero = vec![0.0; env.action_len()];
        for _ in 0..2 {
            env.step(&zero);
        }
        Ok(())
    }
}

impl Target for Problems {
    fn name(&self) -> &'static str {
        "problems"
    }

    /// A short file may describe a large problem, whose size is estimated and limited.
    fn allowance(&self) -> Allowance {
        Allowance { fixed: 1 << 28, per_byte: 1024 }
    }

    fn seconds(&self) -> f64 {
        10.0
    }

    fn input(&self, choice: &mut Unstructured) -> Result<Vec<u8>> {
        let (text, other) = (*choice.choose(&EXAMPLES)?, *choice.choose(&EXAMPLES)?);
        match choice.int_in_range(0..=5)? {
            0 | 1 => mutate::changed(choice, text.as_bytes(), other.as_bytes()),
            2 => lines(choice, text, other).map(String::into_bytes),
            3 => texts(choice, text, soup).map(String::into_bytes),
            _ => texts(choice, text, expression).map(String::into_bytes),
        }
    }

    fn read(&self, input: &[u8]) -> Result<Answer, String> {
        let text = String::from_utf8_lossy(input);
        let opened = self.open(&text);
        if let Ok(config) = &opened {
            let again = self.registry.read(&config.to_toml(), "again").map_err(|error| format!("not read again: {error}"))?;
            if again != *config {
                return Err(format!("other settings when read again: {:?}", config.difference(&again)));
            }
        }
        match opened.and_then(|config| self.step(&config)) {
            Ok(()) => Ok(Answer::Accepted),
            Err(error) => placed(&error.to_string()).map(Answer::Refused),
        }
    }
}

/// Returns an answer in one line, if it names a place: the file or a setting in front of a colon, and a caret under the
/// text where one is shown. Reasons say what must be there, so the place and the reason are a sentence.
fn placed(answer: &str) -> Result<String, String> {
    let wrong = || format!("no place: {answer:?}");
    let lines: Vec<&str> = answer.lines().collect();
    let (place, _) =
        lines.first().and_then(|first| first.split_once(": ").or(first.split_once(" cannot be "))).ok_or_else(wrong)?;
    let key = place.rsplit(", ").next().unwrap_or_default();
    if key.is_empty() || key.len() > 200 {
        return Err(wrong());
    }
    match lines[..] {
        [_] => {}
        [_, text, mark, _] => {
            let carets = mark.trim_start_matches(' ');
            let under = mark.len() - carets.len() <= text.chars().count();
            if carets.is_empty() || !carets.chars().all(|c| c == '^') || !under {
                return Err(wrong());
            }
        }
        _ => return Err(wrong()),
    }
    Ok(lines.join("; ").replacen(": ", "; ", 1))
}

/// Lines removed, doubled, moved, or taken from another file.
fn lines(choice: &mut Unstructured, text: &str, other: &str) -> Result<String> {
    let (mut lines, other): (Vec<&str>, Vec<&str>) = (text.lines().collect(), other.lines().collect());
    for _ in 0..choice.int_in_range(1..=3)? {
        let at = choice.choose_index(lines.len().max(1))?;
        match choice.int_in_range(0..=3)? {
            0 if at < lines.len() => {
                lines.remove(at);
            }
            1 if at < lines.len() => lines.insert(at, lines[at]),
            2 if at < lines.len() => {
                let line = lines.remove(at);
                lines.insert(choice.choose_index(lines.len() + 1)?, line);
            }
            _ => lines.insert(at.min(lines.len()), *choice.choose(&other)?),
        }
    }
    Ok(lines.join("\n"))
}

/// One to three texts in quotes replaced by generated ones.
fn texts(choice: &mut Unstructured, text: &str, make: fn(&mut Unstructured, &[&str], usize) -> Result<String>) -> Result<String> {
    let mut text = text.to_owned();
    for _ in 0..choice.int_in_range(1..=3)? {
        let found = quoted(&text);
        if found.is_empty() {
            break;
        }
        let (at, names) = (choice.choose(&found)?.clone(), text.clone());
        let made = make(choice, &words(&names), 4)?;
        text.replace_range(at, &made);
    }
    Ok(text)
}

/// Places of texts in quotes, without the quotes.
fn quoted(text: &str) -> Vec<Range<usize>> {
    let quotes: Vec<usize> = text.match_indices('"').map(|(at, _)| at).collect();
    quotes.as_chunks::<2>().0.iter().map(|[open, close]| open + 1..*close).collect()
}

/// Names of a file.
fn words(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| word.starts_with(char::is_alphabetic)).collect()
}

/// Tokens in any order.
fn soup(choice: &mut Unstructured, words: &[&str], _: usize) -> Result<String> {
    let token =
        |choice: &mut Unstructured| Ok(if choice.arbitrary()? { *choice.choose(words)? } else { *choice.choose(&TOKENS)? });
    (0..choice.int_in_range(0..=12)?).map(|_| token(choice)).collect()
}

/// Text that follows the grammar, of names that may not exist and ranks that may not fit.
fn expression(choice: &mut Unstructured, words: &[&str], depth: usize) -> Result<String> {
    if depth == 0 || choice.ratio(1, 4)? {
        let all = if choice.ratio(1, 4)? { &TOKENS[37..48] } else { words };
        return Ok((*choice.choose(all)?).to_owned());
    }
    let inner = |choice: &mut Unstructured| expression(choice, words, depth - 1);
    let (a, b) = (inner(choice)?, inner(choice)?);
    Ok(match choice.int_in_range(0..=6)? {
        0..=2 => format!("{a} {} {b}", choice.choose(&TOKENS[..10])?),
        3 => format!("({a})"),
        4 => format!("{}({a})", choice.choose(&TOKENS[15..37])?),
        5 => format!("{}({a}, {b})", choice.choose(&TOKENS[15..37])?),
        _ => format!("where({a} < {b}, {b}, {a})"),
    })
}
