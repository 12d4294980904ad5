//! `cinoc show`

mod episode;
mod page;
mod range;
mod swarms;

use super::{Instances, data, push_width, whole};
use crate::draw;
use crate::out::{has_folder, program, say};
use crate::progress::Meter;
use crate::{arrays, library};
use anyhow::{Result, bail};
use cinoc::evaluate::Request;
use cinoc::internal::shown;
use cinoc::internal::trace::{Trace, trace};
use cinoc::policy::{Policy, ZeroControl};
use cinoc::run::Model;
use cinoc::settings::Overlay;
use cinoc::{Problem, Registry};
use episode::episode;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Arguments of `cinoc show`.
#[derive(clap::Args)]
pub struct ShowArgs {
    /// Name of a shipped model (for example heat1d), a model file, or a run folder.
    #[arg(value_name = "MODEL|RUN")]
    model: PathBuf,
    /// Number of agents; default: the trained number.
    #[arg(long, value_parser = whole::<usize>)]
    agents: Option<usize>,
    /// Number of the test instance; of a page, the first of four.
    #[arg(long, default_value_t = 0, value_parser = whole::<usize>)]
    instance: usize,
    #[command(flatten)]
    instances: Instances,
    /// Ticks without control before it is switched on at t = 0; default: a quarter of the episode for stabilisation, else none.
    #[arg(long, value_parser = whole::<usize>)]
    before: Option<usize>,
    /// Change a setting of the problem, for example --set physics.ticks=600. May be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// File to draw: .png, .svg or .gif; or .html, an interactive page in one file. Default: PROBLEM.png.
    #[arg(short, long = "out", value_name = "FILE")]
    out: Option<PathBuf>,
    /// For a page: search for the best actions of each of its starts with this many iterations, and include them. Without, the page
    /// searches when asked.
    #[arg(long, value_name = "ITERATIONS", default_value_t = 0, value_parser = whole::<usize>)]
    optimum: usize,
    /// For a page: another engine than the built-in one, with further problems; WebAssembly, which may be packed by gzip.
    #[arg(long, value_name = "FILE.wasm")]
    engine: Option<PathBuf>,
    /// Draw this instance with three swarms side by side: all agents, half of them, and all with a third failing halfway (or as --fail
    /// and --fail-at say).
    #[arg(long)]
    swarms: bool,
    /// Also write the episode as arrays for NumPy: fields, positions, actions, active agents, target, times.
    #[arg(long, value_name = "FILE.npz")]
    export: Option<PathBuf>,
    /// Print one JSON object: the scores with and without control, and the files.
    #[arg(long)]
    json: bool,
}

/// The subject of a figure or page: an instance of a problem under a policy.
struct Subject {
    model: Model,
    problem: Arc<Problem>,
    policy: Box<dyn Policy>,
    request: Request,
    instance: usize,
}

impl Subject {
    /// The episode under the policy, with uncontrolled ticks before it.
    fn controlled(&self, request: &Request, before: usize) -> Result<Trace> {
        Ok(trace(&self.problem, &*self.policy, &self.model.params, request, self.instance, before)?)
    }

    /// The episode without control.
    fn uncontrolled(&self, request: &Request, before: usize) -> Result<Trace> {
        let idle = ZeroControl { action_width: self.problem.swarm.action_width() };
        Ok(trace(&self.problem, &idle, &Default::default(), request, self.instance, before)?)
    }
}

impl ShowArgs {
    /// Runs the command.
    pub fn run(self, registry: &Registry) -> Result<()> {
        for path in [&self.out, &self.export].into_iter().flatten() {
            has_folder(path)?;
        }
        let html = self.out.as_deref().filter(|out| out.extension().is_some_and(|end| end.eq_ignore_ascii_case("html")));
        self.refuse_contradictions(html.is_some())?;
        if let Some(out) = &self.out {
            draw::known(out, self.swarms)?;
        }
        let model = library::find(registry, &self.model)?.with(registry, &Overlay::from_pairs(&self.set)?)?;
        let (problem, policy) = model.build(registry)?;
        let agents = self.agents.unwrap_or(problem.agents);
        let request = self.instances.request(&problem, push_width(&model.config), agents, 1)?;
        // A bad engine is found before anything is computed.
        let engine = html.map(|_| page::engine(self.engine.as_deref(), &model)).transpose()?;
        let count = if html.is_some() { page::STARTS } else { 1 };
        data::prepare_instances(&problem, self.instance..self.instance.saturating_add(count), request.seed);
        let subject = Subject { model, problem, policy, request, instance: self.instance };
        match (html, engine) {
            (Some(out), Some(engine)) => self.page(&subject, engine, out),
            _ if self.swarms => self.swarms(&subject),
            _ => self.episode(&subject),
        }
    }

