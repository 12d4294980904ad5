//! `cinoc show`

use super::{changes, data};
use crate::draw::{self, Clock, Episode, Episode1d, Episode2d, Measure};
use crate::library;
use crate::out::say;
use anyhow::{Result, bail};
use cinoc::evaluate::Request;
use cinoc::inspect::{Trace, trace};
use cinoc::policy::Uncontrolled;
use cinoc::random::Stream;
use cinoc::rollout::Outcome;
use cinoc::task::Use;
use cinoc::{Problem, Real};
use std::path::PathBuf;

/// Arguments of `cinoc show`.
#[derive(clap::Args)]
pub struct Args {
    /// A model file, a run folder, or the name of a model that comes with the program (for example heat1d).
    #[arg(value_name = "MODEL|RUN")]
    model: String,
    /// Number of agents; default: the trained one.
    #[arg(long)]
    agents: Option<usize>,
    /// Which held-out instance.
    #[arg(long, default_value_t = 0)]
    instance: usize,
    /// Ticks without control before it is switched on at t = 0; default: a quarter of the episode for fields that are brought to rest, else none.
    #[arg(long)]
    before: Option<usize>,
    /// Share of the agents that die halfway to the moment of the score.
    #[arg(long, default_value_t = 0.0)]
    fail: f64,
    /// Change a setting of the problem, for example --set physics.length=64. May be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// File to draw: .png, .svg or .gif. Default: PROBLEM.png.
    #[arg(short, long = "out", value_name = "FILE")]
    out: Option<PathBuf>,
}

impl Args {
    /// Runs the command.
    pub fn run(self) -> Result<()> {
        if !(0.0..=1.0).contains(&self.fail) {
            bail!("--fail cannot be {}; it must be a share from 0 to 1", self.fail);
        }
        let model = library::find(&self.model)?.with(&changes(&self.set)?)?;
        let (problem, policy) = model.build()?;
        data::prepare(&problem, &[Use::Test]);
        let agents = self.agents.unwrap_or(problem.config.swarm.agents);
        if agents == 0 {
            bail!("--agents must be 1 or more");
        }
        let request = Request { agents, instances: 1, seed: 0, stream: Stream::Test, fail: self.fail };
        let to_rest = !measure(&problem).has_target();
        let before = self.before.unwrap_or(if to_rest { problem.ticks / 4 } else { 0 });
        let (controlled, outcome) = trace(&problem, &*policy, &model.params, &request, self.instance, before);
        if let Outcome::Diverged { tick } = outcome {
            bail!("this episode diverged at tick {tick}; try another --instance or fewer --agents");
        }
        let nobody = Uncontrolled { action_width: problem.swarm.action_width() };
        let (free, _) = trace(&problem, &nobody, &Default::default(), &request, self.instance, before);
        let name = &problem.config.problem;
        let failing = if self.fail > 0.0 { format!(" · {:.0} % fail", 100.0 * self.fail) } else { String::new() };
        let title = format!("{name} · {agents} agents{failing} · held-out instance {}", self.instance);
        let episode = match problem.stepper.grid().dimensions() {
            1 => Episode::Line(line(&problem, title, controlled, free)),
            _ => Episode::Plane(plane(&problem, title, controlled, free)),
        };
        let out = self.out.unwrap_or_else(|| PathBuf::from(format!("{name}.png")));
        draw::draw(&episode, &out)?;
        say!("Drew {}", out.display())?;
        Ok(())
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

/// What the curves of a problem show.
fn measure(problem: &Problem) -> Measure {
    match problem.task.measures()[0] {
        name if name.starts_with("energy") => Measure::Energy,
        name if name.starts_with("enstrophy") => Measure::Enstrophy,
        _ => Measure::Error,
    }
}

fn clock(problem: &Problem, trace: &Trace) -> Clock {
    Clock { tick: problem.tick_time() as f32, before: trace.before }
}

fn line(problem: &Problem, title: String, controlled: Trace, free: Trace) -> Episode1d {
    let (grid, k) = (problem.stepper.grid(), problem.swarm.action_width());
    Episode1d {
        title,
        measure: measure(problem),
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
        measure: measure(problem),
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
        obstacles: problem.config.obstacles.iter().map(|disc| disc.map(|x| x as f32)).collect(),
    }
}
