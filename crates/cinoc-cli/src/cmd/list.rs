//! `cinoc list`

use crate::out::{program, say};
use anyhow::Result;
use cinoc::problem::Preset;
use cinoc::settings::{Overlay, Rule, Setting};
use cinoc::{Config, Registry};
use std::path::PathBuf;

/// Arguments of `cinoc list`.
#[derive(clap::Args)]
pub struct ListArgs {
    /// Explain this problem, or that of a TOML file, and print all its settings as TOML with a line about each.
    #[arg(value_name = "PROBLEM|FILE.toml")]
    problem: Option<PathBuf>,
    /// Change a setting, for example --set train.updates=200. May be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE", requires = "problem")]
    set: Vec<String>,
    /// Print the paper's settings.
    #[arg(long)]
    paper: bool,
    /// Print one JSON object: the problems, or the settings of one.
    #[arg(long)]
    json: bool,
}

impl ListArgs {
    /// Runs the command.
    pub fn run(self, registry: &Registry) -> Result<()> {
        if let Some(name) = &self.problem {
            let preset = if self.paper { Preset::Paper } else { Preset::Shipped };
            let config = registry.open(name, preset, &Overlay::from_pairs(&self.set)?)?;
            return if self.json { say!("{}", serde_json::to_string(config.tree())?) } else { explain(registry, &config) };
        }
        if self.json {
            let about = |name| registry.about(name).unwrap_or_default();
            let all: Vec<_> = registry.problems().map(|n| serde_json::json!({"problem": n, "about": about(n)})).collect();
            return say!("{}", serde_json::to_string(&all)?);
        }
        let widest = registry.problems().map(str::len).max().unwrap_or(0);
        for name in registry.problems() {
            say!("{name:widest$}  {}", registry.about(name)?)?;
        }
        let first = registry.problems().next().unwrap_or_default();
        say!("\nEquation, observations, actions, score and all settings of one:  {} list {first}", program())
    }
}

/// Prints a problem in words, then every setting with its value, meaning and allowed values.
fn explain(registry: &Registry, config: &Config) -> Result<()> {
    let explanation = registry.describe(config)?;
    say!("# {}", explanation.about)?;
    say!("# Equation: {}", explanation.equation)?;
    say!("# An agent observes {}", explanation.sees)?;
    say!("# It acts: {}", explanation.acts)?;
    say!("# Score: {}", explanation.score)?;
    explanation.numerics.iter().try_for_each(|line| say!("# {line}"))?;
    say!("")?;
    say!("problem = {:?}", config.problem())?;
    for Setting { key, about, rule, .. } in registry.settings(config)? {
        let (Rule::Section(inner), Some(section)) = (rule, config.get(key)) else { continue };
        if key == "file" {
            // The text of a problem file, which the reader has.
            continue;
        }
        say!("\n# {about}\n[{key}]")?;
        for Setting { key, about, rule, .. } in inner {
            let value = section.get(key).map_or_else(String::new, ToString::to_string);
            say!("# {about} ({})", meaning(&rule))?;
            say!("{key} = {value}")?;
        }
    }
    Ok(())
}

/// Returns the values a setting may take; words with their meaning.
fn meaning(rule: &Rule) -> String {
    match rule {
        Rule::Word(words) => {
            let each = |(word, about): &(&str, &str)| format!("{word:?}: {}", about.trim_end_matches('.'));
            words.iter().map(each).collect::<Vec<_>>().join("; ")
        }
        other => other.expected(),
    }
}
