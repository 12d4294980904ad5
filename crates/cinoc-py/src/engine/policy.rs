//! A policy with its parameters.

use super::problem::Problem;
use super::{cinoc, pairs, told};
use crate::arrays::{array, finite, given, maybe, numbers, sizes};
use crate::fault::{engine, explained, wrong};
use cinoc::export::guard;
use cinoc::internal::library;
use cinoc::internal::random::{Rng, Stream};
use cinoc::internal::sense::Observation;
use cinoc::policy::{Context, PolicyInputs};
use cinoc::rollout::decide_once;
use cinoc::run::{Model, ModelKind};
use cinoc::settings::Overlay;
use cinoc::tape::{Arena, Params, Tape};
use cinoc::{Error, Real, Registry, evaluate};
use numpy::{PyArray1, PyArrayDyn};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMapping, PyTuple};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Instances that decide together, few enough that their numbers stay in the cache.
const TOGETHER: usize = 32;

thread_local! {
    /// Memory that decisions are computed in, reused.
    static ROOM: RefCell<Arena> = RefCell::default();
}

/// A policy with its parameters; shared, so that setting others does not disturb those who use it.
pub struct Net {
    pub name: String,
    pub model: Model,
    pub problem: Problem,
    pub policy: Arc<dyn cinoc::policy::Policy>,
}

impl Net {
    pub fn of(name: &str, model: Model) -> Result<Self, Error> {
        let (problem, policy) = model.build(&Registry::builtin())?;
        let problem = Problem::of(model.config.clone(), problem);
        Ok(Self { name: name.to_owned(), model, problem, policy: policy.into() })
    }

    /// The same with other parameters.
    pub fn with(&self, params: Params) -> Self {
        let Self { name, model, problem, policy } = self;
        let &Model { kind, seed, update, validation, .. } = model;
        let model = Model { config: model.config.clone(), kind, params, seed, update, validation };
        Self { name: name.clone(), model, problem: problem.clone(), policy: policy.clone() }
    }

    /// Its parameters with other numbers.
    pub fn params(&self, numbers: &[Real]) -> Params {
        let mut params = self.model.params.clone();
        params.fill(numbers);
        params
    }

    /// Refuses agents that see or act otherwise than those that it was made for.
    pub fn fits(&self, problem: &cinoc::Problem, agents: usize, instances: usize) -> PyResult<()> {
        if !self.problem.inner.plant().serves(&*self.policy, &problem.plant()) {
            let text = "this policy was made for agents that see or act otherwise, or for another grid; use its own problem, or one with the same [observe] and [swarm]";
            return Err(explained(text));
        }
        evaluate::check_policy(&*self.policy, agents, instances).map_err(told)
    }
}

/// A decision rule with its parameters.
#[pyclass(frozen)]
pub struct Policy(Mutex<Arc<Net>>);

impl Policy {
    pub fn of(net: Net) -> Self {
        Self(Mutex::new(Arc::new(net)))
    }

    pub fn net(&self) -> Arc<Net> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn declared(&self) -> PolicyInputs {
        self.net().policy.declared()
    }
}

#[pymethods]
impl Policy {
    /// A model that comes with the package, a file, or a run folder.
    #[staticmethod]
    fn load(py: Python<'_>, name: PathBuf) -> PyResult<Self> {
        let shown = name.to_string_lossy();
        let net = engine(py, || library::find(&Registry::builtin(), &name).and_then(|model| Net::of(&shown, model)))?;
        net.map(Self::of).map_err(told)
    }

