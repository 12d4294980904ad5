//! `cinoc show`

use super::{Instances, data};
use crate::draw::{self, Clock, Episode, Episode1d, Episode2d};
use crate::out::say;
use crate::{arrays, library};
use anyhow::{Result, bail};
use cinoc::policy::Idle;
use cinoc::random::Use;
use cinoc::settings::Overlay;
use cinoc::trace::{Trace, trace};
use cinoc::{Problem, Real, Registry};
use std::path::PathBuf;

/// Arguments of `cinoc show`.
#[derive(clap::Args)]
pub struct Args {
    /// The name of a model that comes with the program (for example heat1d), a model file, or a run folder.
    #[arg(value_name = "MODEL|RUN")]
    model: String,
    /// Number of agents; default: the trained one.
    #[arg(long)]
    agents: Option<usize>,
    /// Which held-out instance.
    #[arg(long, default_value_t = 0)]
    instance: usize,
    #[command(flatten)]
    instances: Instances,
    /// Ticks without control before it is switched on at t = 0; default: a quarter of the episode for fields that are brought to rest, else none.
    #[arg(long)]
    before: Option<usize>,
    /// Change a setting of the problem, for example --set physics.ticks=600. May be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// File to draw: .png, .svg or .gif. Default: PROBLEM.png.
    #[arg(short, long = "out", value_name = "FILE")]
    out: Option<PathBuf>,
    /// Also write the episode as arrays for NumPy: fields, positions, actions, who is alive, target, times.
    #[arg(long, value_name = "FILE.npz")]
    export: Option<PathBuf>,
}

impl Args {
    /// Runs the command.
    pub fn run(self, registry: &Registry) -> Result<()> {
        let model = library::find(registry, &self.model)?.with(registry, &Overlay::from_pairs(&self.set)?)?;
        let (problem, policy) = model.build(registry)?;
        let agents = self.agents.unwrap_or(problem.agents);
        if agents == 0 {
            bail!("--agents must be 1 or more");
        }
        let request = self.instances.request(&problem, agents, 1)?;
        data::prepare(&problem, &[Use::Test], request.seed);
        let before = self.before.unwrap_or(if problem.task.reading().has_target { 0 } else { problem.ticks / 4 });
        if before > 100 * problem.ticks {
            bail!("--before cannot be {before}; it must be at most a hundred episodes, {} ticks", 100 * problem.ticks);
        }
        let controlled = trace(&problem, &*policy, &model.params, &request, self.instance, before)?;
        if let Some(tick) = controlled.diverged {
            bail!("this episode diverged at tick {tick}; try another --instance or fewer --agents");
        }
        if let Some(export) = &self.export {
            arrays::export(export, &problem, &controlled)?;
            say!("Wrote {}", export.display())?;
        }
        let nobody = Idle { action_width: problem.swarm.action_width() };
        let free = trace(&problem, &nobody, &Default::default(), &request, self.instance, before)?;
        let name = &problem.name;
        let failing = if request.fail > 0.0 { format!(" · {} die (grey)", request.dead()) } else { String::new() };
        let own = if self.instances.start.is_some() { "own start" } else { "held-out instance" };
        let title = format!("{name} · {agents} agents{failing} · {own} {}", self.instance);
        let episode = match problem.stepper.grid().dimensions() {
            1 => Episode::Line(line(&problem, title, controlled, free)),
            2 => Episode::Plane(plane(&problem, title, controlled, free)),
            d => bail!("only fields on a line or in the plane can be drawn, not in {d} dimensions; use --export"),
        };
        let out = self.out.unwrap_or_else(|| PathBuf::from(format!("{name}.png")));
        draw::draw(&episode, &out)?;
        say!("Drew {}", out.display())
    }
}

/// Numbers as the drawing takes them.
fn plain(x: &[Real]) -> Vec<f32> {
    x.iter().map(|&x| x as f32).collect()
}

fn rows(x: &[Vec<Real>]) -> Vec<Vec<f32>> {
    x.iter().map(|row| plain(row)).collect()
}

/// Pairs of neighbouring numbers.
fn pairs(x: &[Vec<Real>]) -> Vec<Vec<[f32; 2]>> {
    x.iter().map(|row| row.chunks_exact(2).map(|p| [p[0] as f32, p[1] as f32]).collect()).collect()
}

/// Component `c` of every action of `k` components.
fn component(actions: &[Vec<Real>], k: usize, c: usize) -> Vec<Vec<f32>> {
    actions.iter().map(|a| a.iter().skip(c).step_by(k).map(|&x| x as f32).collect()).collect()
}

fn clock(problem: &Problem, trace: &Trace) -> Clock {
    Clock { tick: problem.tick_time() as f32, before: trace.before }
}

fn line(problem: &Problem, title: String, controlled: Trace, free: Trace) -> Episode1d {
    let (grid, k) = (problem.stepper.grid(), problem.swarm.action_width());
    Episode1d {
        title,
        measure: problem.task.reading(),
        length: grid.lengths[0] as f32,
        clock: clock(problem, &controlled),
        periodic: grid.periodic,
        target: plain(&controlled.target),
        uncontrolled: rows(&free.z),
        controlled: rows(&controlled.z),
        xi: rows(&controlled.xi),
        alive: controlled.alive,
        u: component(&controlled.action, k, 0),
        v: if k > 1 { component(&controlled.action, k, 1) } else { vec![Vec::new(); controlled.action.len()] },
    }
}

fn plane(problem: &Problem, title: String, controlled: Trace, free: Trace) -> Episode2d {
    let (grid, k) = (problem.stepper.grid(), problem.swarm.action_width());
    let velocity = |a: &Vec<Real>| a.chunks_exact(k).map(|a| [a[k - 2] as f32, a[k - 1] as f32]).collect();
    // Agents that only have a velocity act by it: their intensity is its length.
    let speed = |a: &Vec<Real>| a.chunks_exact(k).map(|a| a[0].hypot(a[1]) as f32).collect();
    Episode2d {
        title,
        measure: problem.task.reading(),
        lengths: [grid.lengths[0] as f32, grid.lengths[1] as f32],
        shape: [grid.nodes[0], grid.nodes[1]],
        periodic: grid.periodic,
        clock: clock(problem, &controlled),
        target: plain(&controlled.target),
        uncontrolled: rows(&free.z),
        controlled: rows(&controlled.z),
        xi: pairs(&controlled.xi),
        alive: controlled.alive,
        u: if k == 2 { controlled.action.iter().map(speed).collect() } else { component(&controlled.action, k, 0) },
        v: if k > 1 { controlled.action.iter().map(velocity).collect() } else { vec![Vec::new(); controlled.action.len()] },
        obstacles: problem.task.obstacles().iter().map(|d| [d.centre[0], d.centre[1], d.radius].map(|x| x as f32)).collect(),
    }
}
