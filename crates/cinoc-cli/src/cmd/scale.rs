//! `cinoc scale`

use super::{Settings, least, median, whole};
use crate::draw::{self, Growth};
use crate::out::{has_folder, say};
use crate::progress::Meter;
use anyhow::{Result, bail};
use cinoc::internal::shown;
use cinoc::internal::threads::Threads;
use cinoc::{Config, Registry};
use cinoc_lab::scaling::{LinearFit, Ticks, ticks};
use std::path::PathBuf;

/// The sizes that are kept while another one grows.
const KEPT: &str =
    "Kept: the width of a push (swarm.sigma) and the window of an agent (observe.window) keep their size in cells of the grid, so that
an agent touches equally many nodes on every grid. The collision radius (cost.radius) goes with 1/√agents, so that each agent has
equally many neighbours in every swarm. The work of a tick is then agents × cells touched + nodes. With --areas the domain grows
instead, with equal nodes and agents per area. Agents are at random positions and their policy is not trained. One instance, no
gradient; several threads work inside its operations. Time spent waiting for a processor is not counted (on Linux, with one thread).
Memory is that of the environment: the episode, the recorded tick and working space; the peak is that of the process (on Linux),
building included.";

/// Arguments of `cinoc scale`.
#[derive(clap::Args)]
#[command(after_help = KEPT)]
pub struct ScaleArgs {
    #[command(flatten)]
    settings: Settings,
    /// Numbers of agents to time [default: 100 to 100,000, unless there are other sizes].
    #[arg(long, value_delimiter = ',', value_name = "LIST", value_parser = whole::<usize>)]
    agents: Vec<usize>,
    /// Nodes along each axis while the number of agents grows.
    #[arg(long, value_name = "NODES", default_value_t = 512, value_parser = whole::<usize>)]
    fixed_grid: usize,
    /// Grids to time, by their nodes along each axis [default: 32 to 1024, unless there are other sizes].
    #[arg(long, value_delimiter = ',', value_name = "LIST", value_parser = whole::<usize>)]
    grids: Vec<usize>,
    /// Number of agents while the grid grows.
    #[arg(long, value_name = "AGENTS", default_value_t = 1000, value_parser = whole::<usize>)]
    fixed_agents: usize,
    /// Domains to time, by the factor that lengthens each axis; agents and nodes per area are kept.
    #[arg(long, value_delimiter = ',', value_name = "LIST", value_parser = whole::<usize>)]
    areas: Vec<usize>,
    /// Threads; 0 takes all cores.
    #[arg(long, default_value_t = 1, value_parser = whole::<usize>)]
    threads: usize,
    /// Also report the time of a tick by operation.
    #[arg(long)]
    operations: bool,
    /// Draw time and memory against size into this file: .png or .svg.
    #[arg(short, long = "out", value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print one JSON object per size, a line each.
    #[arg(long)]
    json: bool,
}

/// Quantity that grows.
#[derive(Clone, Copy, PartialEq)]
enum Sweep {
    Agents,
    Grid,
    Area,
}

/// One size and its ticks.
struct ScalePoint {
    agents: usize,
    grid: usize,
    threads: usize,
    config: Config,
    ticks: Ticks,
    /// Peak memory of the process meanwhile, in bytes.
    peak: Option<f64>,
}

impl ScalePoint {
    fn measure(registry: &Registry, config: Config, threads: usize) -> Result<Self> {
        let number = |key: &str| config.get(key).and_then(|value| value.as_integer()).unwrap_or(0) as usize;
        let (agents, grid) = (number("swarm.agents"), number("physics.nodes"));
        reset_peak();
        let team = Threads::new(threads)?;
        let threads = team.count();
        let ticks = ticks(registry, &config, team)?;
        Ok(Self { agents, grid, threads, config, ticks, peak: peak() })
    }

    fn nodes(&self) -> f64 {
        (self.grid * self.grid) as f64
    }

    fn median(&self) -> f64 {
        median(&self.ticks.ms)
    }

    fn fastest(&self) -> f64 {
        least(&self.ticks.ms)
    }
}

/// Restarts the count of the peak, where the system allows it.
fn reset_peak() {
    _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// Peak memory of the process, as Linux counts.
fn peak() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? * 1024.0)
}

impl Sweep {
    fn size(self, point: &ScalePoint) -> f64 {
        if self == Self::Agents { point.agents as f64 } else { point.nodes() }
    }

    /// The expected growth of the time with the size.
    fn work(self, size: f64) -> f64 {
        if self == Self::Agents { size } else { size * size.log2() }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Agents => "agents",
            Self::Grid => "grid",
            Self::Area => "area",
        }
    }

    fn formula(self, line: &LinearFit) -> String {
        let unit = if self == Self::Agents { "M" } else { "N log₂N" };
        format!("{} + {} · {unit}", duration(line.fixed), duration(line.per))
    }
}

