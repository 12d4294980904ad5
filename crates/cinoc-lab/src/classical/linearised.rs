//! One tick of the field as a linear map.

use crate::stability;
use cinoc::{Error, Problem, Real};
use cinoc_tape::{Arena, Tape};
use nalgebra::DMatrix;

/// One tick near a field of zero with agents that stand: z' = A·z + B·u.
pub struct Linearised {
    /// A: the field of the next tick against that of this one.
    pub field: DMatrix<f64>,
    /// B: the field of the next tick against the pushes.
    pub pushes: DMatrix<f64>,
    /// Index of each push among all numbers of all actions.
    pub columns: Vec<usize>,
    /// Agent of each push.
    pub owners: Vec<usize>,
    /// Push of each column at a raw action of 1, before saturation.
    pub unit: Vec<f64>,
    /// Agents.
    pub agents: usize,
}

impl Linearised {
    /// Linearises a problem with this number of agents.
    pub fn of(problem: &Problem, agents: usize) -> Result<Self, Error> {
        let (field, effect) = stability::derivatives(problem, agents)?;
        let (width, limits, strength) = (problem.swarm.action_width(), problem.swarm.limits(), strengths(problem, agents));
        // Velocities do not act on the field of agents that stand.
        let acts = |column: &usize| effect.column(*column).amax() > 0.0;
        let columns: Vec<usize> = (0..effect.ncols()).filter(acts).collect();
        if columns.is_empty() {
            let reason = "agents whose actions change a field at rest: only there a linear regulator exists";
            return Err(Error::bad("the problem", &*problem.name, reason));
        }
        let unit = |&column: &usize| limits[column % width] as f64 * strength[column / width];
        let owners = columns.iter().map(|column| column / width).collect();
        let (unit, pushes) = (columns.iter().map(unit).collect(), effect.select_columns(&columns));
        Ok(Self { field, pushes, columns, owners, unit, agents })
    }
}

/// Returns the strength of each agent on the regular lattice, reduced in crowds.
fn strengths(problem: &Problem, agents: usize) -> Vec<f64> {
    let tape = Tape::new(Arena::default(), &[]);
    let positions = problem.swarm.start(agents);
    let xi = tape.constant([1, agents, problem.swarm.dimensions()], &positions);
    let strength = problem.swarm.strength(tape.constant([1, agents], &vec![1.0 as Real; agents]), xi);
    let id = strength.id();
    tape.into_arena().value(&[], id).iter().map(|&x| x as f64).collect()
}
