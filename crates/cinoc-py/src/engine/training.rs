//! Training, in a run folder or in memory.

use super::data::prepare;
use super::policy::{Net, Policy};
use super::problem::{config, config_of};
use super::{cinoc, pairs, told};
use crate::fault::{alone, engine, explained};
use cinoc::internal::random::Split;
use cinoc::internal::threads::Threads;
use cinoc::run::{Model, ModelKind, Origin, Run, Saved};
use cinoc::settings::Overlay;
use cinoc::train::Trainer;
use cinoc::{Config, Error, Registry};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// A training run.
#[pyclass(frozen)]
pub struct Training(Mutex<Place>);

/// The place of a run: a folder or memory.
enum Place {
    Folder(Box<Run>),
    Memory(Box<Trainer>, Box<Config>),
}

impl Place {
    fn trainer(&self) -> &Trainer {
        match self {
            Self::Folder(run) => &run.trainer,
            Self::Memory(trainer, _) => trainer,
        }
    }

    fn model(&self, best: bool) -> Model {
        match (self, best) {
            (Self::Folder(run), true) => run.model(),
            (Self::Folder(run), false) => run.last(),
            (Self::Memory(trainer, config), best) => {
                let (kept, config, seed) = (trainer.best.as_ref().filter(|_| best), (**config).clone(), trainer.seed);
                let (kind, params) = if best { (ModelKind::Best, trainer.chosen()) } else { (ModelKind::Last, trainer.last()) };
                let update = kept.map_or(trainer.update, |kept| kept.update);
                Model { config, kind, params, seed, update, validation: kept.map(|kept| kept.score) }
            }
        }
    }
}

/// Resumes the run of a folder, if problem and seed are its own; with changes `set` to its settings, or else with those of `asked`.
fn resume(folder: &Path, asked: Config, set: Option<&Vec<String>>, seed: Option<u64>, threads: Threads) -> Result<Run, Error> {
    let registry = Registry::builtin();
    let saved = Saved::open(&registry, folder, threads)?;
    let other = |key: &str, was: String, asked: String| Error::ResumeOther { path: folder.into(), key: key.into(), was, asked };
    let (config, own) = (&saved.origin.config, saved.origin.seed);
    if config.problem() != asked.problem() {
        return Err(other("problem", config.problem().into(), asked.problem().into()));
    }
    if let Some(seed) = seed.filter(|seed| *seed != own) {
        return Err(other("seed", own.to_string(), seed.to_string()));
    }
    let config = match set {
        Some(set) => registry.change(config, &Overlay::from_pairs(set)?)?,
        None => asked,
    };
    saved.resume(&registry, config)
}

impl Training {
    /// Starts or resumes a run. `changes`: those of a resumed run that keeps its own settings otherwise.
    fn started(
        py: Python<'_>,
        origin: Origin,
        changes: Option<Vec<String>>,
        seed: Option<u64>,
        out: Option<PathBuf>,
        resume: bool,
        threads: usize,
    ) -> PyResult<Self> {
        if resume && out.is_none() {
            return Err(explained("there is no telling which run to resume; give its folder as out"));
        }
        let place = engine(py, || {
            let (registry, threads) = (Registry::builtin(), Threads::new(threads)?);
            Ok(match out {
                Some(folder) if resume => {
                    Place::Folder(Box::new(self::resume(&folder, origin.config, changes.as_ref(), seed, threads)?))
                }
                Some(folder) => Place::Folder(Box::new(Run::start(&registry, &folder, origin, threads)?)),
                None => {
                    let trainer = Trainer::new(registry.parts(&origin.config)?, origin.seed, threads)?;
                    Place::Memory(Box::new(trainer), Box::new(origin.config))
                }
            })
        })?;
        Ok(Self(Mutex::new(place.map_err(told)?)))
    }
}

#[pymethods]
impl Training {
    #[new]
    #[pyo3(signature = (name, preset = "tuned", set = None, seed = None, out = None, resume = false, threads = 0))]
    fn new(
        py: Python<'_>,
        name: PathBuf,
        preset: &str,
        set: Option<&Bound<'_, PyMapping>>,
        seed: Option<u64>,
        out: Option<PathBuf>,
        resume: bool,
        threads: usize,
    ) -> PyResult<Self> {
        let set = pairs(set)?;
        // A file has all settings of the run it was written for.
        let whole = !resume || Registry::is_file(&name);
        let (config, preset) = config(&name, preset, if whole { &set } else { &[] })?;
        let origin = Origin { config, preset, seed: seed.unwrap_or(0) };
        Self::started(py, origin, (!whole).then_some(set), seed, out, resume, threads)
    }

