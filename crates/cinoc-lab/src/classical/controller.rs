//! Linear controllers of the whole field, as models.

use super::Linearised;
use cinoc::run::{Model, ModelKind};
use cinoc::settings::Overlay;
use cinoc::{Config, Error, Real, Registry};
use cinoc_tape::Params;
use nalgebra::DMatrix;

/// A linear controller with the state s: u = `direct`·(z, z*) + `recall`·s, then s' = `input`·(z, z*) + `next`·s.
pub struct Controller {
    /// Pushes against field and target.
    pub direct: DMatrix<f64>,
    /// Pushes against the state.
    pub recall: DMatrix<f64>,
    /// Next state against field and target.
    pub input: DMatrix<f64>,
    /// Next state against the state.
    pub next: DMatrix<f64>,
}

impl Controller {
    /// Returns the controller as a model of a problem's configuration.
    pub fn model(&self, registry: &Registry, config: &Config, plant: &Linearised) -> Result<Model, Error> {
        let memory = self.next.nrows().div_ceil(plant.agents);
        let changes = [
            "policy.kind=\"state_feedback\"".to_owned(),
            format!("policy.memory={memory}"),
            format!("swarm.agents={}", plant.agents),
        ];
        let config = registry.change(config, &Overlay::from_pairs(&changes)?)?;
        let parts = registry.parts(&config)?;
        // Readings are field, target and positions; pushes are some of the actions, and actions 1 at `unit`.
        let readings: Vec<usize> = (0..self.direct.ncols()).collect();
        let states: Vec<usize> = (0..self.next.nrows()).collect();
        let scale: Vec<f64> = plant.unit.iter().map(|unit| 1.0 / unit).collect();
        let one = vec![1.0; states.len()];
        let mut params = Params::default();
        for (name, shape) in parts.policy.shapes() {
            let [inputs, outputs] = *shape.sizes() else { unreachable!("a matrix") };
            let (matrix, from, to, scale) = match name.as_str() {
                "gain.w" => (&self.direct, &readings, &plant.columns, &scale),
                "recall.w" => (&self.recall, &states, &plant.columns, &scale),
                "input.w" => (&self.input, &readings, &states, &one),
                _ => (&self.next, &states, &states, &one),
            };
            let mut all = vec![0.0 as Real; inputs * outputs];
            for (i, (&to, scale)) in to.iter().zip(scale).enumerate() {
                for (j, &from) in from.iter().enumerate() {
                    all[from * outputs + to] = (matrix[(i, j)] * scale) as Real;
                }
            }
            params.push(&name, shape, &all);
        }
        Ok(Model { config, kind: ModelKind::Best, params, seed: 0, update: 0, validation: None })
    }
}
