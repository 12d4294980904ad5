//! A control problem.

use super::data::prepare;
use super::{cinoc, pairs, stream, told};
use crate::arrays::array;
use crate::fault::{engine, explained, wrong};
use cinoc::problem::Preset;
use cinoc::random::{Rng, Use};
use cinoc::sense::Patch;
use cinoc::settings::Overlay;
use cinoc::{Config, Error, Real, Registry, memory};
use numpy::{PyArray1, PyArrayDyn};
use pyo3::prelude::*;
use pyo3::types::{PyMapping, PyTuple};
use std::path::Path;
use std::sync::Arc;

/// A start and a target.
type Fields<'py> = (Bound<'py, PyArrayDyn<Real>>, Bound<'py, PyArrayDyn<Real>>);

/// A control problem: physics, agents and what is wanted.
#[pyclass(frozen)]
#[derive(Clone)]
pub struct Problem {
    pub inner: Arc<cinoc::Problem>,
    pub settings: Arc<Config>,
}

/// The settings of a problem, or of a TOML file that names one; and the name of the preset, empty where a file chose.
pub fn config(name: &str, preset: &str, set: &[String]) -> PyResult<(Config, String)> {
    let registry = Registry::builtin();
    let known = |preset: &str| match preset {
        "tuned" => Ok(Preset::Tuned),
        "paper" => Ok(Preset::Paper),
        _ => Err(explained(format!("there is no preset {preset:?}; choose one of: tuned, paper"))),
    };
    let (mut name, mut from, mut chosen) = (name.to_owned(), known(preset)?, preset.to_owned());
    let mut changes = Overlay::default();
    if name.ends_with(".toml") {
        let text = std::fs::read_to_string(&name).map_err(Error::file(Path::new(&name))).map_err(told)?;
        changes = Overlay::from_toml(&text, &name).map_err(told)?;
        let Some(problem) = changes.take("problem") else {
            return Err(explained(format!("{name} does not say which problem it is for; add a line like: problem = \"...\"")));
        };
        if let Some(preset) = changes.take("preset") {
            from = known(preset.as_str().unwrap_or_default())?;
        }
        (name, chosen) = (problem.as_str().unwrap_or_default().to_owned(), String::new());
    }
    set.iter().try_for_each(|pair| changes.set(pair)).map_err(told)?;
    Ok((registry.config(&name, from, &changes).map_err(told)?, chosen))
}

impl Problem {
    pub fn of(settings: Config, inner: Arc<cinoc::Problem>) -> Self {
        Self { inner, settings: Arc::new(settings) }
    }

    /// The shape of so many fields.
    pub fn fields(&self, count: usize) -> Vec<usize> {
        std::iter::once(count).chain(self.inner.stepper.grid().nodes.iter().copied()).collect()
    }
}

#[pymethods]
impl Problem {
    #[new]
    #[pyo3(signature = (name, preset = "tuned", set = None))]
    fn new(py: Python<'_>, name: &str, preset: &str, set: Option<&Bound<'_, PyMapping>>) -> PyResult<Self> {
        let (settings, _) = config(name, preset, &pairs(set)?)?;
        let inner = engine(py, || Registry::builtin().build(&settings))?.map_err(told)?;
        Ok(Self::of(settings, Arc::new(inner)))
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

    #[getter]
    fn lengths<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.inner.stepper.grid().lengths.iter().map(|&length| length as f64))
    }

    #[getter]
    fn periodic(&self) -> bool {
        self.inner.stepper.grid().periodic
    }

    #[getter]
    fn moves(&self) -> bool {
        self.inner.swarm.moves()
    }

    #[getter]
    fn has_target(&self) -> bool {
        self.inner.task.reading().has_target
    }

    #[getter]
    fn action_width(&self) -> usize {
        self.inner.swarm.action_width()
    }

    /// Ticks from a decision to what it does.
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

    /// Names of what is measured; the first is the score.
    #[getter]
    fn measures(&self) -> Vec<&'static str> {
        self.inner.task.measures().to_vec()
    }

    /// The tick after which the score is known.
    #[getter]
    fn scored_at(&self) -> usize {
        self.inner.task.scored_at(self.inner.ticks)
    }

    /// The shape of what one agent sees of the field.
    #[getter]
    fn view<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        match self.inner.swarm.features().patch {
            Patch::Line(count) => PyTuple::new(py, [count]),
            Patch::Image { height, width, channels } => PyTuple::new(py, [height, width, channels]),
        }
    }

    /// Whether all agents of an instance see the same.
    #[getter]
    fn shared_view(&self) -> bool {
        self.inner.swarm.features().shared
    }

    /// Features of an agent's place and of what else it knows.
    #[getter]
    fn position(&self) -> usize {
        self.inner.swarm.features().position
    }

    /// Every setting, as TOML.
    #[getter]
    fn config(&self) -> String {
        self.settings.to_toml()
    }

    /// Where the nodes are along an axis.
    fn nodes_along<'py>(&self, py: Python<'py>, axis: usize) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let grid = self.inner.stepper.grid();
        if axis >= grid.dimensions() {
            return Err(wrong(format!("there is no axis {axis}; this problem has {}", grid.dimensions())));
        }
        Ok(PyArray1::from_iter(py, (0..grid.nodes[axis]).map(|i| i as f64 * grid.spacing(axis))))
    }

    /// Discs that agents keep out of, after so many ticks: x, y, radius.
    #[pyo3(signature = (tick = 0))]
    fn discs(&self, tick: usize) -> Vec<(f64, f64, f64)> {
        self.inner
            .task
            .obstacles(tick)
            .iter()
            .map(|disc| (disc.centre[0] as f64, disc.centre[1] as f64, disc.radius as f64))
            .collect()
    }

    /// Where agents start, [agents, d].
    fn places<'py>(&self, py: Python<'py>, agents: usize) -> PyResult<Bound<'py, PyArrayDyn<Real>>> {
        let d = self.inner.swarm.dimensions();
        memory::afford(&format!("{agents} places"), 64.0 * agents as f64).map_err(told)?;
        let places = engine(py, || self.inner.swarm.start(agents))?;
        Ok(array(py, places, &[agents, d]))
    }

    /// Start and target of an instance of the stream "train", "validation" or "test".
    #[pyo3(signature = (seed, index, stream = "test"))]
    fn draw<'py>(&self, py: Python<'py>, seed: u64, index: u64, stream: &str) -> PyResult<Fields<'py>> {
        let stream = self::stream(stream)?;
        prepare(py, &self.inner, &[Use::of(stream)], &[seed])?;
        let drawn = engine(py, || self.inner.task.sample(&mut Rng::new(seed, stream, index), Use::of(stream)))?;
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
