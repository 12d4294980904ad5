//! A page to play with.

use crate::draw;
use crate::out::terminal;
use crate::page::{ENGINE, Page};
use crate::stop;
use anyhow::{Context, Result, bail};
use cinoc::evaluate::Request;
use cinoc::optimum::{self, Found, Goal, Listen, Objective, Search};
use cinoc::policy::Policy;
use cinoc::run::Model;
use cinoc::threads::Threads;
use cinoc::{Problem, Real, Registry};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Mutex;

/// Beginnings that a page offers.
const STARTS: usize = 4;

/// What a page is made of.
pub struct Question<'a> {
    pub model: &'a Model,
    pub problem: &'a Problem,
    pub policy: &'a dyn Policy,
    pub request: Request,
    /// The first instance.
    pub instance: usize,
    /// Iterations of a search for the best actions of each beginning; 0: no search.
    pub iterations: usize,
    /// Another engine than that of the program.
    pub engine: Option<&'a Path>,
}

impl Question<'_> {
    /// The text of the page.
    pub fn html(&self) -> Result<String> {
        let Self { model, problem, policy, request, .. } = self;
        if !(1..=2).contains(&problem.stepper.grid().dimensions()) {
            bail!("only fields on a line or in the plane can be played with; use --export");
        }
        cinoc::evaluate::decide(*policy, request.agents, 1)?;
        let which: Vec<usize> = (self.instance..self.instance + self.count()).collect();
        let beginnings: Vec<_> = which.iter().map(|&i| request.beginning(problem, i)).collect();
        let starts = beginnings.iter().flat_map(|b| b.start.iter().chain(&b.target)).map(|&z| z as f32).collect();
        let (plan, plans) = if self.iterations > 0 { self.plans(&which)? } else { (Value::Null, Vec::new()) };
        let facts = json!({
            "agents": request.agents, "starts": which.len(), "plan": plan, "palette": draw::palette(),
            "version": env!("CARGO_PKG_VERSION"),
        });
        let title = format!("{} · cinoc", problem.name);
        Ok(Page { title, facts, engine: self.engine()?, model: model.bytes(), starts, plans }.html())
    }

    /// As many beginnings as there are states for; of own fields, as many as there are.
    fn count(&self) -> usize {
        let own = self.request.starts.len().max(self.request.targets.len());
        let held_out = self.problem.task.attractor().map(|attractor| attractor.size(cinoc::random::Use::Test));
        let most =
            held_out.filter(|_| self.request.starts.is_empty()).map_or(STARTS, |states| states.saturating_sub(self.instance));
        if own > 0 { own.min(STARTS) } else { STARTS.min(most.max(1)) }
    }

    /// The engine: that of the program, if it knows the problem and the policy.
    fn engine(&self) -> Result<Vec<u8>> {
        if let Some(path) = self.engine {
            return std::fs::read(path)
                .with_context(|| format!("the engine {} cannot be read; check that it exists", path.display()));
        }
        if let Err(error) = Model::from_bytes(&Registry::builtin(), &self.model.bytes(), Path::new("this model")) {
            bail!(
                "{error:#}\nThe engine of pages knows the problems and policies that come with cinoc; build one that knows yours as docs/web.md says, and pass it with --engine FILE.wasm"
            );
        }
        Ok(ENGINE.to_vec())
    }

    /// Searches for the best actions of each beginning: what the page has to know of them, and the actions.
    fn plans(&self, which: &[usize]) -> Result<(Value, Vec<f32>)> {
        let Self { model, problem, policy, request, iterations, .. } = self;
        let goal = if problem.task.square_in_score(1, 1).is_some() { Goal::Score } else { Goal::Cost };
        let search = Search { iterations: *iterations, ..Search::new(goal) };
        let hearing = Hearing::new(which.len())?;
        optimum::search(problem, Some((*policy, &model.params)), request, which, &search, &Threads::new(0)?, &hearing)?;
        let mut found = hearing.end();
        if found.len() < which.len() {
            bail!("stopped; the same command with a smaller --optimum takes less time");
        }
        found.sort_by_key(|found| found.instance);
        let values: Vec<Value> = found
            .iter()
            .map(|f| json!({"uncontrolled": f.uncontrolled, "policy": f.policy, "optimum": f.optimum, "converged": f.converged}))
            .collect();
        let ticks = Objective::ticks_of(problem, goal);
        let plan = json!({"ticks": ticks, "agents": request.agents, "iterations": iterations, "found": values});
        Ok((plan, found.iter().flat_map(|found| found.actions.iter().map(|&a: &Real| a as f32)).collect()))
    }
}

/// Shows how far searches are, and keeps what they find.
struct Hearing {
    bar: ProgressBar,
    found: Mutex<(f64, Vec<Found>)>,
}

impl Hearing {
    fn new(count: usize) -> Result<Self> {
        stop::listen()?;
        let style =
            ProgressStyle::with_template("{bar:30} {percent} % of {msg}  {elapsed} gone, {eta} to go")?.progress_chars("━━╌");
        let bar = if terminal() { ProgressBar::new(1000).with_style(style) } else { ProgressBar::hidden() };
        Ok(Self { bar: bar.with_message(format!("{count} searches for the optimum")), found: Mutex::default() })
    }

    fn end(self) -> Vec<Found> {
        self.bar.finish_and_clear();
        self.found.into_inner().unwrap_or_else(|poison| poison.into_inner()).1
    }

    fn held(&self) -> std::sync::MutexGuard<'_, (f64, Vec<Found>)> {
        self.found.lock().unwrap_or_else(|poison| poison.into_inner())
    }
}

impl Listen<Found> for Hearing {
    fn stop(&self) -> bool {
        stop::asked()
    }

    fn advance(&self, share: f64) {
        let mut held = self.held();
        held.0 += share;
        self.bar.set_position((1000.0 * held.0) as u64);
    }

    fn found(&self, found: Vec<Found>) {
        self.held().1.extend(found);
    }
}
