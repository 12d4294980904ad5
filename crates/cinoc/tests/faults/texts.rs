//! Configuration files and `--set` with garbage in them.

use crate::configs::{Counts, sentence, try_out};
use crate::dice::Dice;
use crate::watch::{Watch, cases};
use cinoc::problem::Preset;
use cinoc::settings::Overlay;
use cinoc::{Error, Registry};

/// Reads a text in every way: as a file of changes, as a whole configuration, as a `--set`.
fn read(registry: &Registry, text: &str) -> Result<(), String> {
    let answer = |done: Result<cinoc::Config, Error>| match done {
        Ok(config) => try_out(registry, &config, &Counts::default()),
        Err(error) => sentence(&error),
    };
    let file = |text: &str| {
        let mut changes = Overlay::from_toml(text, "file.toml")?;
        let problem = changes.take("problem").and_then(|name| name.as_str().map(str::to_owned));
        registry.config(problem.as_deref().unwrap_or("heat1d"), Preset::Paper, &changes)
    };
    answer(file(text))?;
    answer(registry.read(text, "config.toml"))?;
    answer(Overlay::from_pairs([text]).and_then(|changes| registry.config("heat1d", Preset::Paper, &changes)))
}

/// Returns a text of fragments with a meaning in TOML.
fn soup(dice: &mut Dice) -> String {
    const PIECES: [&str; 40] = [
        "problem",
        "physics",
        "nodes",
        "train",
        "policy",
        "kind",
        "updates",
        "=",
        "=",
        "=",
        ".",
        ".",
        "[",
        "]",
        "[[",
        "]]",
        "{",
        "}",
        ",",
        "\n",
        "\n",
        "\n",
        "\"",
        "'",
        "\"\"\"",
        "\\",
        "#",
        "1",
        "-",
        "+",
        "1e999",
        "nan",
        "inf",
        "0x",
        "0b2",
        "_",
        "true",
        "1979-05-27",
        "\u{feff}",
        "\r",
    ];
    (0..dice.below(60)).map(|_| dice.choose(&PIECES)).collect()
}

/// Returns a valid configuration with some of its text changed.
fn mutated(dice: &mut Dice, sound: &str) -> String {
    let mut lines: Vec<String> = sound.lines().map(str::to_owned).collect();
    for _ in 0..1 + dice.below(3) {
        let (i, j) = (dice.below(lines.len()), dice.below(lines.len()));
        match dice.below(6) {
            0 => drop(lines.remove(i)),
            1 => lines.swap(i, j),
            2 => lines.insert(i, lines[j].clone()),
            3 => lines[i] = lines[i].chars().rev().collect(),
            4 => lines[i] = format!("{} = {}", lines[i].split(" =").next().unwrap_or_default(), soup(dice)),
            _ => lines[i] = lines[i].chars().take(dice.below(6)).collect(),
        }
        if lines.is_empty() {
            break;
        }
    }
    lines.join("\n")
}

#[test]
fn texts_of_all_kinds() {
    let registry = Registry::builtin();
    let mut watch = Watch::new("texts");
    let few = Overlay::from_pairs(["physics.ticks=3", "train.batch=2", "train.validate_instances=1"]).expect("changes");
    let sound: Vec<String> =
        registry.problems().map(|name| registry.config(name, Preset::Paper, &few).expect("a preset").to_toml()).collect();
    for case in 0..cases(400) {
        let dice = &mut Dice::new(case);
        let text = match case % 4 {
            0 => String::from_utf8_lossy(&(0..dice.below(200)).map(|_| dice.next() as u8).collect::<Vec<_>>()).into_owned(),
            1 => soup(dice),
            _ => {
                let text = dice.choose(&sound);
                mutated(dice, &text)
            }
        };
        watch.case(&format!("text {case}"), 6.0, || read(&registry, &text));
    }
    let many = 100_000;
    for (name, text) in [
        ("empty", String::new()),
        ("nested lists", format!("a = {}{}", "[".repeat(many), "]".repeat(many))),
        ("nested tables", format!("a = {}1{}", "{a = ".repeat(many), "}".repeat(many))),
        ("open lists", format!("a = {}", "[".repeat(many))),
        ("a long key", format!("{}a = 1", "a.".repeat(20_000))),
        ("a long header", format!("[{}a]\nb = 1", "a.".repeat(20_000))),
        ("a long name", format!("{} = 1", "a".repeat(many))),
        ("a long value", format!("problem = {:?}", "a".repeat(many))),
        ("a huge number", format!("[physics]\nnodes = {}", "9".repeat(many))),
        ("a huge fraction", format!("[physics]\nnu = 0.{}1", "0".repeat(many))),
        ("many lists", format!("[policy]\nbranch = [{}]", "1, ".repeat(many))),
        ("twice the same key", "problem = \"heat1d\"\nproblem = \"ks1d\"".into()),
        ("twice the same section", "[physics]\nnodes = 50\n[physics]\nnodes = 60".into()),
        ("a section as a number", "physics = 4".into()),
        ("a number as a section", "[physics.nodes]\nx = 1".into()),
        ("a section as a list", "[[physics]]\nnodes = 50".into()),
        ("a section with nothing", "problem = \"heat1d\"\n[physics]\n[policy]\n[train]".into()),
        ("a problem as a number", "problem = 4".into()),
        ("a section and a key of it", "physics = {}\nphysics.nodes = 50".into()),
        ("no line ends in it", "problem = \"heat1d\"\u{2028}[physics]".into()),
        ("nul", "\0".into()),
    ] {
        watch.case(name, 6.0, || read(&registry, &text));
    }
    watch.end(420);
}
