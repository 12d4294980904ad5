//! A control problem.

use super::data::prepare;
use super::{cinoc, pairs, stream, told};
use crate::arrays::array;
use crate::fault::{engine, wrong};
use cinoc::internal::budget;
use cinoc::internal::random::{Rng, Split};
use cinoc::internal::sense::Patch;
use cinoc::problem::Preset;
use cinoc::settings::Overlay;
use cinoc::{Config, Real, Registry};
use numpy::{PyArray1, PyArrayDyn};
use pyo3::prelude::*;
use pyo3::types::{PyMapping, PyTuple};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A start and a target.
type Fields<'py> = (Bound<'py, PyArrayDyn<Real>>, Bound<'py, PyArrayDyn<Real>>);

/// A control problem: physics, swarm and task.
#[pyclass(frozen)]
#[derive(Clone)]
pub struct Problem {
    pub inner: Arc<cinoc::Problem>,
    pub settings: Arc<Config>,
}

/// The settings of a problem, or of a TOML file that names one; and the name of the preset, empty where a file chose.
pub fn config(name: &Path, preset: &str, set: &[String]) -> PyResult<(Config, String)> {
    let opened = preset.parse::<Preset>().and_then(|preset| {
        let changes = Overlay::from_pairs(set)?;
        Registry::builtin().open(name, preset, &changes)
    });
    let chosen = if Registry::is_file(name) { String::new() } else { preset.to_owned() };
    Ok((opened.map_err(told)?, chosen))
}

/// All settings from their text, as `Problem.config` gives it, with changes.
pub fn config_of(text: &str, set: &[String]) -> PyResult<Config> {
    let registry = Registry::builtin();
    let read = || registry.change(&registry.read(text, "the settings")?, &Overlay::from_pairs(set)?);
    read().map_err(told)
}

impl Problem {
    pub fn of(settings: Config, inner: Arc<cinoc::Problem>) -> Self {
        Self { inner, settings: Arc::new(settings) }
    }

    fn built(py: Python<'_>, settings: Config) -> PyResult<Self> {
        let inner = engine(py, || Registry::builtin().build(&settings))?.map_err(told)?;
        Ok(Self::of(settings, Arc::new(inner)))
    }

    /// The shape of `count` states.
    pub fn fields(&self, count: usize) -> Vec<usize> {
        std::iter::once(count).chain(self.inner.stepper.state_axes()).collect()
    }
}

#[pymethods]
impl Problem {
    #[new]
    #[pyo3(signature = (name, preset = "shipped", set = None))]
    fn new(py: Python<'_>, name: PathBuf, preset: &str, set: Option<&Bound<'_, PyMapping>>) -> PyResult<Self> {
        Self::built(py, config(&name, preset, &pairs(set)?)?.0)
    }

    /// A problem from the text of all its settings, with changes.
    #[staticmethod]
    #[pyo3(signature = (text, set = None))]
    fn from_text(py: Python<'_>, text: &str, set: Option<&Bound<'_, PyMapping>>) -> PyResult<Self> {
        Self::built(py, config_of(text, &pairs(set)?)?)
    }

    /// A problem from the text of a problem file, with changes; its data files are in the current folder.
    #[staticmethod]
    #[pyo3(signature = (text, set = None))]
    fn from_file_text(py: Python<'_>, text: &str, set: Option<&Bound<'_, PyMapping>>) -> PyResult<Self> {
        let set = pairs(set)?;
        let open = |changes| Registry::builtin().open_text(text, "problem.toml", Preset::Shipped, &changes);
        Self::built(py, Overlay::from_pairs(set).and_then(open).map_err(told)?)
    }

    #[getter]
    fn name(&self) -> &str {
        &self.inner.name
    }

    #[getter]
    fn agents(&self) -> usize {
        self.inner.agents
    }

    #[getter]
    fn ticks(&self) -> usize {
        self.inner.ticks
    }

    #[getter]
    fn tick_time(&self) -> f64 {
        self.inner.tick_time()
    }

