//! Settings: a file of changes, a whole configuration, `key=value` pairs.

use crate::{Allowance, Answer, Target, mutate};
use arbitrary::{Result, Unstructured};
use cinoc::problem::Preset;
use cinoc::settings::{Overlay, Rule, Setting};
use cinoc::{Config, Error, Registry};

/// Any text, read in every way that settings are read.
pub struct Settings {
    registry: Registry,
    sound: Vec<Config>,
    texts: Vec<String>,
}

impl Settings {
    pub fn new() -> Self {
        let registry = Registry::builtin();
        let each = |name: &str, preset| registry.config(name, preset, &Overlay::default()).expect("a preset");
        let sound: Vec<Config> =
            registry.problems().flat_map(|name| [Preset::Tuned, Preset::Paper].map(|preset| each(name, preset))).collect();
        let texts = sound.iter().map(Config::to_toml).collect();
        Self { registry, sound, texts }
    }

    /// Reads a file of changes as every interface does.
    fn file(&self, text: &str) -> Result<Config, Error> {
        self.registry.open_text(text, "file.toml", Preset::Tuned, &Overlay::default())
    }

    /// Checks that accepted settings are unchanged when written and read again.
    fn kept(&self, done: Result<Config, Error>) -> Result<Answer, String> {
        if let Ok(config) = &done {
            let again = self.registry.read(&config.to_toml(), "again").map_err(|error| format!("not read again: {error}"))?;
            if again != *config {
                return Err(format!("other settings when read again: {:?}", config.difference(&again)));
            }
        }
        Ok(Answer::of(done))
    }
}

impl Target for Settings {
    fn name(&self) -> &'static str {
        "settings"
    }

    /// A tree of values takes a few hundred bytes for each `a={}`, and there are several trees: the parsed one, the
    /// changed one, the compared one.
    fn allowance(&self) -> Allowance {
        Allowance { fixed: 1 << 20, per_byte: 1024 }
    }

    fn input(&self, choice: &mut Unstructured) -> Result<Vec<u8>> {
        let text = choice.choose(&self.texts)?.as_bytes();
        let other = choice.choose(&self.texts)?.as_bytes();
        match choice.int_in_range(0..=7)? {
            0 => Ok(mutate::soup(choice)?.into_bytes()),
            1 => {
                Ok(format!("a = {}", mutate::nested(choice, &[("[", "]"), ("{a=", "}"), ("[[", "]]"), ("a.", "")])?).into_bytes())
            }
            2 | 3 => mutate::changed(choice, text, other),
            _ => {
                // Valid keys with any values: a file of changes, or `key=value` pairs.
                let config = choice.choose(&self.sound)?;
                let table = self.registry.settings(config).expect("a table");
                let mut lines = vec![format!("problem = {:?}", config.problem())];
                lines.extend(choice.choose(&PRESETS)?.map(|preset| format!("preset = {preset}")));
                for _ in 0..choice.int_in_range(1..=4)? {
                    let (key, value) = pair(choice, &table)?;
                    lines.push(format!("{key} = {value}"));
                }
                let from = choice.int_in_range(0..=1)?;
                Ok(lines[from..].join("\n").into_bytes())
            }
        }
    }

    fn read(&self, input: &[u8]) -> Result<Answer, String> {
        let text = String::from_utf8_lossy(input);
        let pairs = Overlay::from_pairs(text.lines());
        let readings = [
            self.file(&text),
            self.registry.read(&text, "config.toml"),
            pairs.and_then(|changes| self.registry.config("heat1d", Preset::Paper, &changes)),
        ];
        let answers = readings.map(|done| self.kept(done)).into_iter().collect::<Result<Vec<_>, _>>()?;
        let accepted = answers.contains(&Answer::Accepted);
        Ok(if accepted { Answer::Accepted } else { answers[0].clone() })
    }
}

/// Presets of a file: mostly none, or valid ones.
const PRESETS: [Option<&str>; 6] = [None, None, Some("\"paper\""), Some("\"tuned\""), Some("\"best\""), Some("[]")];

