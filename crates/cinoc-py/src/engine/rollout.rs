//! Ticks with their backward sweep.

use super::policy::{Net, Policy};
use super::problem::Problem;
use super::{cinoc, told};
use crate::arrays::{array, finite, given, maybe, numbers, sizes};
use crate::fault::{alone, engine, explained, wrong};
use cinoc::Real;
use cinoc::internal::budget;
use cinoc::internal::threads::Threads;
use cinoc::rollout::{Control, GradientTargets, Loss, Outcome, Share, TickCotangents};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// Instances rolled out together: many share the cost of an operation, few stay in the cache.
const TOGETHER: usize = 8;

/// Bytes of recorded values beyond which ticks are computed again in the backward sweep.
const KEPT: usize = 1 << 30;

/// Ticks with their backward sweep.
#[pyclass(frozen)]
pub struct Rollout {
    sizes: Sizes,
    fields: Vec<usize>,
    #[pyo3(get)]
    z: Py<PyAny>,
    #[pyo3(get)]
    xi: Py<PyAny>,
    #[pyo3(get)]
    action: Py<PyAny>,
    #[pyo3(get)]
    cost: Py<PyAny>,
    #[pyo3(get)]
    memory: Py<PyAny>,
    #[pyo3(get)]
    diverged: bool,
    gradient: bool,
    state: Mutex<State>,
}

struct State {
    problem: Arc<cinoc::Problem>,
    net: Option<Arc<Net>>,
    parts: Vec<Part>,
    threads: Threads,
}

/// Sizes of all arrays.
#[derive(Clone, Copy)]
struct Sizes {
    n: usize,
    ticks: usize,
    agents: usize,
    nodes: usize,
    d: usize,
    k: usize,
    h: usize,
}

impl Sizes {
    /// Numbers of one instance in a field, in positions, in an action, in memory.
    fn each(self) -> [usize; 4] {
        [self.nodes, self.agents * self.d, self.agents * self.k, self.agents * self.h]
    }
}

/// Some instances that are computed together.
struct Part {
    rollout: cinoc::rollout::Rollout,
    range: Range<usize>,
    actions: Vec<Real>,
    finished: bool,
    /// The trajectory, one tick after the other.
    path: [Vec<Real>; 3],
}

/// Inputs that all parts share.
#[derive(Clone, Copy)]
struct Givens<'a> {
    sizes: Sizes,
    problem: &'a cinoc::Problem,
    net: Option<&'a Net>,
    start: &'a [Real],
    target: &'a [Real],
    places: &'a [Real],
    actions: Option<&'a [Real]>,
    previous: Option<&'a [Real]>,
    memory: Option<&'a [Real]>,
    deaths: &'a [Vec<(usize, usize)>],
    first: usize,
    wanted: GradientTargets,
}

fn control<'a>(net: Option<&'a Net>, actions: &'a [Real]) -> Control<'a> {
    net.map_or(Control::Actions(actions), |net| Control::Policy(&*net.policy, &net.model.params))
}

/// The part of `x` that belongs to some instances, where each has `each` numbers.
fn part(x: &[Real], each: usize, range: &Range<usize>) -> Vec<Real> {
    x[range.start * each..range.end * each].to_vec()
}