    /// A model from the bytes of its file.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, file: &[u8]) -> PyResult<Self> {
        let net = engine(py, || {
            let model = Model::from_bytes(&Registry::builtin(), file, Path::new("these bytes"))?;
            Net::of("from bytes", model)
        })?;
        net.map(Self::of).map_err(told)
    }

    /// The bytes of a model file. Parameters are written in single precision.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let net = self.net();
        Ok(PyBytes::new(py, &engine(py, || net.model.bytes())?))
    }

    /// Untrained.
    #[staticmethod]
    #[pyo3(signature = (problem, seed = 0))]
    fn fresh(py: Python<'_>, problem: &Bound<'_, Problem>, seed: u64) -> PyResult<Self> {
        let problem = problem.get();
        let net = engine(py, || {
            let policy = Registry::builtin().build_policy(&problem.settings, &problem.inner)?;
            let params = policy.init(&mut Rng::new(seed, Stream::Init, 0));
            let config = (*problem.settings).clone();
            let model = Model { config, kind: ModelKind::Last, params, seed, update: 0, validation: None };
            Ok(Net { name: "untrained".into(), model, problem: problem.clone(), policy: policy.into() })
        })?;
        net.map(Self::of).map_err(told)
    }

    /// The same parameters for the problem with other settings.
    fn rebuild(&self, py: Python<'_>, set: &Bound<'_, PyMapping>) -> PyResult<Self> {
        let (net, set) = (self.net(), pairs(Some(set))?);
        let rebuilt = engine(py, || {
            let same = net.with(net.model.params.clone());
            let model = same.model.with(&Registry::builtin(), &Overlay::from_pairs(&set)?)?;
            Net::of(&net.name, model)
        })?;
        rebuilt.map(Self::of).map_err(told)
    }

    #[getter]
    fn problem(&self) -> Problem {
        self.net().problem.clone()
    }

    /// Numbers that each agent remembers.
    #[getter]
    fn memory(&self) -> usize {
        self.declared().memory
    }

    #[getter]
    fn noise(&self) -> usize {
        self.declared().noise
    }

    #[getter]
    fn clock(&self) -> bool {
        self.declared().clock
    }

    #[getter]
    fn everything(&self) -> bool {
        self.declared().everything
    }

    #[getter]
    fn fixed_agents(&self) -> Option<usize> {
        self.net().policy.fixed_agents()
    }

    /// Name and shape of each piece of the parameters.
    #[getter]
    fn shapes<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, Bound<'py, PyTuple>)>> {
        let net = self.net();
        net.model.params.iter().map(|(name, shape, _)| Ok((name.to_owned(), PyTuple::new(py, shape.sizes())?))).collect()
    }

    /// All parameters as one vector: the pieces one after the other.
    #[getter]
    fn get_params<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<Real>> {
        let params = &self.net().model.params;
        PyArray1::from_vec(py, params.dense(params.theta()))
    }

    #[setter]
    fn set_params(&self, params: &Bound<'_, PyAny>) -> PyResult<()> {
        let net = self.net();
        let given = given::<Real>("params", params, &[Some(net.model.params.count())])?;
        finite("params", numbers(&given))?;
        let net = net.with(net.params(numbers(&given)));
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(net);
        Ok(())
    }

    /// Actions within [-1, 1], the next memory and the valid observations, from observations as `Env.observe` gives them.
    ///
    /// A number of an observation that is not finite or beyond 1e6 in magnitude counts as missing and is replaced by that of `held`, the third
    /// result of the last call (zeros at first). The strength, the last number, is limited to [0, 1]; a missing one is 0. An inactive agent has
    /// the action 0 and the memory 0. The memory of an agent is reset where a number is not finite or beyond 1e6.
    #[pyo3(signature = (observation, memory = None, held = None))]
    fn act<'py>(
        &self,
        py: Python<'py>,
        observation: &Bound<'py, PyAny>,
        memory: Option<&Bound<'py, PyAny>>,
        held: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Decided<'py>> {
        let net = self.net();
        let (swarm, declared) = (&net.problem.inner.swarm, net.policy.declared());
        if declared.noise > 0 || declared.clock || declared.everything {
            return Err(explained(
                "this policy needs more than what agents observe; let it drive an environment with step_policy",
            ));
        }
        let features = swarm.features();
        let width = features.patch.count() + features.position + 1;
        let observation = given::<Real>("observation", observation, &[None, None, Some(width)])?;
        let [n, agents, _] = sizes(&observation);
        if n == 0 || agents == 0 {
            return Err(wrong("observation holds no agent"));
        }
        evaluate::check_policy(&*net.policy, agents, TOGETHER.min(n)).map_err(told)?;
        let memory = maybe::<Real>("memory", memory, &[n, agents, declared.memory].map(Some))?;
        let held = maybe::<Real>("held", held, &[n, agents, width].map(Some))?;
        let count = n * agents * width;
        let mut seen = held.map_or_else(|| vec![0.0; count], |held| numbers(&held).to_vec());
        guard_observations(numbers(&observation), &mut seen, width);
        let mut before = memory.map_or_else(|| vec![0.0; n * agents * declared.memory], |memory| numbers(&memory).to_vec());
        if declared.memory > 0 {
            before.chunks_exact_mut(declared.memory).for_each(guard::check_memory);
        }
        let (actions, after, seen) = engine(py, || {
            let mut found =
                (Vec::with_capacity(n * agents * swarm.action_width()), Vec::with_capacity(n * agents * declared.memory));
            for first in (0..n).step_by(TOGETHER) {
                let part = first * agents..(first + TOGETHER).min(n) * agents;
                let before = &before[part.start * declared.memory..part.end * declared.memory];
                net.decide(&seen[part.start * width..part.end * width], before, agents, &mut found);
            }
            (found.0, found.1, seen)
        })?;
        let after = (declared.memory > 0).then(|| array(py, after, &[n, agents, declared.memory]));
        Ok((array(py, actions, &[n, agents, swarm.action_width()]), after, array(py, seen, &[n, agents, width])))
    }

    /// Writes a model file. Parameters are written in single precision.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let net = self.net();
        engine(py, || net.model.write(&path))?.map_err(told)
    }

    fn __repr__(&self) -> String {
        let net = self.net();
        format!("<policy {} for {}, {} parameters>", net.name, net.problem.inner.name, net.model.params.count())
    }
}