    /// Refuses flags that exclude each other.
    fn refuse_contradictions(&self, page: bool) -> Result<()> {
        if self.agents == Some(0) {
            bail!("--agents must be 1 or more");
        }
        if self.swarms && self.export.is_some() {
            bail!("--export writes one episode, and --swarms draws three; leave one of them out");
        }
        if page && (self.swarms || self.export.is_some() || self.before.is_some() || self.instances.fail > 0.0) {
            bail!(
                "a page computes its episodes when it is opened: leave out --swarms, --export, --before and --fail, and click agents on the page"
            );
        }
        if !page && (self.optimum > 0 || self.engine.is_some()) {
            let name = self.model.file_stem().map(shown).unwrap_or_default();
            bail!("--optimum and --engine are for pages; add -o {name}.html");
        }
        Ok(())
    }

    /// Writes an interactive page.
    fn page(&self, subject: &Subject, engine: Vec<u8>, out: &Path) -> Result<()> {
        let html = page::Contents { subject, engine, iterations: self.optimum }.html()?;
        cinoc::internal::disk::write_whole(out, html.as_bytes())?;
        match self.json {
            true => self.report(subject, &[], &[out]),
            false => say!("Wrote {}: open it in a browser", shown(out)),
        }
    }

    /// Draws three swarms.
    fn swarms(&self, subject: &Subject) -> Result<()> {
        let (problem, before) = (&subject.problem, self.before(&subject.problem)?);
        let scenes = swarms::scenes(subject, before)?;
        let title = format!("{} · {} · three swarms", problem.name, self.instances.origin(self.instance));
        let out = self.out.clone().unwrap_or_else(|| PathBuf::from(format!("{}_swarms.png", problem.name)));
        draw::draw_swarms(&title, &scenes, before + problem.task.scored_at(problem.ticks), &out)?;
        match self.json {
            true => self.report(subject, &[], &[&out]),
            false => say!("Drew {}", shown(&out)),
        }
    }

    /// Draws one episode as a figure or an animation.
    fn episode(&self, subject: &Subject) -> Result<()> {
        let Subject { problem, request, .. } = subject;
        let before = self.before(problem)?;
        let controlled = subject.controlled(request, before)?;
        if let Some(tick) = controlled.diverged {
            bail!("this episode diverged at tick {tick}; try another --instance or fewer --agents");
        }
        let mut files = Vec::new();
        if let Some(export) = &self.export {
            arrays::export(export, problem, &controlled)?;
            files.push(export.clone());
            if !self.json {
                say!("Wrote {}", shown(export))?;
            }
        }
        let free = subject.uncontrolled(request, before)?;
        let scores = [controlled.score, free.score];
        let failing = if request.fail > 0.0 { format!(" · {} fail (grey)", request.failed_agents()) } else { String::new() };
        // The figure of a shipped model says how to make it.
        let shipped = self.model.as_os_str() == problem.name.as_str();
        let made = if shipped { format!("{} show {}", program(), problem.name) } else { problem.name.clone() };
        let title = format!(
            "{made} · {} agents{failing} · {} · score {}, uncontrolled {}",
            request.agents,
            self.instances.origin(self.instance),
            swarms::two_digits(scores[0]),
            swarms::two_digits(scores[1])
        );
        let episode = episode(problem, title, controlled, &free)?;
        let out = self.out.clone().unwrap_or_else(|| PathBuf::from(format!("{}.png", problem.name)));
        let meter = OnceLock::new();
        draw::draw(&episode, &out, &|done, all| {
            meter.get_or_init(|| Meter::new(0.0, "the frames of an animation")).set(done as f64 / all as f64);
        })?;
        drop(meter);
        files.push(out.clone());
        match self.json {
            true => self.report(subject, &scores, &files.iter().map(PathBuf::as_path).collect::<Vec<_>>()),
            false => say!(
                "Drew {}: score {}, uncontrolled {}",
                shown(&out),
                swarms::two_digits(scores[0]),
                swarms::two_digits(scores[1])
            ),
        }
    }

    /// Ticks before control.
    fn before(&self, problem: &Problem) -> Result<usize> {
        let before = self.before.unwrap_or(if problem.task.plot_labels().has_target { 0 } else { problem.ticks / 4 });
        if before > 100 * problem.ticks {
            bail!("--before cannot be {before}; it must be at most a hundred episodes, {} ticks", 100 * problem.ticks);
        }
        Ok(before)
    }

    /// Prints the result as JSON; `scores` are those with and without control.
    fn report(&self, subject: &Subject, scores: &[f64], files: &[&Path]) -> Result<()> {
        let finite = |at: usize| scores.get(at).copied().filter(|score| score.is_finite());
        let files: Vec<_> = files.iter().map(|file| file.to_string_lossy()).collect();
        say!(
            "{}",
            serde_json::json!({
                "problem": subject.problem.name, "model": self.model.to_string_lossy(), "agents": subject.request.agents,
                "seed": subject.request.seed, "instance": self.instance, "score": finite(0), "uncontrolled": finite(1), "files": files,
            })
        )
    }
}
