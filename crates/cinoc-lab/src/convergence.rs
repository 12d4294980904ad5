//! Observed orders of a problem file: how its field changes with the number of cells and of steps.

use cinoc::internal::random::{Rng, Split, Stream};
use cinoc::rollout::{Control, GradientTargets, Rollout};
use cinoc::settings::Overlay;
use cinoc::task::Instance;
use cinoc::{Config, Error, Problem, Real, Registry};

/// Differences of the field after a few ticks between three refinements, relative to its change since the start.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// The refinements.
    pub sizes: [Vec<usize>; 3],
    /// Differences between the first and the second, and the second and the third.
    pub differences: [f64; 2],
}

impl Observed {
    /// Observed order: 2 if the difference falls to a quarter when the size is doubled.
    pub fn order(&self) -> f64 {
        (self.differences[0] / self.differences[1]).log2()
    }

    /// Returns true if the differences are above rounding, so that they tell an order.
    pub fn is_resolved(&self) -> bool {
        self.differences[1] > if cfg!(double) { 1e-9 } else { 3e-5 }
    }
}

/// Observed orders in cells and in steps, after `ticks` ticks.
#[derive(Clone, Debug, PartialEq)]
pub struct Convergence {
    /// Ticks of the comparison.
    pub ticks: usize,
    /// Refinement of the cells.
    pub cells: Observed,
    /// Refinement of the steps.
    pub steps: Observed,
}

/// Ticks of a comparison.
const TICKS: usize = 8;

/// Share of the largest push in a comparison.
const PUSH: Real = 0.2;

/// Compares a problem file with half and twice its cells, and with two and four times its steps, from the same start
/// under the same pushes. `None` for other problems and for cells that cannot be halved.
pub fn convergence(registry: &Registry, config: &Config) -> Result<Option<Convergence>, Error> {
    let Some(cells) = config.get("physics.cells").and_then(|cells| cells.as_array()) else { return Ok(None) };
    let cells: Vec<usize> = cells.iter().filter_map(|n| n.as_integer()).map(|n| n as usize).collect();
    if cells.iter().any(|n| n % 2 > 0 || *n < 8) {
        return Ok(None);
    }
    let double: Vec<usize> = cells.iter().map(|n| 2 * n).collect();
    let with = |cells: &[usize], substeps: usize| {
        let changes = [format!("physics.cells={cells:?}"), format!("physics.substeps={substeps}")];
        registry.build(&registry.change(config, &Overlay::from_pairs(&changes)?)?)
    };
    let fine = with(&double, 0)?;
    let steps = fine.stepper.substeps();
    let Instance { start, target } = fine.task.sample(&mut Rng::new(0, Stream::Validate, 0), Split::Validation);
    let (finest, periodic) = (&fine.stepper.grid().nodes, &fine.stepper.grid().periodic);
    let [middle, coarse] = [1, 2].map(|times| {
        let mut all = [start.clone(), target.clone()];
        let mut nodes = finest.clone();
        for _ in 0..times {
            all = all.map(|field| halved(&field, &nodes, periodic));
            nodes.iter_mut().for_each(|n| *n /= 2);
        }
        all
    });
    let half: Vec<usize> = cells.iter().map(|n| n / 2).collect();
    let ticks = fine.ticks.min(TICKS);
    let fields = [
        after(&with(&half, steps)?, &coarse, ticks),
        after(&with(&cells, steps)?, &middle, ticks),
        after(&fine, &[start, target], ticks),
    ];
    let change = distance(&fields[1], &middle[0]);
    let differences = [
        distance(&fields[0], &halved(&fields[1], &cells, periodic)) / change,
        distance(&fields[1], &halved(&fields[2], &double, periodic)) / change,
    ];
    let in_cells = Observed { sizes: [half, cells.clone(), double], differences };
    let own = registry.build(config)?.stepper.substeps();
    let refined = [own, 2 * own, 4 * own];
    let mut fields = Vec::new();
    for steps in refined {
        fields.push(after(&with(&cells, steps)?, &middle, ticks));
    }
    let differences = [0, 1].map(|i| distance(&fields[i], &fields[i + 1]) / change);
    let steps = Observed { sizes: refined.map(|steps| vec![steps]), differences };
    Ok(Some(Convergence { ticks, cells: in_cells, steps }))
}