    #[getter]
    fn nodes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.inner.stepper.grid().nodes)
    }

    /// Shape of a state: that of a field, behind the number of fields if there are several.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.inner.stepper.state_axes())
    }

    #[getter]
    fn lengths<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.inner.stepper.grid().lengths.iter().map(|&length| length as f64))
    }

    #[getter]
    fn periodic(&self) -> bool {
        self.inner.stepper.grid().is_periodic()
    }

    #[getter]
    fn moves(&self) -> bool {
        self.inner.swarm.moves()
    }

    #[getter]
    fn has_target(&self) -> bool {
        self.inner.task.plot_labels().has_target
    }

    /// Units of length and time, and names and units of fields and channels; empty where there are none.
    #[getter]
    fn units(&self) -> (String, String, Vec<[String; 2]>, Vec<[String; 2]>) {
        let units = self.inner.task.units();
        (units.length, units.time, units.fields, units.channels)
    }

    #[getter]
    fn action_width(&self) -> usize {
        self.inner.swarm.action_width()
    }

    /// Ticks from a decision to its effect.
    #[getter]
    fn delay(&self) -> usize {
        self.inner.swarm.disturbance().delay
    }

    /// The largest magnitude of each number of an action.
    #[getter]
    fn limits(&self) -> Vec<f64> {
        self.inner.swarm.limits().into_iter().map(|limit| limit as f64).collect()
    }

    /// Names of the terms of the cost.
    #[getter]
    fn terms(&self) -> Vec<&'static str> {
        self.inner.task.terms().to_vec()
    }

    /// Names of the measures; the first is the score.
    #[getter]
    fn measures(&self) -> Vec<&'static str> {
        self.inner.task.measures().to_vec()
    }

    /// The tick after which the score is known.
    #[getter]
    fn scored_at(&self) -> usize {
        self.inner.task.scored_at(self.inner.ticks)
    }

    /// The shape of one agent's view of the field.
    #[getter]
    fn view<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        match self.inner.swarm.features().patch {
            Patch::Line(count) => PyTuple::new(py, [count]),
            Patch::Image { height, width, channels } => PyTuple::new(py, [height, width, channels]),
        }
    }

    /// True if all agents of an instance share one view.
    #[getter]
    fn shared_view(&self) -> bool {
        self.inner.swarm.features().shared
    }

    /// Number of features besides the view: position and others.
    #[getter]
    fn position(&self) -> usize {
        self.inner.swarm.features().position
    }

    /// Every setting, as TOML.
    #[getter]
    fn config(&self) -> String {
        self.settings.to_toml()
    }

    /// Coordinates of the nodes along an axis.
    fn nodes_along<'py>(&self, py: Python<'py>, axis: usize) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let grid = self.inner.stepper.grid();
        if axis >= grid.dimensions() {
            return Err(wrong(format!("there is no axis {axis}; this problem has {}", grid.dimensions())));
        }
        Ok(PyArray1::from_iter(py, (0..grid.nodes[axis]).map(|i| i as f64 * grid.spacing(axis))))
    }

    /// Discs that agents keep out of, at a tick: x, y, radius.
    #[pyo3(signature = (tick = 0))]
    fn discs(&self, tick: usize) -> Vec<(f64, f64, f64)> {
        self.inner
            .task
            .obstacles(tick)
            .iter()
            .map(|disc| (disc.centre[0] as f64, disc.centre[1] as f64, disc.radius as f64))
            .collect()
    }

    /// Initial positions, [agents, d].
    fn places<'py>(&self, py: Python<'py>, agents: usize) -> PyResult<Bound<'py, PyArrayDyn<Real>>> {
        let d = self.inner.swarm.dimensions();
        budget::check(&format!("{agents} positions"), 64.0 * agents as f64).map_err(told)?;
        let places = engine(py, || self.inner.swarm.start(agents))?;
        Ok(array(py, places, &[agents, d]))
    }

    /// Start and target of an instance of the stream "train", "validation" or "test".
    #[pyo3(signature = (seed, index, stream = "test"))]
    fn draw<'py>(&self, py: Python<'py>, seed: u64, index: u64, stream: &str) -> PyResult<Fields<'py>> {
        let stream = self::stream(stream)?;
        prepare(py, &self.inner, &[Split::of(stream)], &[seed])?;
        let drawn = engine(py, || self.inner.task.sample(&mut Rng::new(seed, stream, index), Split::of(stream)))?;
        let shape = &self.fields(1)[1..];
        Ok((array(py, drawn.start, shape), array(py, drawn.target, shape)))
    }

    /// Weight of each term of the cost at a tick (from 1).
    fn weights(&self, tick: usize) -> PyResult<Vec<f64>> {
        let (task, ticks) = (&self.inner.task, self.inner.ticks);
        if !(1..=ticks).contains(&tick) {
            return Err(wrong(format!("there is no tick {tick}; ticks go from 1 to {ticks}")));
        }
        Ok((0..task.terms().len()).map(|term| task.weight(term, tick, ticks)).collect())
    }

    fn __repr__(&self) -> String {
        format!("<problem {}, {} agents, {} ticks>", self.inner.name, self.inner.agents, self.inner.ticks)
    }
}
