//! Choice of a ring or torus on which a lattice is computed.

use super::symmetry::translations;
use cinoc::settings::Overlay;
use cinoc::{Config, Error, Real, Registry};
use cinoc_pde::Grid;

/// A ring, or a square torus, with agents on a lattice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ring {
    /// Length of an axis.
    pub length: f64,
    /// Nodes along an axis.
    pub nodes: usize,
    /// Agents.
    pub agents: usize,
}

/// Allowed length relative to that of the configuration, and relative change of the distance between nodes.
const LENGTHS: [f64; 2] = [0.75, 1.3];
const FINER: f64 = 0.25;

/// Penalty of a cell with e times the nodes, in units of relative node distance.
const SIZE: f64 = 0.1;

impl Ring {
    /// Chooses a ring or torus about as long, and about as finely resolved, as that of a configuration, with agents at
    /// this spacing and small cells.
    pub fn choose(registry: &Registry, config: &Config, spacing: f64) -> Result<Self, Error> {
        let problem = registry.build(config)?;
        let (grid, d) = (problem.stepper.grid(), problem.stepper.grid().dimensions());
        let (length, step) = (grid.lengths[0] as f64, grid.spacing(0));
        if !grid.is_periodic() || grid.lengths.iter().any(|other| *other != grid.lengths[0]) {
            return Err(Error::bad("the problem", config.problem(), "one on a ring or a square torus"));
        }
        let mut best: Option<(f64, Self)> = None;
        let sizes = (LENGTHS[0] * length / spacing).powi(d as i32).ceil().max(2.0) as usize;
        for agents in sizes..=(LENGTHS[1] * length / spacing).powi(d as i32).max(2.0) as usize {
            let ring_length = spacing * (agents as f64).powf(1.0 / d as f64);
            let [fewest, most] = [-FINER, FINER].map(|finer| (ring_length / step * finer.exp()) as usize);
            for nodes in fewest..=most {
                let ring = Self { length: ring_length, nodes, agents };
                let other = (ring_length / nodes as f64 / step).ln().abs();
                let better = |cost: f64| best.is_none_or(|(least, _)| cost < least);
                // The optimum is one agent per cell.
                let single = nodes.pow(d as u32) as f64 / agents as f64;
                if !better(other + SIZE * single.ln()) || ring.config(registry, config).is_err() {
                    continue;
                }
                let stretch = (ring_length / length) as Real;
                let places: Vec<Real> = problem.swarm.start(agents).iter().map(|x| x * stretch).collect();
                let grid = Grid { nodes: vec![nodes; d], lengths: vec![ring_length as Real; d], periodic: vec![true; d] };
                let cell = nodes.pow(d as u32) / translations(&grid, &places, &vec![1.0; agents]).len();
                let cost = other + SIZE * (cell as f64).ln();
                if better(cost) {
                    best = Some((cost, ring));
                }
            }
        }
        best.map(|(_, ring)| ring).ok_or_else(|| {
            let expected = format!("well below the length of the domain, {length}, and above the distance of nodes, {step}");
            Error::bad("the spacing", spacing.to_string(), expected)
        })
    }

    /// Returns a configuration on this ring.
    pub fn config(&self, registry: &Registry, config: &Config) -> Result<Config, Error> {
        let Self { length, nodes, agents } = self;
        let pairs = [format!("physics.length={length:?}"), format!("physics.nodes={nodes}"), format!("swarm.agents={agents}")];
        registry.change(config, &Overlay::from_pairs(pairs)?)
    }
}