/// The field after some ticks from a start with a target, under constant pushes of agents that do not move.
fn after(problem: &Problem, [start, target]: &[Vec<Real>; 2], ticks: usize) -> Vec<Real> {
    let (grid, swarm, agents) = (problem.stepper.grid(), &problem.swarm, problem.agents);
    // Between walls positions count from the first centre of a cell.
    let shift = |axis: usize| if grid.periodic[axis] { 0.0 } else { 0.5 * grid.spacing(axis) };
    let d = swarm.dimensions();
    let size: Vec<f64> = (0..d).map(|axis| grid.lengths[axis] as f64 + 2.0 * shift(axis)).collect();
    // The same places whatever the cells: those of the lattice, in shares of the lengths.
    let places = swarm.start(agents);
    let positions: Vec<Real> = places
        .iter()
        .enumerate()
        .map(|(i, x)| {
            let axis = i % d;
            (*x as f64 / grid.lengths[axis] as f64 * size[axis] - shift(axis)) as Real
        })
        .collect();
    let limits = swarm.limits();
    let pushes = swarm.action_width() - if swarm.moves() { d } else { 0 };
    let action = |agent: usize| {
        let sign = if agent.is_multiple_of(2) { PUSH } else { -PUSH };
        limits.iter().enumerate().map(move |(k, limit)| if k < pushes { sign * limit } else { 0.0 })
    };
    let actions: Vec<Real> = (0..ticks).flat_map(|_| (0..agents).flat_map(action)).collect();
    let mut rollout = Rollout::new(ticks, 1, false, agents);
    rollout.batch.push(start, target, &positions);
    let mut last = Vec::new();
    rollout.forward(problem, Control::Actions(&actions), GradientTargets::default(), &mut |scene| last = scene.z.to_vec());
    last
}

/// A field on half the cells along each axis: means of pairs, or along a periodic axis, whose first cell is at 0,
/// every second value.
fn halved(field: &[Real], nodes: &[usize], periodic: &[bool]) -> Vec<Real> {
    let mut field = field.to_vec();
    // Cells along the axes behind: a field stays in order if the last axis is halved first.
    for (axis, n) in nodes.iter().enumerate().rev() {
        let inner: usize = nodes[axis + 1..].iter().map(|n| n / 2).product();
        let between = |low: Real, high: Real| if periodic[axis] { low } else { 0.5 * (low + high) };
        let row = n * inner;
        field = field
            .chunks_exact(row)
            .flat_map(|line| line.chunks_exact(2 * inner))
            .flat_map(|pair| (0..inner).map(|i| between(pair[i], pair[inner + i])).collect::<Vec<Real>>())
            .collect();
    }
    field
}

/// Root mean square of a difference.
fn distance(a: &[Real], b: &[Real]) -> f64 {
    cinoc::task::mean_square(a, b).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cinoc::problem::Preset;

    #[test]
    fn fields_are_halved_along_each_axis() {
        let field: Vec<Real> = (0..16).map(|i| i as Real).collect();
        assert_eq!(halved(&field, &[4, 4], &[false; 2]), [2.5, 4.5, 10.5, 12.5]);
        assert_eq!(halved(&field, &[4, 4], &[true; 2]), [0.0, 2.0, 8.0, 10.0]);
    }

    #[test]
    fn hand_written_problems_have_no_cells() {
        let registry = Registry::builtin();
        let config = registry.config("heat1d", Preset::Tuned, &Overlay::default()).unwrap();
        assert_eq!(convergence(&registry, &config).unwrap(), None);
    }
}