/// Bytes as a short text.
fn amount(bytes: f64) -> String {
    let units = [(1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "bytes")];
    let (unit, name) = units.into_iter().find(|(unit, _)| bytes >= *unit).unwrap_or(units[3]);
    let value = bytes / unit;
    format!("{value:.*} {name}", if value < 10.0 { 2 } else { 1 })
}

/// Milliseconds as a short text.
fn duration(ms: f64) -> String {
    let units = [(1.0, "ms"), (1e-3, "µs"), (1e-6, "ns")];
    let (unit, name) = units.into_iter().find(|(unit, _)| ms >= *unit).unwrap_or(units[2]);
    let value = ms / unit;
    format!("{value:.*} {name}", if value < 10.0 { 2 } else { 1 })
}

impl ScaleArgs {
    /// Runs the command.
    pub fn run(mut self, registry: &Registry) -> Result<()> {
        if self.agents.is_empty() && self.grids.is_empty() && self.areas.is_empty() {
            self.agents = vec![100, 300, 1000, 3000, 10_000, 30_000, 100_000];
            self.grids = vec![32, 64, 128, 256, 512, 1024];
        }
        for (name, list) in [("--agents", &mut self.agents), ("--grids", &mut self.grids), ("--areas", &mut self.areas)] {
            list.sort_unstable();
            let count = list.len();
            list.dedup();
            if list.first() == Some(&0) || list.len() < count {
                bail!("{name} needs different numbers above 0, like 100,1000");
            }
        }
        self.out.as_deref().map_or(Ok(()), has_folder)?;
        let config = self.settings.config(registry)?;
        // Better now than after all the smaller ones.
        let sized = |agents: usize, grid: usize| registry.resize(&config, agents, grid);
        let agents = self.agents.iter().map(|&agents| sized(agents, self.fixed_grid)).collect::<Result<Vec<_>, _>>()?;
        let grids = self.grids.iter().map(|&grid| sized(self.fixed_agents, grid)).collect::<Result<Vec<_>, _>>()?;
        let areas = self.areas.iter().map(|&times| registry.enlarge(&config, times)).collect::<Result<Vec<_>, _>>()?;
        let sweeps = [(Sweep::Agents, agents), (Sweep::Grid, grids), (Sweep::Area, areas)];
        let mut growths = Vec::new();
        let (all, mut done) = (sweeps.iter().map(|(_, sizes)| sizes.len()).sum::<usize>(), 0_u32);
        let meter = Meter::new(0.0, &format!("{all} sizes of {}", config.problem()));
        for (sweep, sizes) in sweeps.into_iter().filter(|(_, sizes)| !sizes.is_empty()) {
            let mut points = Vec::new();
            for config in sizes {
                points.push(ScalePoint::measure(registry, config, self.threads)?);
                done += 1;
                meter.set(f64::from(done) / all as f64);
            }
            let line = line(sweep, &points);
            meter.aside(|| match self.json {
                true => print_json(sweep, &points, &line, self.operations),
                false => print_table(sweep, &points, &line).and_then(|()| match self.operations {
                    true => points.iter().try_for_each(print_operations),
                    false => Ok(()),
                }),
            })?;
            growths.push(growth(sweep, &points, &line));
            growths.push(memory(sweep, &points));
        }
        if let Some(out) = &self.out {
            meter.clear();
            draw::draw_growth(&format!("{} · time and memory of one tick", config.problem()), &growths, out)?;
            if !self.json {
                say!("Drew {}", shown(out))?;
            }
        }
        Ok(())
    }
}

fn line(sweep: Sweep, points: &[ScalePoint]) -> LinearFit {
    let pairs: Vec<_> = points.iter().map(|point| (sweep.work(sweep.size(point)), point.median())).collect();
    LinearFit::through(&pairs)
}

/// The power with which the time grows from each point to the next.
fn exponents(sweep: Sweep, points: &[ScalePoint]) -> Vec<Option<f64>> {
    let logs: Vec<_> = points.iter().map(|point| (sweep.size(point).ln(), point.median().ln())).collect();
    let between = logs.windows(2).map(|pair| Some((pair[1].1 - pair[0].1) / (pair[1].0 - pair[0].0)));
    std::iter::once(None).chain(between).collect()
}