impl Givens<'_> {
    /// Computes some instances; those of a batch in which one diverged are computed again, each separately, so that none depends on others.
    fn compute(&self, range: Range<usize>, parts: usize) -> Vec<Part> {
        let whole = self.part(range.clone(), parts);
        if whole.finished || range.len() == 1 {
            return vec![whole];
        }
        range.map(|i| self.part(i..i + 1, parts)).collect()
    }

    fn part(&self, range: Range<usize>, parts: usize) -> Part {
        let Sizes { ticks, .. } = self.sizes;
        let mut rollout = self.empty(ticks, true, &range);
        if self.wanted.any() && ticks > 1 {
            // One tick tells how much memory all take.
            let mut probe = self.empty(1, true, &range);
            let few = self.some_actions(&range, 1);
            probe.forward(self.problem, control(self.net, &few), self.wanted, &mut |_| {});
            if probe.bytes() * ticks * parts > KEPT {
                rollout = self.empty(ticks, false, &range);
            }
        }
        let actions = self.some_actions(&range, ticks);
        let mut path: [Vec<Real>; 3] = Default::default();
        let mut watch = |scene: &cinoc::rollout::Scene| {
            path.iter_mut().zip([scene.z, scene.xi, scene.action]).for_each(|(to, from)| to.extend_from_slice(from));
        };
        let outcome = rollout.forward(self.problem, control(self.net, &actions), self.wanted, &mut watch).outcome;
        Part { rollout, range, actions, finished: outcome == Outcome::Finished, path }
    }

    /// Episodes that have not begun.
    fn empty(&self, ticks: usize, keep: bool, range: &Range<usize>) -> cinoc::rollout::Rollout {
        let ([nodes, places, actions, remembered], of) = (self.sizes.each(), self.problem.ticks);
        let mut rollout = cinoc::rollout::Rollout::new(ticks, 1, keep, self.sizes.agents).part(self.first, of);
        for i in range.clone() {
            let [start, target] = [self.start, self.target].map(|x| &x[i * nodes..][..nodes]);
            rollout.batch.push(start, target, &self.places[i * places..][..places]);
            rollout.batch.seed(i as u64);
            let deaths = self.deaths.get(i).into_iter().flatten();
            deaths.for_each(|&(tick, agent)| rollout.batch.fail_agent(agent, tick));
        }
        rollout.batch.previous = self.previous.map_or_else(Vec::new, |x| part(x, actions, range));
        rollout.batch.memory = self.memory.map_or_else(Vec::new, |x| part(x, remembered, range));
        rollout
    }

    /// Given actions of some instances in the first ticks.
    fn some_actions(&self, range: &Range<usize>, ticks: usize) -> Vec<Real> {
        let (each, all) = (self.sizes.each()[2], self.actions.unwrap_or_default());
        if all.is_empty() {
            return Vec::new();
        }
        all.chunks_exact(self.sizes.n * each).take(ticks).flat_map(|tick| part(tick, each, range)).collect()
    }
}

/// Takes what parts hold, tick by tick, into one array over all instances; what was never computed is NaN.
fn gathered(parts: &mut [Part], which: usize, ticks: usize, n: usize, each: usize) -> Vec<Real> {
    if let [Part { path, finished: true, .. }] = parts {
        return std::mem::take(&mut path[which]);
    }
    let mut all = vec![Real::NAN; ticks * n * each];
    for Part { range, path, .. } in parts {
        for (tick, from) in path[which].chunks_exact(range.len() * each).enumerate() {
            all[(tick * n + range.start) * each..][..from.len()].copy_from_slice(from);
        }
        path[which] = Vec::new();
    }
    all
}

