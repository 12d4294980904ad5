//! `cinoc scale`

use super::{Settings, least, median};
use crate::draw::{self, Growth};
use crate::out::say;
use anyhow::{Result, bail};
use cinoc::scaling::{Line, tick_times};
use cinoc::{Config, Registry};
use std::path::PathBuf;

/// What is held while something else grows.
const HELD: &str =
    "What is held: the width of a push (swarm.sigma) and the window of an agent (observe.window) keep their size in cells
of the grid, so that an agent touches as many nodes on every grid. The distance within which agents mind each other
(cost.radius) goes with 1/√agents, so that each has as many neighbours in every swarm. The work of a tick is then
agents × cells touched + nodes. Agents stand at random places, their policy is not trained.
One instance, one thread, no gradient; time spent waiting for a processor is not counted (on Linux).";

/// Arguments of `cinoc scale`.
#[derive(clap::Args)]
#[command(after_help = HELD)]
pub struct Args {
    #[command(flatten)]
    settings: Settings,
    /// Numbers of agents to time.
    #[arg(long, value_delimiter = ',', value_name = "LIST", default_value = "100,300,1000,3000,10000,30000,100000")]
    agents: Vec<usize>,
    /// Nodes along each axis while the number of agents grows.
    #[arg(long, value_name = "NODES", default_value_t = 512)]
    fixed_grid: usize,
    /// Grids to time, by their nodes along each axis.
    #[arg(long, value_delimiter = ',', value_name = "LIST", default_value = "32,64,128,256,512,1024")]
    grids: Vec<usize>,
    /// Number of agents while the grid grows.
    #[arg(long, value_name = "AGENTS", default_value_t = 1000)]
    fixed_agents: usize,
    /// Draw both as .png or .svg.
    #[arg(short, long = "out", value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print one JSON object per size, a line each.
    #[arg(long)]
    json: bool,
}

/// What grows.
#[derive(Clone, Copy, PartialEq)]
enum Sweep {
    Agents,
    Grid,
}

/// One size and its ticks.
struct Point {
    agents: usize,
    grid: usize,
    config: Config,
    ms: Vec<f64>,
}

impl Point {
    fn measure(registry: &Registry, config: &Config, agents: usize, grid: usize) -> Result<Self> {
        let config = registry.resize(config, agents, grid)?;
        let ms = tick_times(registry, &config)?;
        Ok(Self { agents, grid, config, ms })
    }

    fn nodes(&self) -> f64 {
        (self.grid * self.grid) as f64
    }
}

impl Sweep {
    fn size(self, point: &Point) -> f64 {
        if self == Self::Agents { point.agents as f64 } else { point.nodes() }
    }

    /// How the time should grow with the size, and what that is called.
    fn work(self, size: f64) -> f64 {
        if self == Self::Agents { size } else { size * size.log2() }
    }

    fn formula(self, line: &Line) -> String {
        let unit = if self == Self::Agents { "M" } else { "N log₂N" };
        format!("{} + {} · {unit}", duration(line.fixed), duration(line.per))
    }
}

/// Milliseconds as a short text.
fn duration(ms: f64) -> String {
    let units = [(1.0, "ms"), (1e-3, "µs"), (1e-6, "ns")];
    let (unit, name) = units.into_iter().find(|(unit, _)| ms >= *unit).unwrap_or(units[2]);
    let value = ms / unit;
    format!("{value:.*} {name}", if value < 10.0 { 2 } else { 1 })
}

impl Args {
    /// Runs the command.
    pub fn run(mut self, registry: &Registry) -> Result<()> {
        for (name, list) in [("--agents", &mut self.agents), ("--grids", &mut self.grids)] {
            list.sort_unstable();
            list.dedup();
            if list.len() < 2 || list[0] == 0 {
                bail!("{name} needs two or more different numbers above 0, like 100,1000");
            }
        }
        let config = self.settings.config(registry)?;
        let agents = (Sweep::Agents, self.agents.iter().map(|&agents| (agents, self.fixed_grid)).collect::<Vec<_>>());
        let grids = (Sweep::Grid, self.grids.iter().map(|&grid| (self.fixed_agents, grid)).collect::<Vec<_>>());
        // Better now than after all the smaller ones.
        for &(agents, grid) in agents.1.iter().chain(&grids.1) {
            registry.resize(&config, agents, grid)?;
        }
        let mut growths = Vec::new();
        for (sweep, sizes) in [agents, grids] {
            let points: Vec<Point> =
                sizes.into_iter().map(|(agents, grid)| Point::measure(registry, &config, agents, grid)).collect::<Result<_>>()?;
            let line = line(sweep, &points);
            match self.json {
                true => print_json(sweep, &points, &line)?,
                false => print_table(sweep, &points, &line)?,
            }
            growths.push(growth(sweep, &points, &line));
        }
        if let Some(out) = &self.out {
            draw::draw_growth(&format!("{} · time of one tick", config.problem()), &growths, out)?;
            if !self.json {
                say!("Drew {}", out.display())?;
            }
        }
        Ok(())
    }
}

