//! `cinoc list`

use crate::out::say;
use anyhow::Result;
use cinoc::problem::{self, NAMES, Preset};

/// Arguments of `cinoc list`.
#[derive(clap::Args)]
pub struct Args {
    /// Print all settings of this problem, as TOML.
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
    pub fn run(self) -> Result<()> {
        if let Some(name) = self.problem {
            let preset = if self.paper { Preset::Paper } else { Preset::Tuned };
            let config = problem::defaults(&name, preset)?;
            if self.json {
                say!("{}", serde_json::to_string(&config)?)?;
            } else {
                say!("{}", config.to_toml().trim_end())?;
            }
            return Ok(());
        }
        if self.json {
            let all: Vec<_> = NAMES.iter().map(|n| serde_json::json!({"problem": n, "about": problem::about(n)})).collect();
            say!("{}", serde_json::to_string(&all)?)?;
            return Ok(());
        }
        for name in NAMES {
            say!("{name:10} {}", problem::about(name))?;
        }
        say!("\nAll settings of one:  cinoc list {}", NAMES[0])?;
        Ok(())
    }
}