#[pymethods]
impl Rollout {
    #[new]
    #[pyo3(signature = (problem, start, target, places, ticks, actions = None, policy = None, params = None, previous = None, memory = None,
        deaths = None, first = 0, gradient = true, threads = 1))]
    fn new(
        py: Python<'_>,
        problem: &Bound<'_, Problem>,
        start: &Bound<'_, PyAny>,
        target: &Bound<'_, PyAny>,
        places: &Bound<'_, PyAny>,
        ticks: usize,
        actions: Option<&Bound<'_, PyAny>>,
        policy: Option<&Bound<'_, Policy>>,
        params: Option<&Bound<'_, PyAny>>,
        previous: Option<&Bound<'_, PyAny>>,
        memory: Option<&Bound<'_, PyAny>>,
        deaths: Option<Vec<Vec<(usize, usize)>>>,
        first: usize,
        gradient: bool,
        threads: usize,
    ) -> PyResult<Self> {
        let outer = problem.get();
        let problem = outer.inner.clone();
        if actions.is_some() == policy.is_some() {
            return Err(wrong("give either actions or a policy"));
        }
        if params.is_some() && policy.is_none() {
            return Err(wrong("params belong to a policy; give it too"));
        }
        if ticks == 0 || first.saturating_add(ticks) > problem.ticks {
            let text = format!("ticks {first} to {} do not lie in an episode of {}", first.saturating_add(ticks), problem.ticks);
            return Err(wrong(format!("{text}; choose fewer (1 or more), or a problem with a larger physics.ticks")));
        }
        if first > 0 && problem.swarm.disturbance().delay > 0 {
            return Err(wrong(
                "first is above 0, but with swarm.delay an episode is computed from its start: what is pending would be lost",
            ));
        }
        let (d, k) = (problem.swarm.dimensions(), problem.swarm.action_width());
        let places = given::<Real>("places", places, &[None, None, Some(d)])?;
        let [n, agents, _] = sizes(&places);
        if n == 0 || agents == 0 {
            return Err(wrong("places holds no agent"));
        }
        let mut net = policy.map(|policy| policy.get().net());
        if let Some(own) = &net {
            own.fits(&problem, agents, TOGETHER.min(n))?;
            if let Some(params) = maybe::<Real>("params", params, &[Some(own.model.params.count())])? {
                finite("params", numbers(&params))?;
                net = Some(Arc::new(own.with(own.params(numbers(&params)))));
            }
        }
        let h = net.as_ref().map_or(0, |net| net.policy.declared().memory);
        let sizes = Sizes { n, ticks, agents, nodes: problem.stepper.state_count(), d, k, h };
        let (fields, each) = (outer.fields(n), [n, agents, k].map(Some));
        let shape: Vec<_> = fields.iter().copied().map(Some).collect();
        let start = given::<Real>("start", start, &shape)?;
        let target = given::<Real>("target", target, &shape)?;
        let actions = maybe::<Real>("actions", actions, &[ticks, n, agents, k].map(Some))?;
        let previous = maybe::<Real>("previous", previous, &each)?;
        let memory = maybe::<Real>("memory", memory, &[n, agents, h].map(Some))?;
        for (what, array) in [("start", Some(&start)), ("target", Some(&target)), ("places", Some(&places))].into_iter().chain([
            ("actions", actions.as_ref()),
            ("previous", previous.as_ref()),
            ("memory", memory.as_ref()),
        ]) {
            array.map_or(Ok(()), |array| finite(what, numbers(array)))?;
        }
        let deaths = deaths.unwrap_or_default();
        if !deaths.is_empty() && deaths.len() != n {
            return Err(wrong(format!("deaths has {} entries, not one for each of {n} instances", deaths.len())));
        }
        if let Some((_, agent)) = deaths.iter().flatten().find(|(_, agent)| *agent >= agents) {
            return Err(wrong(format!("agent {agent} cannot fail; agents go from 0 to {}", agents - 1)));
        }
        let wanted = match (gradient, &net) {
            (false, _) => GradientTargets::default(),
            (true, Some(_)) => GradientTargets { actions: false, ..GradientTargets::ALL },
            (true, None) => GradientTargets { params: false, ..GradientTargets::ALL },
        };
        // Two copies of the trajectory, and the states that the engine keeps.
        let path = 3.0 * (ticks + 1) as f64 * n as f64 * sizes.each().iter().sum::<usize>() as f64;
        budget::check(&format!("{ticks} ticks of {n} instances"), size_of::<Real>() as f64 * path).map_err(told)?;
        let givens = Givens {
            sizes,
            problem: &problem,
            net: net.as_deref(),
            start: numbers(&start),
            target: numbers(&target),
            places: numbers(&places),
            actions: actions.as_ref().map(|x| numbers(x)),
            previous: previous.as_ref().map(|x| numbers(x)),
            memory: memory.as_ref().map(|x| numbers(x)).filter(|x| !x.is_empty()),
            deaths: &deaths,
            first,
            wanted,
        };
        let count = n.div_ceil(TOGETHER);
        let threads = Threads::new(if count == 1 { 1 } else { threads }).map_err(told)?;
        let (parts, [z, xi, action], cost, remembered) = engine(py, || {
            let each = threads.map(count, |s| givens.compute(s * TOGETHER..((s + 1) * TOGETHER).min(n), count));
            let mut parts: Vec<Part> = each.into_iter().flatten().collect();
            let [field, position, push, remembers] = sizes.each();
            let path = [(0, ticks + 1, field), (1, ticks + 1, position), (2, ticks, push)]
                .map(|(which, ticks, each)| gathered(&mut parts, which, ticks, n, each));
            let (mut cost, mut remembered) = (vec![0.0; n], vec![Real::NAN; n * remembers]);
            for Part { rollout, range, finished, .. } in &parts {
                for (i, cost) in cost[range.clone()].iter_mut().enumerate() {
                    *cost = rollout.costs.chunks_exact(range.len()).map(|term| term[i]).sum();
                }
                if *finished {
                    remembered[range.start * remembers..range.end * remembers].copy_from_slice(rollout.remembered());
                }
            }
            (parts, path, cost, remembered)
        })?;
        let in_time =
            |ticks: usize, shape: &[usize]| -> Vec<usize> { std::iter::once(ticks).chain(shape.iter().copied()).collect() };
        Ok(Self {
            sizes,
            z: array(py, z, &in_time(ticks + 1, &fields)).into_any().unbind(),
            xi: array(py, xi, &[ticks + 1, n, agents, d]).into_any().unbind(),
            action: array(py, action, &[ticks, n, agents, k]).into_any().unbind(),
            cost: array(py, cost, &[n]).into_any().unbind(),
            memory: array(py, remembered, &[n, agents, h]).into_any().unbind(),
            diverged: parts.iter().any(|part| !part.finished),
            fields,
            gradient,
            state: Mutex::new(State { problem, net, parts, threads }),
        })
    }

    /// Cotangents of what was given, from those of the cost of each instance and of the trajectory.
    #[pyo3(signature = (cost = None, z = None, xi = None, action = None))]
    fn backward<'py>(
        &self,
        py: Python<'py>,
        cost: Option<&Bound<'py, PyAny>>,
        z: Option<&Bound<'py, PyAny>>,
        xi: Option<&Bound<'py, PyAny>>,
        action: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        if !self.gradient {
            return Err(explained("this rollout was made without a gradient; make it with gradient=True"));
        }
        let Sizes { n, ticks, agents, d, k, h, .. } = self.sizes;
        let in_time: Vec<_> = std::iter::once(ticks + 1).chain(self.fields.iter().copied()).map(Some).collect();
        let cost: Option<Vec<f64>> = match cost {
            None => None,
            // Costs are in double precision whatever the fields are in; a cotangent may come in either.
            Some(cost) => Some(match given::<f64>("cost", cost, &[Some(n)]) {
                Ok(cost) => numbers(&cost).to_vec(),
                Err(error) => match given::<f32>("cost", cost, &[Some(n)]) {
                    Ok(cost) => numbers(&cost).iter().map(|x| *x as f64).collect(),
                    Err(_) => return Err(error),
                },
            }),
        };
        let z = maybe::<Real>("z", z, &in_time)?;
        let xi = maybe::<Real>("xi", xi, &[ticks + 1, n, agents, d].map(Some))?;
        let action = maybe::<Real>("action", action, &[ticks, n, agents, k].map(Some))?;
        let bars = [z.as_ref(), xi.as_ref(), action.as_ref()].map(|x| x.map(|x| numbers(x)));
        let mut state = alone(&self.state, "rollout")?;
        let State { problem, net, parts, threads } = &mut *state;
        let (problem, net, sizes) = (&**problem, net.as_deref(), self.sizes);
        let found = engine(py, || {
            let swept: Vec<Vec<Vec<Real>>> = {
                let found: Vec<Mutex<Vec<Vec<Real>>>> = parts.iter().map(|_| Mutex::default()).collect();
                threads.for_each(parts, |s, part| {
                    let swept = part.sweep(problem, net, sizes, cost.as_deref(), bars);
                    *found[s].lock().expect("only this thread locks it") = swept;
                });
                found.into_iter().map(|swept| swept.into_inner().expect("its thread unlocked it")).collect()
            };
            let [field, position, push, remembers] = sizes.each();
            let params = net.map_or(0, |net| net.model.params.count());
            let given = if net.is_some() { 0 } else { ticks * n * push };
            let mut all = [n * field, n * position, n * push, n * remembers, given, params].map(|count| vec![0.0; count]);
            for (Part { range, .. }, swept) in parts.iter().zip(swept) {
                for (which, each) in [field, position, push, remembers].into_iter().enumerate() {
                    all[which][range.start * each..range.end * each].copy_from_slice(&swept[which]);
                }
                for (tick, from) in swept[4].chunks_exact(range.len() * push).enumerate() {
                    all[4][(tick * n + range.start) * push..][..from.len()].copy_from_slice(from);
                }
                all[5].iter_mut().zip(&swept[5]).for_each(|(sum, from)| *sum += from);
            }
            all
        })?;
        let [start, places, previous, memory, actions, params] = found;
        let row = PyDict::new(py);
        row.set_item("start", array(py, start, &self.fields))?;
        row.set_item("places", array(py, places, &[n, agents, d]))?;
        row.set_item("previous", array(py, previous, &[n, agents, k]))?;
        if net.is_some() {
            row.set_item("memory", array(py, memory, &[n, agents, h]))?;
            let count = params.len();
            row.set_item("params", array(py, params, &[count]))?;
        } else {
            row.set_item("actions", array(py, actions, &[ticks, n, agents, k]))?;
        }
        Ok(row)
    }
}

