//! The neural operator: a branch on what an agent sees, a trunk on where it is, fused into a head.

use super::Policy;
use crate::config::PolicyConfig;
use crate::random::Rng;
use crate::swarm::Observation;
use crate::{Error, Real};
use cinoc_tape::op::Activation;
use cinoc_tape::{Leaves, Params, Var};

/// How branch and trunk meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fusion {
    /// Side by side.
    Concat,
    /// Multiplied; both end in the same width.
    Product,
}

/// A DeepONet with MLP branch: `tanh(soft(W·))` layers, a `tanh` trunk, a `tanh` head and a linear output.
pub struct DeepONet {
    /// Name, inputs, outputs and activation of each layer, in the order of the parameters.
    layers: Vec<(String, usize, usize, Activation)>,
    branch: usize,
    trunk: usize,
    fusion: Fusion,
}

impl DeepONet {
    /// `features`: numbers per agent in the patch and for the position.
    pub fn new(config: &PolicyConfig, features: (usize, usize), action_width: usize) -> Result<Self, Error> {
        let bad =
            |key: &str, value: String, expected: &str| Error::BadValue { key: key.into(), value, expected: expected.into() };
        let fusion = match config.fusion.as_str() {
            "concat" => Fusion::Concat,
            "product" => Fusion::Product,
            other => return Err(bad("policy.fusion", format!("{other:?}"), "\"concat\" or \"product\"")),
        };
        let widths = [("policy.branch", &config.branch), ("policy.trunk", &config.trunk)];
        for (key, list) in widths {
            if list.is_empty() || list.contains(&0) {
                return Err(bad(key, format!("{list:?}"), "a list of widths above 0, like [64, 64]"));
            }
        }
        let mut layers = Vec::new();
        let mut stack = |name: &str, inputs: usize, widths: &[usize], activation| {
            let mut inputs = inputs;
            for (i, &width) in widths.iter().enumerate() {
                layers.push((format!("{name}{i}"), inputs, width, activation));
                inputs = width;
            }
            inputs
        };
        let trunk_end = *config.trunk.last().expect("checked above");
        let mut branch = config.branch.clone();
        if fusion == Fusion::Product {
            *branch.last_mut().expect("checked above") = trunk_end;
        }
        let branch_end = stack("branch", features.0, &branch, Activation::SoftTanh);
        stack("trunk", features.1, &config.trunk, Activation::Tanh);
        let fused = if fusion == Fusion::Concat { branch_end + trunk_end } else { trunk_end };
        layers.push(("head".into(), fused, config.head, Activation::Tanh));
        layers.push(("out".into(), config.head, action_width, Activation::Linear));
        Ok(Self { layers, branch: config.branch.len(), trunk: config.trunk.len(), fusion })
    }
}

impl Policy for DeepONet {
    fn init(&self, rng: &mut Rng) -> Params {
        let mut params = Params::default();
        for (name, inputs, outputs, _) in &self.layers {
            // LeCun-normal: variance 1/fan-in.
            let scale = 1.0 / (*inputs as f64).sqrt();
            let w: Vec<Real> = (0..inputs * outputs).map(|_| (rng.normal() * scale) as Real).collect();
            params.push(&format!("{name}.w"), [*inputs, *outputs], &w);
            params.push(&format!("{name}.b"), [*outputs], &vec![0.0; *outputs]);
        }
        params
    }

    fn act<'t>(&self, theta: &Leaves<'t>, seen: &Observation<'t>) -> Var<'t> {
        let layer = |i: usize, x: Var<'t>| x.dense(theta.layer(2 * i), self.layers[i].3);
        let branch = seen.each_agent((0..self.branch).fold(seen.patch, |x, i| layer(i, x)));
        let after = self.branch + self.trunk;
        let trunk = (self.branch..after).fold(seen.position, |x, i| layer(i, x));
        let head = match self.fusion {
            Fusion::Concat => branch.dense_with(trunk, theta.layer(2 * after), self.layers[after].3),
            Fusion::Product => layer(after, branch * trunk),
        };
        layer(after + 1, head)
    }

    fn flops(&self) -> usize {
        self.layers.iter().map(|(_, inputs, outputs, _)| 2 * inputs * outputs).sum()
    }
}