fn line(sweep: Sweep, points: &[Point]) -> Line {
    let pairs: Vec<_> = points.iter().map(|point| (sweep.work(sweep.size(point)), median(&point.ms))).collect();
    Line::through(&pairs)
}

/// The power with which the time grows from each point to the next.
fn exponents(sweep: Sweep, points: &[Point]) -> Vec<Option<f64>> {
    let logs: Vec<_> = points.iter().map(|point| (sweep.size(point).ln(), median(&point.ms).ln())).collect();
    let between = logs.windows(2).map(|pair| Some((pair[1].1 - pair[0].1) / (pair[1].0 - pair[0].0)));
    std::iter::once(None).chain(between).collect()
}

fn print_table(sweep: Sweep, points: &[Point], line: &Line) -> Result<()> {
    let first = &points[0];
    let (head, what) = match sweep {
        Sweep::Agents => (format!("{} on {} × {} nodes", first.config.problem(), first.grid, first.grid), "agents"),
        Sweep::Grid => (format!("{} with {} agents", first.config.problem(), first.agents), "grid"),
    };
    say!("{head}, one tick:")?;
    say!("{what:>14} {:>11} {:>11} {:>9} {:>11}", "median", "fastest", "exponent", "fit")?;
    for (point, exponent) in points.iter().zip(exponents(sweep, points)) {
        let size = match sweep {
            Sweep::Agents => point.agents.to_string(),
            Sweep::Grid => format!("{} × {}", point.grid, point.grid),
        };
        let exponent = exponent.map_or(String::new(), |exponent| format!("{exponent:.2}"));
        let fit = duration(line.at(sweep.work(sweep.size(point))));
        let [median, fastest] = [median(&point.ms), least(&point.ms)].map(duration);
        say!("{size:>14} {median:>11} {fastest:>11} {exponent:>9} {fit:>11}")?;
    }
    let verdict = if line.worst <= 0.2 { "holds" } else { "does not hold" };
    say!("time = {} {verdict} within 20 %: the farthest point is {:.0} % off.\n", sweep.formula(line), 100.0 * line.worst)
}

fn print_json(sweep: Sweep, points: &[Point], line: &Line) -> Result<()> {
    for (point, exponent) in points.iter().zip(exponents(sweep, points)) {
        let config = &point.config;
        let number = |key: &str| config.get(key).and_then(|value| value.as_float());
        let object = serde_json::json!({
            "problem": config.problem(), "sweep": if sweep == Sweep::Agents { "agents" } else { "grid" },
            "agents": point.agents, "grid": [point.grid, point.grid],
            "ms_median": median(&point.ms), "ms_min": least(&point.ms), "ticks": point.ms.len(), "exponent": exponent,
            "ms_fit": line.at(sweep.work(sweep.size(point))), "fit": sweep.formula(line), "fit_worst": line.worst,
            "sigma": number("swarm.sigma"), "window": number("observe.window"), "radius": number("cost.radius"),
            "cinoc": env!("CARGO_PKG_VERSION"),
        });
        say!("{object}")?;
    }
    Ok(())
}

fn growth(sweep: Sweep, points: &[Point], line: &Line) -> Growth {
    let first = &points[0];
    let (title, axis) = match sweep {
        Sweep::Agents => (format!("on {} × {} nodes", first.grid, first.grid), "agents M"),
        Sweep::Grid => (format!("with {} agents", first.agents), "nodes N"),
    };
    let (low, high) = (sweep.size(first).ln(), sweep.size(&points[points.len() - 1]).ln());
    let along = (0..=64).map(|i| (low + (high - low) * f64::from(i) / 64.0).exp());
    Growth {
        title,
        axis,
        measure: "milliseconds",
        measured: points.iter().map(|point| (sweep.size(point) as f32, median(&point.ms) as f32)).collect(),
        fit: along.map(|size| (size as f32, line.at(sweep.work(size)) as f32)).collect(),
        formula: sweep.formula(line),
    }
}