fn print_table(sweep: Sweep, points: &[ScalePoint], line: &LinearFit) -> Result<()> {
    let first = &points[0];
    let (head, what) = match sweep {
        Sweep::Agents => (format!("{} on {} × {} nodes", first.config.problem(), first.grid, first.grid), "agents"),
        Sweep::Grid => (format!("{} with {} agents", first.config.problem(), first.agents), "grid"),
        Sweep::Area => (format!("{} on growing domains", first.config.problem()), "agents, grid"),
    };
    let threads = if first.threads == 1 { "one thread".to_string() } else { format!("{} threads", first.threads) };
    say!("{head}, one tick, {threads}:")?;
    say!("{what:>21} {:>11} {:>11} {:>9} {:>11} {:>11} {:>11}", "median", "fastest", "exponent", "fit", "memory", "peak")?;
    for (point, exponent) in points.iter().zip(exponents(sweep, points)) {
        let size = match sweep {
            Sweep::Agents => point.agents.to_string(),
            Sweep::Grid => format!("{} × {}", point.grid, point.grid),
            Sweep::Area => format!("{}, {} × {}", point.agents, point.grid, point.grid),
        };
        let exponent = exponent.map_or(String::new(), |exponent| format!("{exponent:.2}"));
        let fit = duration(line.at(sweep.work(sweep.size(point))));
        let [median, fastest] = [point.median(), point.fastest()].map(duration);
        let (memory, peak) = (amount(point.ticks.bytes as f64), point.peak.map_or(String::new(), amount));
        say!("{size:>21} {median:>11} {fastest:>11} {exponent:>9} {fit:>11} {memory:>11} {peak:>11}")?;
    }
    if points.len() < 2 {
        return say!("");
    }
    say!("time = {}; the farthest point is {:.0} % off.\n", sweep.formula(line), 100.0 * line.worst)
}

fn print_operations(point: &ScalePoint) -> Result<()> {
    let known: f64 = point.ticks.operations.iter().map(|(_, ms)| ms).sum();
    say!("{} agents on {} × {} nodes, {} by operation:", point.agents, point.grid, point.grid, duration(known))?;
    for (name, ms) in point.ticks.operations.iter().filter(|(_, ms)| *ms > 0.002 * known) {
        say!("{name:>21} {:>11} {:>5.1} %", duration(*ms), 100.0 * ms / known)?;
    }
    say!("")
}

fn print_json(sweep: Sweep, points: &[ScalePoint], line: &LinearFit, operations: bool) -> Result<()> {
    for (point, exponent) in points.iter().zip(exponents(sweep, points)) {
        let config = &point.config;
        let number = |key: &str| config.get(key).and_then(|value| value.as_float());
        let mut object = serde_json::json!({
            "problem": config.problem(), "sweep": sweep.name(), "threads": point.threads,
            "agents": point.agents, "grid": [point.grid, point.grid], "length": number("physics.length"),
            "ms_median": point.median(), "ms_min": point.fastest(), "ticks": point.ticks.ms.len(), "exponent": exponent,
            "bytes_environment": point.ticks.bytes, "bytes_peak_of_process": point.peak,
            "ms_fit": line.at(sweep.work(sweep.size(point))), "fit": sweep.formula(line), "fit_worst": line.worst,
            "sigma": number("swarm.sigma"), "window": number("observe.window"), "radius": number("cost.radius"),
            "cinoc": env!("CARGO_PKG_VERSION"),
        });
        if operations {
            let each: Vec<_> =
                point.ticks.operations.iter().map(|(name, ms)| serde_json::json!({"name": name, "ms": ms})).collect();
            object["operations"] = each.into();
        }
        say!("{object}")?;
    }
    Ok(())
}

/// The sizes that were kept, and the one that grew.
fn kept(sweep: Sweep, first: &ScalePoint) -> (String, &'static str) {
    match sweep {
        Sweep::Agents => (format!("on {} × {} nodes", first.grid, first.grid), "agents M"),
        Sweep::Grid => (format!("with {} agents", first.agents), "nodes N"),
        Sweep::Area => (format!("{:.0} nodes for each agent", first.nodes() / first.agents as f64), "nodes N"),
    }
}

/// Sizes from the first to the last.
fn along(sweep: Sweep, points: &[ScalePoint]) -> impl Iterator<Item = f64> {
    let (low, high) = (sweep.size(&points[0]).ln(), sweep.size(&points[points.len() - 1]).ln());
    (0..=64).map(move |i| (low + (high - low) * f64::from(i) / 64.0).exp())
}

fn growth(sweep: Sweep, points: &[ScalePoint], line: &LinearFit) -> Growth {
    let (title, axis) = kept(sweep, &points[0]);
    Growth {
        title,
        axis,
        measure: "milliseconds",
        measured: points.iter().map(|point| (sweep.size(point) as f32, point.median() as f32)).collect(),
        fit: along(sweep, points).map(|size| (size as f32, line.at(sweep.work(size)) as f32)).collect(),
        formula: sweep.formula(line),
    }
}

/// Bytes of the environment.
fn memory(sweep: Sweep, points: &[ScalePoint]) -> Growth {
    let (title, axis) = kept(sweep, &points[0]);
    let pairs: Vec<_> = points.iter().map(|point| (sweep.size(point), point.ticks.bytes as f64)).collect();
    let line = LinearFit::through(&pairs);
    let unit = if sweep == Sweep::Agents { "M" } else { "N" };
    Growth {
        title,
        axis,
        measure: "megabytes",
        measured: pairs.iter().map(|(size, bytes)| (*size as f32, (bytes * 1e-6) as f32)).collect(),
        fit: along(sweep, points).map(|size| (size as f32, (line.at(size) * 1e-6) as f32)).collect(),
        formula: format!("{} + {} · {unit}", amount(line.fixed), amount(line.per)),
    }
}
