//! Searches for a few instances whose rollouts are computed together.

use super::{InitialGuess, Lbfgs, Objective, OptimumRecord, Search, State};
use cinoc::evaluate::Request;
use cinoc::internal::random::{Rng, Stream};
use cinoc::policy::Policy;
use cinoc::rollout::{Control, GradientTargets, InitialCondition, Rollout};
use cinoc::{Error, Problem, Real};
use cinoc_tape::Params;
use std::time::Instant;

/// Number of iterations after which only the best search for each instance continues, and its largest share of all
/// iterations.
const TRIAL: (usize, f64) = (100, 0.1);

/// Standard deviation of small random actions, in units of the limits.
const SMALL: f64 = 0.05;

/// One search for one instance.
struct Candidate {
    /// Index of the instance in the group.
    member: usize,
    from: InitialGuess,
    search: Lbfgs,
}

/// Returns the best result for each instance, or `None` if stopped. `progress` receives the share of the work that was
/// added.
pub fn search(
    problem: &Problem,
    policy: Option<(&dyn Policy, &Params)>,
    request: &Request,
    instances: &[usize],
    search: &Search,
    stop: &dyn Fn() -> bool,
    progress: &dyn Fn(f64),
) -> Result<Option<Vec<OptimumRecord>>, Error> {
    let since = Instant::now();
    let ticks = Objective::ticks_of(problem, search.goal);
    let starts = if policy.is_some() { 3 } else { 2 };
    let mut objective = Objective::new(problem, search.goal, ticks, request.agents, starts * instances.len())?;
    let beginnings: Vec<InitialCondition> = instances.iter().map(|&i| request.beginning(problem, i)).collect();
    objective.begin(beginnings.clone());
    let rules = search.rules(objective.unknowns());
    let zero = vec![0.0; objective.unknowns()];
    let uncontrolled = objective.measure(&vec![objective.actions(&zero); instances.len()]);
    let decided = policy.map(|(policy, params)| decided(problem, policy, params, request.agents, &beginnings, ticks));
    let by_policy = decided.as_ref().map(|actions| objective.measure(actions));
    let mut all: Vec<Candidate> = Vec::new();
    for (member, &instance) in instances.iter().enumerate() {
        let mut rng = Rng::new(request.seed, Stream::Search, instance as u64);
        let random = rng.normals(zero.len()).into_iter().map(|x| SMALL * x).collect();
        let warm = decided.as_ref().map(|actions| (InitialGuess::Policy, objective.unknowns_of(&actions[member])));
        for (from, x) in warm.into_iter().chain([(InitialGuess::Zero, zero.clone()), (InitialGuess::Random, random)]) {
            all.push(Candidate { member, from, search: Lbfgs::new(x, rules) });
        }
    }
    // A race: all searches run for a few iterations, then the best of each instance continues.
    let trial = ((TRIAL.1 * search.iterations as f64) as usize).clamp(1, TRIAL.0);
    let mut evaluations = vec![0; instances.len()];
    let whole = instances.len() as f64;
    let in_part = |iterations: usize| iterations as f64 / search.iterations as f64 / whole;
    if !run(&mut objective, &beginnings, &mut all, trial, stop, &|n| progress(in_part(n) / starts as f64)) {
        return Ok(None);
    }
    for candidate in &all {
        evaluations[candidate.member] += candidate.search.evaluations;
    }
    let mut best: Vec<Candidate> = Vec::new();
    for candidate in all {
        match best.last_mut().filter(|best| best.member == candidate.member) {
            Some(best) if candidate.search.value < best.search.value => *best = candidate,
            Some(_) => {}
            None => best.push(candidate),
        }
    }
    best.iter().for_each(|best| evaluations[best.member] -= best.search.evaluations);
    if !run(&mut objective, &beginnings, &mut best, search.iterations, stop, &|n| progress(in_part(n))) {
        return Ok(None);
    }
    let rest: usize = best.iter().map(|best| search.iterations - best.search.iterations).sum();
    progress(in_part(rest));
    objective.begin(beginnings);
    let actions: Vec<Vec<Real>> = best.iter().map(|best| objective.actions(&best.search.x)).collect();
    let values = objective.measure(&actions);
    let seconds = since.elapsed().as_secs_f64() / whole;
    let found = best.into_iter().zip(actions).zip(values).map(|((best, actions), optimum)| {
        let Candidate { member, from, search } = best;
        let mut found = OptimumRecord {
            instance: instances[member],
            uncontrolled: uncontrolled[member],
            policy: by_policy.as_ref().map(|all| all[member]),
            optimum,
            from,
            iterations: search.iterations,
            evaluations: evaluations[member] + search.evaluations,
            gradient_fall: (search.value - search.first.0).exp() * search.norm() / search.first.1,
            ended: search.state,
            converged: search.state == State::Flat,
            bound_unlimited_static: None,
            seconds,
            actions,
        };
        // Searches start slightly inside the limits, so a policy that is at them may have been better.
        let as_they_are = decided.as_ref().filter(|_| found.policy.is_some_and(|policy| policy < optimum));
        if let Some(decided) = as_they_are {
            (found.optimum, found.from) = (found.policy.unwrap_or(optimum), InitialGuess::Policy);
            found.actions.clone_from(&decided[member]);
        }
        found
    });
    Ok(Some(found.collect()))
}

