//! `stability`: growth rates of small disturbances near rest, predicted by linear stability analysis and measured in
//! runs.

use super::measure::Ready;
use super::{Bench, Case, Chart, IMMOBILE, Row, Scale, Study, Subject};
use crate::stability::{Rest, Ring, lattice, simulate, whole};
use cinoc::Error;
use cinoc::settings::Overlay;

pub const STUDY: Study = Study {
    name: "stability",
    about: "Growth rates of small disturbances near rest (below 0: stable), predicted from one cell and measured in runs.",
    x: Scale::log("agents"),
    y: Scale::linear("growth per unit of time"),
    chart: Chart::Lines,
    effort: false,
    cases,
    measure,
};

const PREDICTED: &str = "predicted";
const SEEN: &str = "seen in runs";
const MOVING: &str = "predicted, agents moving";
const INFINITE: &str = "predicted, infinite lattice";
const FREE: &str = "uncontrolled";

/// Ticks of the longest runs, on a line and in the plane.
const TICKS: [usize; 2] = [5000, 1000];

fn cases(subject: &Subject) -> Result<Vec<Case>, Error> {
    let grid = subject.problem.stepper.grid();
    // Of the problems with walls those with zero field at rest; moving discs or targets, and densities, have none.
    let judged = subject.registry.sweeps(subject.config)?.rests_at_zero;
    let times: &[f64] =
        if grid.dimensions() == 1 { &[0.5, 0.625, 0.75, 0.875, 1.0, 1.5, 2.0, 4.0] } else { &[0.64, 0.81, 0.9, 1.0, 1.44] };
    let case = |times: &f64| {
        let agents = subject.agents(*times);
        Case { line: PREDICTED.into(), x: agents as f64, agents: Some(agents), ..Case::default() }
    };
    Ok(if judged { times.iter().map(case).collect() } else { Vec::new() })
}

fn measure(bench: &Bench, case: &Case) -> Result<Vec<Row>, Error> {
    let Ready { mut model, problem, request } = bench.ready(case)?;
    let grid = problem.stepper.grid();
    let (mut agents, d) = (request.agents, grid.dimensions());
    let (predicted, uncontrolled, beside) = if grid.is_periodic() {
        let volume: f64 = grid.lengths.iter().map(|length| *length as f64).product();
        let spacing = (volume / agents as f64).powf(1.0 / d as f64);
        let found = lattice(bench.registry, &model.config, &model.params, spacing)?;
        let ring = Ring::choose(bench.registry, &model.config, spacing)?;
        (model.config, agents) = (ring.config(bench.registry, &model.config)?, ring.agents);
        (Some(found.ring(ring.length)?.slow), found.uncontrolled, Some((INFINITE, found.growth.slow)))
    } else {
        let found = whole(&problem, &*model.build(bench.registry)?.1, &model.params, agents)?;
        // Nothing is predicted for agents that do not come to rest.
        (found.still.then_some(found.growth.slow), found.uncontrolled, found.moving.map(|all| (MOVING, all)))
    };
    let mut values = Vec::new();
    if let Some(predicted) = predicted {
        let (problem, policy) = model.build(bench.registry)?;
        let rest = Rest::of(&problem, &*policy, &model.params, agents)?;
        // Field and memory are followed, with agents held at rest.
        let held = problem.swarm.moves().then_some(IMMOBILE);
        let run = model.with(bench.registry, &Overlay::from_pairs(held)?)?;
        let seen = simulate(bench.registry.build(&run.config)?, &*policy, &run.params, &rest, TICKS[d - 1])?;
        values.extend([(PREDICTED, predicted), (SEEN, seen.slow)]);
    }
    values.push((FREE, uncontrolled));
    values.extend(beside);
    let row = |(line, value): (&str, f64)| Row { line: line.into(), value, uncontrolled, ..Row::of(case, request.agents, 1) };
    Ok(values.into_iter().map(row).collect())
}