    /// A run with all settings from their text, as `Problem.config` gives it, with changes.
    #[staticmethod]
    #[pyo3(signature = (text, set = None, seed = None, out = None, resume = false, threads = 0))]
    fn from_text(
        py: Python<'_>,
        text: &str,
        set: Option<&Bound<'_, PyMapping>>,
        seed: Option<u64>,
        out: Option<PathBuf>,
        resume: bool,
        threads: usize,
    ) -> PyResult<Self> {
        let origin = Origin { config: config_of(text, &pairs(set)?)?, preset: String::new(), seed: seed.unwrap_or(0) };
        Self::started(py, origin, None, seed, out, resume, threads)
    }

    /// Instances of the validation after the next update; none if there is no validation.
    #[getter]
    fn validation(&self) -> PyResult<Option<usize>> {
        let place = alone(&self.0, "training")?;
        let trainer = place.trainer();
        let (next, train) = (trainer.update + 1, &trainer.train);
        let due = next.is_multiple_of(train.validate_every) || next == train.updates;
        Ok(due.then_some(train.validate_instances))
    }

    /// Updates in all.
    #[getter]
    fn updates(&self) -> PyResult<usize> {
        Ok(alone(&self.0, "training")?.trainer().train.updates)
    }

    /// Updates done so far.
    #[getter]
    fn update(&self) -> PyResult<usize> {
        Ok(alone(&self.0, "training")?.trainer().update)
    }

    #[getter]
    fn finished(&self) -> PyResult<bool> {
        Ok(alone(&self.0, "training")?.trainer().finished())
    }

    /// Notices about how the run was opened.
    #[getter]
    fn notices(&self) -> PyResult<Vec<String>> {
        Ok(match &*alone(&self.0, "training")? {
            Place::Folder(run) => run.notices.clone(),
            Place::Memory(..) => Vec::new(),
        })
    }

    /// One update.
    fn step<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut place = alone(&self.0, "training")?;
        if place.trainer().finished() {
            return Err(explained("all updates are done; raise train.updates to continue"));
        }
        let (problem, seed) = (place.trainer().problem.clone(), place.trainer().seed);
        prepare(py, &problem, &[Split::Training, Split::Validation], &[seed])?;
        let place = &mut *place;
        let progress = engine(py, || match place {
            Place::Folder(run) => run.step(),
            Place::Memory(trainer, _) => trainer.step(),
        })?;
        let progress = progress.map_err(told)?;
        let row = PyDict::new(py);
        row.set_item("update", progress.update)?;
        row.set_item("cost", progress.cost)?;
        for (term, value) in place.trainer().problem.task.terms().iter().zip(&progress.terms) {
            row.set_item(term, value)?;
        }
        row.set_item("gradient", progress.gradient)?;
        row.set_item("rate", progress.rate)?;
        row.set_item("validation", progress.validation.unwrap_or(f64::NAN))?;
        Ok(row)
    }

    /// Writes the best model, the last one and a checkpoint.
    fn save(&self, py: Python<'_>) -> PyResult<()> {
        let mut place = alone(&self.0, "training")?;
        match &mut *place {
            Place::Folder(run) => engine(py, || run.close())?.map_err(told),
            Place::Memory(..) => Err(explained("this run has no folder; save its policy instead, or train with out=FOLDER")),
        }
    }

    /// The best policy so far, or the current one.
    #[pyo3(signature = (best = true))]
    fn policy(&self, py: Python<'_>, best: bool) -> PyResult<Policy> {
        let place = alone(&self.0, "training")?;
        let name = match &*place {
            Place::Folder(run) => run.folder.to_string_lossy().into_owned(),
            Place::Memory(..) => "trained".into(),
        };
        let model = place.model(best);
        drop(place);
        engine(py, || Net::of(&name, model))?.map(Policy::of).map_err(told)
    }
}