/// Returns a key with a value: allowed, at a bound, beyond it, or of another kind.
pub fn pair(choice: &mut Unstructured, table: &[Setting]) -> Result<(String, String)> {
    let (mut table, mut path) = (table, String::new());
    loop {
        let setting = choice.choose(table)?;
        path += setting.key;
        match &setting.rule {
            Rule::Section(inner) => {
                table = inner;
                path.push('.');
            }
            rule => return Ok((path, value(choice, rule)?)),
        }
    }
}

fn value(choice: &mut Unstructured, rule: &Rule) -> Result<String> {
    const STRANGE: [&str; 12] = [
        "nan",
        "-inf",
        "\"\"",
        "true",
        "[]",
        "[[]]",
        "{}",
        "1979-05-27",
        "9223372036854775807",
        "-1",
        "\"\\u0000\"",
        "[1, 2.0, nan]",
    ];
    if choice.ratio(1, 5)? {
        return Ok((*choice.choose(&STRANGE)?).to_owned());
    }
    Ok(match rule {
        Rule::Whole(range) => whole(choice, *range.start(), *range.end())?,
        Rule::Number(range) => number(choice, *range.start(), *range.end())?,
        Rule::Flag => choice.arbitrary::<bool>()?.to_string(),
        Rule::Word(words) => format!("{:?}", choice.choose(words)?.0),
        Rule::Pair(range) => {
            let [a, b] = [number(choice, *range.start(), *range.end())?, number(choice, *range.start(), *range.end())?];
            format!("[{a}, {b}]")
        }
        Rule::Wholes { count, each } => {
            let count = choice.int_in_range(*count.start()..=(count.end() + 1).min(8))?;
            let all = (0..count).map(|_| whole(choice, *each.start(), *each.end()));
            format!("[{}]", all.collect::<Result<Vec<_>>>()?.join(", "))
        }
        Rule::Triples { count, each } => {
            let count = choice.int_in_range(*count.start()..=(count.end() + 1).min(4))?;
            let mut number = || number(choice, *each.start(), *each.end());
            let all = (0..count).map(|_| Ok(format!("[{}, {}, {}]", number()?, number()?, number()?)));
            format!("[{}]", all.collect::<Result<Vec<_>>>()?.join(", "))
        }
        Rule::Texts { count, longest } => {
            let count = choice.int_in_range(*count.start()..=(count.end() + 1).min(4))?;
            let lines = ["swarm.delay = 0..5", "physics.ticks = 2 | 3", "swarm.sensor_noise=0.1", "", "=", "..", "a = |"];
            let mut line = || Ok(format!("{:?}", choice.choose(&lines)?.repeat(choice.int_in_range(1..=2 + longest / 20)?)));
            let all = (0..count).map(|_| line());
            format!("[{}]", all.collect::<Result<Vec<_>>>()?.join(", "))
        }
        Rule::Text(longest) => format!("{:?}", "[equations] z = 1\n".repeat(choice.int_in_range(0..=1 + longest / 16)?)),
        Rule::Section(_) => "{}".into(),
    })
}

fn whole(choice: &mut Unstructured, low: usize, high: usize) -> Result<String> {
    let (low, high) = (low as i128, high as i128);
    let within = low + i128::from(choice.arbitrary::<u32>()? >> choice.int_in_range(0..=31)?);
    Ok(choice.choose(&[low, high, low - 1, high + 1, within.min(high), within.min(high)])?.to_string())
}

fn number(choice: &mut Unstructured, low: f64, high: f64) -> Result<String> {
    let share = f64::from(choice.arbitrary::<u32>()?) / f64::from(u32::MAX);
    let within = low + share.powi(*choice.choose(&[1, 4, 16])?) * (high - low);
    let near = [low, high, low.next_down(), high.next_up(), within, within, within];
    Ok(toml::Value::Float(*choice.choose(&near)?).to_string())
}
