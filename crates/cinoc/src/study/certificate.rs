//! `certificate`: how fast small disturbances grow near rest, predicted from the linearised closed loop and seen in runs.

use super::measure::Ready;
use super::{Bench, Case, Row, Scale, Study, Subject};
use crate::Error;
use crate::certificate::{Ring, lattice, simulate, whole};

pub const STUDY: Study = Study {
    name: "certificate",
    about: "How fast small disturbances grow near rest (below 0: the swarm is stable), predicted from one cell and seen in runs.",
    x: Scale::log("agents"),
    y: Scale::linear("growth per unit of time"),
    effort: false,
    cases,
    measure,
};

const PREDICTED: &str = "predicted";
const SEEN: &str = "seen in runs";
const INFINITE: &str = "predicted, infinite lattice";
const FREE: &str = "uncontrolled";

/// Ticks of the longest runs, on a line and in the plane.
const TICKS: [usize; 2] = [5000, 1000];

fn cases(subject: &Subject) -> Result<Vec<Case>, Error> {
    let grid = subject.problem.stepper.grid();
    // Of the problems with walls those whose rest is no field at all; discs and targets that move, and densities, have none.
    let judged = subject.registry.sweeps(subject.config.problem())?.certified;
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
    let (agents, d) = (request.agents, grid.dimensions());
    let (mut agents_seen, mut infinite) = (agents, None);
    let (predicted, uncontrolled) = match grid.periodic {
        true => {
            let volume: f64 = grid.lengths.iter().map(|length| *length as f64).product();
            let spacing = (volume / agents as f64).powf(1.0 / d as f64);
            let found = lattice(bench.registry, &model.config, &model.params, spacing)?;
            let ring = Ring::choose(bench.registry, &model.config, spacing)?;
            model.config = ring.config(bench.registry, &model.config)?;
            agents_seen = ring.agents;
            infinite = Some(found.growth.slow);
            (Some(found.ring(ring.length)?.slow), found.uncontrolled)
        }
        false => {
            let (_, policy) = model.build(bench.registry)?;
            let found = whole(&problem, &*policy, &model.params, agents)?;
            // Nothing is predicted of agents that do not come to rest.
            (found.still.then(|| found.moving.unwrap_or(found.growth.slow)), found.uncontrolled)
        }
    };
    let (_, policy) = model.build(bench.registry)?;
    let seen = simulate(bench.registry.build(&model.config)?, &*policy, &model.params, agents_seen, TICKS[d - 1])?;
    let row = |line: &str, value: f64| Row { line: line.into(), value, uncontrolled, ..Row::of(case, agents, 1) };
    let mut rows: Vec<Row> = predicted.map(|growth| row(PREDICTED, growth)).into_iter().collect();
    rows.extend([row(SEEN, seen.slow), row(FREE, uncontrolled)]);
    rows.extend(infinite.map(|growth| row(INFINITE, growth)));
    Ok(rows)
}