impl Part {
    /// By start, places, previous action, memory, given actions and parameters; NaN where a number was no longer finite.
    fn sweep(
        &mut self,
        problem: &cinoc::Problem,
        net: Option<&Net>,
        sizes: Sizes,
        cost: Option<&[f64]>,
        bars: [Option<&[Real]>; 3],
    ) -> Vec<Vec<Real>> {
        let (each, n, range) = (sizes.each(), sizes.n, self.range.clone());
        let size = range.len();
        if !self.finished {
            let params = net.map_or(0, |net| net.model.params.count());
            let given = if net.is_some() { 0 } else { sizes.ticks * size * each[2] };
            let counts = [size * each[0], size * each[1], size * each[2], size * each[3], given, params];
            return counts.map(|count| vec![Real::NAN; count]).to_vec();
        }
        // The cotangents of these instances at a tick.
        let at = |which: usize, tick: usize| {
            let each = each[which];
            bars[which].map(|bar| &bar[(tick * n + range.start) * each..][..size * each])
        };
        let mut own = |bars: &mut TickCotangents| {
            for (which, to) in [&mut *bars.z, &mut *bars.xi, &mut *bars.action].into_iter().enumerate() {
                // Actions are of ticks, states lie between them.
                let tick = if which == 2 { bars.tick - 1 } else { bars.tick };
                if let Some(from) = at(which, tick) {
                    to.copy_from_slice(from);
                }
            }
        };
        let share = cost.map_or(Share::Same(0.0), |cost| Share::Each(&cost[range.clone()]));
        let own: Option<&mut dyn FnMut(&mut TickCotangents)> =
            if bars.iter().any(Option::is_some) { Some(&mut own) } else { None };
        self.rollout.clear_gradient();
        let found = self.rollout.sweep(problem, control(net, &self.actions), Loss { cost: share, own });
        let params = net.map_or_else(Vec::new, |net| net.model.params.dense(found.params));
        let mut swept = vec![
            found.start.to_vec(),
            found.positions.to_vec(),
            found.previous.to_vec(),
            found.memory.to_vec(),
            if net.is_some() { Vec::new() } else { found.actions.to_vec() },
            params,
        ];
        for which in 0..2 {
            if let Some(from) = at(which, 0) {
                swept[which].iter_mut().zip(from).for_each(|(to, from)| *to += from);
            }
        }
        swept
    }
}