/// Actions, the next memory, and the valid observations.
type Decided<'py> = (Bound<'py, PyArrayDyn<Real>>, Option<Bound<'py, PyArrayDyn<Real>>>, Bound<'py, PyArrayDyn<Real>>);

/// Replaces held observations by those that are valid; the strength, the last number of each, is limited instead.
fn guard_observations(observation: &[Real], held: &mut [Real], width: usize) {
    for (seen, held) in observation.chunks_exact(width).zip(held.chunks_exact_mut(width)) {
        // Not the range of the instruments: an observation has features that are none of their readings.
        guard::hold(seen, held, guard::READING_BOUND);
        held[width - 1] = guard::strength(seen[width - 1]);
    }
}

impl Net {
    /// Decides for a few instances: adds actions, relative to the limits, and the next memory.
    fn decide(&self, observation: &[Real], memory: &[Real], agents: usize, found: &mut (Vec<Real>, Vec<Real>)) {
        let (swarm, params, remembered) = (&self.problem.inner.swarm, &self.model.params, self.policy.declared().memory);
        let (features, limits) = (swarm.features(), swarm.limits());
        let (seen, known) = (features.patch.count(), features.position);
        let width = seen + known + 1;
        let n = observation.len() / width / agents;
        // Agents that share a view are all shown the same.
        let viewers = if features.shared { agents } else { 1 };
        let view: Vec<Real> = observation.chunks_exact(width).step_by(viewers).flat_map(|x| &x[..seen]).copied().collect();
        let position: Vec<Real> = observation.chunks_exact(width).flat_map(|x| &x[seen..seen + known]).copied().collect();
        let strength: Vec<Real> = observation.chunks_exact(width).map(|x| x[seen + known]).collect();
        ROOM.with_borrow_mut(|room| {
            let tape = Tape::new(std::mem::take(room), params.shared()).rematerialise(true);
            {
                let view =
                    if features.shared { tape.placeholder([n, seen], &view) } else { tape.placeholder([n, agents, seen], &view) };
                let shown = Observation::from_parts(&features, view, tape.placeholder([n, agents, known], &position));
                let memory = (remembered > 0).then(|| tape.placeholder([n, agents, remembered], memory));
                let (context, active) = (Context { memory, ..Context::default() }, tape.placeholder([n, agents], &strength));
                let limit = |raw| swarm.saturate(raw, active);
                let (action, memory) = decide_once(&*self.policy, &params.leaves(&tape, false), &shown, &context, active, limit);
                // A custom policy may compute NaN from finite numbers.
                let share = |(a, limit): (&Real, &Real)| if a.is_nan() { 0.0 } else { (a / limit).clamp(-1.0, 1.0) };
                action.read(|action| found.0.extend(action.iter().zip(limits.iter().cycle()).map(share)));
                if let Some(memory) = memory {
                    let each = |values: &[Real]| {
                        for memory in values.chunks_exact(remembered) {
                            let first = found.1.len();
                            found.1.extend_from_slice(memory);
                            guard::check_memory(&mut found.1[first..]);
                        }
                    };
                    memory.read(each);
                }
            }
            *room = tape.into_arena();
        });
    }
}
