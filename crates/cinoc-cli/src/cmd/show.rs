//! `cinoc show`

mod episode;
mod page;
mod swarms;

use super::{Instances, data};
use crate::draw;
use crate::out::say;
use crate::{arrays, library};
use anyhow::{Result, bail};
use cinoc::Registry;
use cinoc::policy::Idle;
use cinoc::random::Use;
use cinoc::ranks::Alone;
use cinoc::settings::Overlay;
use cinoc::trace::trace;
use episode::episode;
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
    /// Which held-out instance; of a page, the first of four.
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
    /// File to draw: .png, .svg or .gif; or .html, a page to play with in a browser, all in one file. Default: PROBLEM.png.
    #[arg(short, long = "out", value_name = "FILE")]
    out: Option<PathBuf>,
    /// For a page: search for the best actions of each of its starts with so many iterations, and put them into it. Without, the page searches when asked.
    #[arg(long, value_name = "ITERATIONS", default_value_t = 0)]
    optimum: usize,
    /// For a page: another engine than the one that comes with the program, which knows other problems.
    #[arg(long, value_name = "FILE.wasm")]
    engine: Option<PathBuf>,
    /// Draw this instance with three swarms side by side: all agents, half of them, and all of which a third dies halfway (or as --fail and --fail-at say).
    #[arg(long)]
    swarms: bool,
    /// Also write the episode as arrays for NumPy: fields, positions, actions, who is alive, target, times.
    #[arg(long, value_name = "FILE.npz")]
    export: Option<PathBuf>,
}

impl Args {
    /// Runs the command.
    pub fn run(self, registry: &Registry) -> Result<()> {
        let model = library::find(registry, &self.model)?.with(registry, &Overlay::from_pairs(&self.set)?)?;
        let (problem, policy) = model.build(registry)?;
        if self.swarms && self.export.is_some() {
            bail!("--export writes one episode, and --swarms draws three; leave one of them out");
        }
        let agents = self.agents.unwrap_or(problem.agents);
        if agents == 0 {
            bail!("--agents must be 1 or more");
        }
        let request = self.instances.request(&problem, agents, 1)?;
        let html = self.out.as_ref().filter(|out| out.extension().is_some_and(|end| end.eq_ignore_ascii_case("html")));
        if html.is_some() && (self.swarms || self.export.is_some() || self.before.is_some() || request.fail > 0.0) {
            bail!(
                "a page is not drawn beforehand: leave out --swarms, --export, --before and --fail, and kill agents on the page"
            );
        }
        if html.is_none() && (self.optimum > 0 || self.engine.is_some()) {
            bail!("--optimum and --engine are for pages; add -o {}.html", problem.name);
        }
        data::prepare(&problem, &[Use::Test], request.seed, &Alone)?;
        if let Some(out) = html {
            let (model, policy, instance, iterations) = (&model, &*policy, self.instance, self.optimum);
            let engine = self.engine.as_deref();
            let question = page::Question { model, problem: &problem, policy, request, instance, iterations, engine };
            cinoc::disk::write_whole(out, question.html()?.as_bytes())?;
            return say!("Wrote {}: open it in a browser", out.display());
        }
        let before = self.before.unwrap_or(if problem.task.reading().has_target { 0 } else { problem.ticks / 4 });
        if before > 100 * problem.ticks {
            bail!("--before cannot be {before}; it must be at most a hundred episodes, {} ticks", 100 * problem.ticks);
        }
        if self.swarms {
            let (policy, params, instance) = (&*policy, &model.params, self.instance);
            let scenes = swarms::scenes(&problem, &swarms::Question { policy, params, request, instance, before })?;
            let title = format!("{} · {} {instance} · three swarms", problem.name, self.instances.whose());
            let out = self.out.unwrap_or_else(|| PathBuf::from(format!("{}_swarms.png", problem.name)));
            draw::draw_swarms(&title, &scenes, before + problem.task.scored_at(problem.ticks), &out)?;
            return say!("Drew {}", out.display());
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
        let title = format!("{name} · {agents} agents{failing} · {} {}", self.instances.whose(), self.instance);
        let episode = episode(&problem, title, controlled, &free)?;
        let out = self.out.unwrap_or_else(|| PathBuf::from(format!("{name}.png")));
        draw::draw(&episode, &out)?;
        say!("Drew {}", out.display())
    }
}
