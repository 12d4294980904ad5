//! `cinoc new`

use super::whole;
use crate::out::{note, program, say};
use anyhow::{Context, Result, bail};
use cinoc::Registry;
use cinoc::internal::{disk, shown};
use cinoc::problem::Preset;
use cinoc::settings::Overlay;
use std::io::{BufRead, IsTerminal};
use std::path::PathBuf;

/// Arguments of `cinoc new`.
#[derive(clap::Args)]
pub struct NewArgs {
    /// File to write.
    #[arg(value_name = "FILE.toml")]
    file: PathBuf,
    /// Space dimensions: 1, 2 or 3.
    #[arg(long, value_parser = whole::<usize>)]
    dimensions: Option<usize>,
    /// Time derivative of the field z (in three dimensions T), for example "0.01*lap(z) + push".
    #[arg(long, value_name = "TEXT")]
    equation: Option<String>,
    /// Number of agents.
    #[arg(long, value_parser = whole::<usize>)]
    agents: Option<usize>,
}

/// Name of the field: in three dimensions z is a coordinate.
fn field(dimensions: usize) -> &'static str {
    if dimensions < 3 { "z" } else { "T" }
}

impl NewArgs {
    /// Runs the command.
    pub fn run(self, registry: &Registry) -> Result<()> {
        if !Registry::is_file(&self.file) {
            bail!("{} cannot be the name of a problem file; it must end in .toml", shown(&self.file));
        }
        if self.file.exists() {
            bail!("{} already exists; choose another name", shown(&self.file));
        }
        let number = |text: String| text.parse::<usize>().with_context(|| format!("{text:?} is not a whole number"));
        let dimensions = match self.dimensions {
            Some(dimensions) => dimensions,
            None => number(ask("Space dimensions, 1, 2 or 3", "1")?)?,
        };
        if !(1..=3).contains(&dimensions) {
            bail!("--dimensions cannot be {dimensions}; it must be 1, 2 or 3");
        }
        let z = field(dimensions);
        let equation = match self.equation {
            Some(equation) => equation,
            None => ask(&format!("Time derivative of the field {z}"), &format!("0.01*lap({z}) + {z} - {z}^3 + push"))?,
        };
        let agents = match self.agents {
            Some(agents) => agents,
            None => number(ask("Number of agents", "16")?)?,
        };
        let text = written(dimensions, &equation, agents);
        let place = self.file.to_string_lossy();
        let config = registry.open_text(&text, &place, Preset::Tuned, &Overlay::default())?;
        registry.build(&config)?;
        disk::write_whole(&self.file, text.as_bytes())?;
        let (program, file) = (program(), shown(&self.file));
        say!("Wrote {file}. Look at it, train, evaluate:\n  {program} list {file}\n  {program} train {file}")
    }
}

/// Asks a question on a terminal; elsewhere the usual answer is taken.
fn ask(question: &str, usual: &str) -> Result<String> {
    let input = std::io::stdin();
    if !input.is_terminal() {
        return Ok(usual.into());
    }
    note!("{question} [{usual}]:");
    let mut line = String::new();
    input.lock().read_line(&mut line)?;
    let answer = line.trim();
    Ok(if answer.is_empty() { usual.into() } else { answer.into() })
}

/// A problem file: a field on a domain of unit lengths is driven to a random target.
fn written(dimensions: usize, equation: &str, agents: usize) -> String {
    let list = |each: &str| vec![each; dimensions].join(", ");
    let width = 0.6 / (agents.max(1) as f64).powf(1.0 / dimensions as f64);
    let (cells, z) = (["64", "32", "16"][dimensions - 1], field(dimensions));
    // Texts of JSON are texts of TOML.
    let equation = serde_json::Value::from(equation);
    format!(
        r#"about = "A field is driven to a random target."

[domain]
size  = [{}]
cells = [{}]
sides = "periodic"                  # or a side each: left = {{ value = 0 }}, right = {{ exchange = 8.0, outside = 20.0 }}

[fields]
{z} = {{ start = "random(0.2)" }}       # a smooth random field with correlation length 0.2

[equations]
{z} = {equation}      # dz/dt

[agents]
number = {agents}
push   = {{ width = {width:.3}, range = [-5, 5] }}
# move = {{ speed = 0.5 }}

[task]
target = "random(0.2)"
cost   = {{ error = "mean(({z} - target)^2)", effort = "1e-4*mean(push.u^2)" }}
score  = "mean(({z} - target)^2)"

[time]
tick  = 0.02
ticks = 100
"#,
        list("1.0"),
        list(cells),
    )
}
