//! An interactive page.

use super::{Subject, range};
use crate::draw;
use crate::page::{ENGINE, ENGINE_OF_FILES, Page};
use crate::progress::Meter;
use crate::stop;
use anyhow::{Result, bail};
use cinoc::internal::disk::read_up_to;
use cinoc::internal::shown;
use cinoc::internal::threads::Threads;
use cinoc::run::Model;
use cinoc::{Real, Registry};
use cinoc_lab::optimum::{self, Goal, Listen, Objective, OptimumRecord, Search};
use flate2::read::GzDecoder;
use serde_json::{Value, json};
use std::io::Read;
use std::path::Path;
use std::sync::Mutex;

/// Initial conditions that a page offers.
pub const STARTS: usize = 4;

/// The most bytes of an engine.
const LARGEST: u64 = 1 << 26;

/// The first bytes of WebAssembly, and of gzip.
const WASM: &[u8] = b"\0asm";
const GZIP: &[u8] = &[0x1f, 0x8b];

/// The contents of a page.
pub struct Contents<'a> {
    /// The problem, its policy, and the first instance.
    pub subject: &'a Subject,
    /// The engine: WebAssembly, packed or not.
    pub engine: Vec<u8>,
    /// Iterations of a search for the best actions of each start; 0: no search.
    pub iterations: usize,
}

/// The engine of a page: that of a file, or the built-in one if it has the problem and the policy.
pub fn engine(path: Option<&Path>, model: &Model) -> Result<Vec<u8>> {
    if let Some(path) = path {
        let bytes = read_up_to(path, LARGEST)?;
        let mut first = [0; WASM.len()];
        let unpacked = match bytes.starts_with(GZIP) {
            true => GzDecoder::new(&bytes[..]).read_exact(&mut first).is_ok() && first == *WASM,
            false => bytes.starts_with(WASM),
        };
        if !unpacked {
            bail!("{} is not WebAssembly; build an engine as docs/guide/deploying.md says, and pass its .wasm file", shown(path));
        }
        return Ok(bytes);
    }
    if let Err(error) = Model::from_bytes(&Registry::builtin(), &model.bytes(), Path::new("this model")) {
        bail!(
            "{}: the built-in engine of pages has the problems and policies that come with cinoc; build one that has yours as \
             docs/guide/deploying.md says, and pass it with --engine FILE.wasm",
            error.statement()
        );
    }
    Ok(if model.config.get("file").is_some() { ENGINE_OF_FILES } else { ENGINE }.to_vec())
}

impl Contents<'_> {
    /// The text of the page.
    pub fn html(self) -> Result<String> {
        let Subject { model, problem, policy, request, instance } = self.subject;
        if !(1..=2).contains(&problem.stepper.grid().dimensions()) {
            bail!("pages show fields on a line or in the plane; draw a picture or a film: -o {}.png or .gif", problem.name);
        }
        cinoc::evaluate::check_policy(&**policy, request.agents, 1)?;
        let which: Vec<usize> = (*instance..instance.saturating_add(self.count())).collect();
        let beginnings: Vec<_> = which.iter().map(|&i| request.beginning(problem, i)).collect();
        let starts = beginnings.iter().flat_map(|b| b.start.iter().chain(&b.target)).map(|&z| z as f32).collect();
        let (plan, plans) = if self.iterations > 0 { self.plans(&which)? } else { (Value::Null, Vec::new()) };
        let mut facts = json!({
            "agents": request.agents, "starts": which.len(), "plan": plan, "palette": draw::palette(),
            "version": env!("CARGO_PKG_VERSION"),
        });
        if let Some(fields) = problem.task.plot_fields() {
            facts["file"] = json!({
                "fields": fields.names, "ranges": range::of_fields(self.subject, fields)?, "solid": runs(&fields.solid),
                "sees_target": fields.sees_target,
            });
        }
        let title = format!("{} · CINOC", problem.name);
        Ok(Page { title, facts, engine: self.engine, model: model.bytes(), starts, plans }.html())
    }

    /// The number of starts: at most that of states, or of given fields.
    fn count(&self) -> usize {
        let Subject { problem, request, instance, .. } = self.subject;
        let own = request.starts.len().max(request.targets.len());
        let states = problem.task.attractor().map(|attractor| attractor.size(cinoc::internal::random::Split::Test));
        let most = states.filter(|_| request.starts.is_empty()).map_or(STARTS, |states| states.saturating_sub(*instance));
        if own > 0 { own.min(STARTS) } else { STARTS.min(most.max(1)) }
    }

    /// Searches for the best actions of each start: the facts the page needs of them, and the actions.
    fn plans(&self, which: &[usize]) -> Result<(Value, Vec<f32>)> {
        let Subject { model, problem, policy, request, .. } = self.subject;
        let goal = if problem.task.square_in_score(1, 1).is_some() { Goal::Score } else { Goal::Cost };
        let search = Search { iterations: self.iterations, ..Search::new(goal) };
        let listener = Listener::new(which.len())?;
        optimum::search(problem, Some((&**policy, &model.params)), request, which, &search, &Threads::new(0)?, &listener)?;
        let mut found = listener.end();
        if found.len() < which.len() {
            bail!("stopped; the same command with a smaller --optimum takes less time");
        }
        found.sort_by_key(|found| found.instance);
        let values: Vec<Value> = found
            .iter()
            .map(|f| json!({"uncontrolled": f.uncontrolled, "policy": f.policy, "optimum": f.optimum, "converged": f.converged}))
            .collect();
        let ticks = Objective::ticks_of(problem, goal);
        let plan = json!({"ticks": ticks, "agents": request.agents, "iterations": self.iterations, "found": values});
        Ok((plan, found.iter().flat_map(|found| found.actions.iter().map(|&a: &Real| a as f32)).collect()))
    }
}

/// Lengths of runs of equal marks, the first of which are false.
fn runs(marks: &[bool]) -> Vec<usize> {
    let (mut runs, mut last, mut length) = (Vec::new(), false, 0);
    for &mark in marks {
        if mark != last {
            runs.push(std::mem::take(&mut length));
            last = mark;
        }
        length += 1;
    }
    if length > 0 {
        runs.push(length);
    }
    runs
}

/// Shows the progress of searches, and keeps their results.
struct Listener {
    meter: Meter,
    found: Mutex<Vec<OptimumRecord>>,
}

impl Listener {
    fn new(count: usize) -> Result<Self> {
        stop::listen()?;
        Ok(Self { meter: Meter::new(0.0, &format!("{count} searches for the optimum")), found: Mutex::default() })
    }

    fn end(self) -> Vec<OptimumRecord> {
        self.meter.clear();
        self.found.into_inner().unwrap_or_else(|poison| poison.into_inner())
    }
}

impl Listen<OptimumRecord> for Listener {
    fn stop(&self) -> bool {
        stop::asked()
    }

    fn advance(&self, share: f64) {
        self.meter.add(share);
    }

    fn found(&self, found: Vec<OptimumRecord>) {
        self.found.lock().unwrap_or_else(|poison| poison.into_inner()).extend(found);
    }
}

#[cfg(test)]
mod tests {
    use super::runs;

    #[test]
    fn runs_begin_with_unmarked_ones() {
        assert_eq!(runs(&[]), [0; 0]);
        assert_eq!(runs(&[false, false, true]), [2, 1]);
        assert_eq!(runs(&[true, false, false]), [0, 1, 2]);
    }
}
