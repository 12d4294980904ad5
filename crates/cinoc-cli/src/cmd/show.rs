//! `cinoc show`

use crate::draw::{self, Episode, Episode1d};
use crate::library;
use anyhow::{Result, bail};
use cinoc::Real;
use cinoc::evaluate::Request;
use cinoc::inspect::trace;
use cinoc::policy::Uncontrolled;
use cinoc::random::Stream;
use cinoc::rollout::Outcome;
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
    /// Share of the agents that die halfway through the episode.
    #[arg(long, default_value_t = 0.0)]
    fail: f64,
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
        let model = library::find(&self.model)?;
        let (problem, policy) = model.build()?;
        let agents = self.agents.unwrap_or(problem.config.swarm.agents);
        if agents == 0 {
            bail!("--agents must be 1 or more");
        }
        let request = Request { agents, instances: 1, seed: 0, stream: Stream::Test, fail: self.fail };
        let (controlled, outcome) = trace(&problem, &*policy, &model.params, &request, self.instance);
        if let Outcome::Diverged { tick } = outcome {
            bail!("this episode diverged at tick {tick}; try another --instance or fewer --agents");
        }
        let nobody = Uncontrolled { action_width: problem.swarm.action_width() };
        let (free, _) = trace(&problem, &nobody, &Default::default(), &request, self.instance);
        let name = &problem.config.problem;
        let grid = problem.stepper.grid();
        let k = problem.swarm.action_width();
        let plain = |x: &[Real]| -> Vec<f32> { x.iter().map(|&x| x as f32).collect() };
        let fields = |z: &[Vec<Real>]| z.iter().map(|z| plain(z)).collect::<Vec<_>>();
        let column = |c: usize| controlled.action.iter().map(|a| a.iter().skip(c).step_by(k).map(|&x| x as f32).collect()).collect();
        let failing = if self.fail > 0.0 { format!(" · {:.0} % fail", 100.0 * self.fail) } else { String::new() };
        let episode = Episode1d {
            title: format!("{name} · {agents} agents{failing} · held-out instance {}", self.instance),
            length: grid.lengths[0] as f32,
            tick_time: problem.tick_time() as f32,
            periodic: grid.periodic,
            target: plain(&controlled.target),
            uncontrolled: fields(&free.z),
            controlled: fields(&controlled.z),
            xi: fields(&controlled.xi),
            alive: controlled.alive.clone(),
            u: column(0),
            v: if k > 1 { column(1) } else { vec![Vec::new(); controlled.action.len()] },
        };
        let out = self.out.unwrap_or_else(|| PathBuf::from(format!("{name}.png")));
        draw::draw(&Episode::Line(episode), &out)?;
        println!("Drew {}", out.display());
        Ok(())
    }
}