/// Continues all searches until they end or reach the given number of iterations; returns false if stopped.
fn run(
    objective: &mut Objective,
    beginnings: &[InitialCondition],
    all: &mut [Candidate],
    iterations: usize,
    stop: &dyn Fn() -> bool,
    advance: &dyn Fn(usize),
) -> bool {
    let goes_on = |c: &Candidate| c.search.state == State::Searching && c.search.iterations < iterations;
    let mut size = 0;
    let mut gradients: Vec<Vec<f64>> = vec![Vec::new(); all.len()];
    let mut values = vec![0.0; all.len()];
    loop {
        if stop() {
            return false;
        }
        let mut active: Vec<&mut Candidate> = all.iter_mut().filter(|c| goes_on(c)).collect();
        if active.is_empty() {
            return true;
        }
        // Searches are only ever removed, so an equal number means the same ones.
        if active.len() != size {
            size = active.len();
            objective.begin(active.iter().map(|c| beginnings[c.member].clone()).collect());
        }
        let points: Vec<&[f64]> = active.iter().map(|c| c.search.trial()).collect();
        objective.evaluate(&points, &mut values[..size], &mut gradients[..size]);
        let mut made = 0;
        for ((candidate, value), gradient) in active.iter_mut().zip(&values).zip(&gradients) {
            let before = candidate.search.iterations;
            candidate.search.tell(*value, gradient);
            made += candidate.search.iterations - before;
        }
        advance(made);
    }
}

/// Returns the decisions of a policy in the first `ticks` ticks of each instance, `[ticks, agents, k]`; empty where it
/// would act only after them.
fn decided(
    problem: &Problem,
    policy: &dyn Policy,
    params: &Params,
    agents: usize,
    beginnings: &[InitialCondition],
    ticks: usize,
) -> Vec<Vec<Real>> {
    let each = agents * problem.swarm.action_width();
    let mut actions = vec![Vec::with_capacity(ticks * each); beginnings.len()];
    // The whole episode, for policies that observe the elapsed share of it.
    let mut rollout = Rollout::new(problem.ticks, 1, false, agents);
    beginnings.iter().for_each(|beginning| rollout.batch.begin(beginning));
    let (batch, delay, mut noise) = (rollout.batch.clone(), problem.swarm.disturbance().delay, Vec::new());
    rollout.forward(problem, Control::Policy(policy, params), GradientTargets::default(), &mut |scene| {
        // With delays or actuator noise the applied action differs from the decided one.
        if (1 + delay..=ticks).contains(&scene.tick) {
            noise.clear();
            batch.actuator_noise_at(problem, scene.tick - 1..scene.tick, &mut noise);
            noise.resize(scene.action.len(), 0.0);
            let decided = scene.action.chunks_exact(each).zip(noise.chunks_exact(each)).zip(&mut actions);
            decided.for_each(|((now, noise), all)| all.extend(now.iter().zip(noise).map(|(now, noise)| now - noise)));
        }
    });
    // A diverged episode stops early.
    actions.iter_mut().for_each(|actions| {
        actions.iter_mut().filter(|action| !action.is_finite()).for_each(|action| *action = 0.0);
        actions.resize(ticks * each, 0.0);
    });
    actions
}
