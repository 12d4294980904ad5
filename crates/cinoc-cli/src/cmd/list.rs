//! `cinoc list`

use crate::out::{program, say};
use anyhow::Result;
use cinoc::problem::Preset;
use cinoc::settings::{Overlay, Rule, Setting};
use cinoc::{Config, Registry};

/// Arguments of `cinoc list`.
#[derive(clap::Args)]
pub struct Args {
    /// Explain this problem and print all its settings, as TOML with a line about each.
    problem: Option<String>,
    /// Print the paper's settings instead of our own.
    #[arg(long)]
    paper: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Runs the command.
    pub fn run(self, registry: &Registry) -> Result<()> {
        if let Some(name) = &self.problem {
            let preset = if self.paper { Preset::Paper } else { Preset::Tuned };
            let config = registry.config(name, preset, &Overlay::default())?;
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
        say!("\nWhat is controlled, seen and scored, and every setting:  {} list {first}", program())
    }
}

/// What a problem is, then every setting with its value, its meaning and what it may be.
fn explain(registry: &Registry, config: &Config) -> Result<()> {
    let explanation = registry.explanation(config.problem())?;
    say!("# {}", registry.about(config.problem())?)?;
    say!("# Equation: {}", explanation.equation)?;
    say!("# An agent sees {}", explanation.sees)?;
    say!("# It does: {}", explanation.acts)?;
    say!("# Score: {}\n", explanation.score)?;
    say!("problem = {:?}", config.problem())?;
    for Setting { key, about, rule, .. } in registry.settings(config)? {
        let (Rule::Section(inner), Some(section)) = (rule, config.get(key)) else { continue };
        say!("\n# {about}\n[{key}]")?;
        for Setting { key, about, rule, .. } in inner {
            let value = section.get(key).map_or_else(String::new, ToString::to_string);
            say!("# {about} ({})", meaning(&rule))?;
            say!("{key} = {value}")?;
        }
    }
    Ok(())
}

/// What a setting may be; words with what they mean.
fn meaning(rule: &Rule) -> String {
    match rule {
        Rule::Word(words) => {
            let each = |(word, about): &(&str, &str)| format!("{word:?}: {}", about.trim_end_matches('.'));
            words.iter().map(each).collect::<Vec<_>>().join("; ")
        }
        other => other.expected(),
    }
}
