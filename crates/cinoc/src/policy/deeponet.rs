//! The neural operator: a branch on what an agent sees, a trunk on where it is, fused into a head.

use super::Policy;
use crate::config::PolicyConfig;
use crate::random::Rng;
use crate::sense::{Features, Observation, Patch};
use crate::{Error, Real};
use cinoc_tape::op::{Activation, ConvBranch};
use cinoc_tape::{Leaves, Params, Var};

/// How branch and trunk meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fusion {
    /// Side by side.
    Concat,
    /// Multiplied; both end in the same width.
    Product,
}

/// One layer, in the order of the parameters.
struct Layer {
    name: String,
    inputs: usize,
    outputs: usize,
    /// How often it is applied to what is seen: once, or once per pixel.
    times: usize,
    activation: Activation,
}

/// A DeepONet: a branch of `tanh(soft(W·))` layers, or of two `relu` convolutions and `tanh(W·soft(·))`; a `tanh` trunk, a `tanh` head and a
/// linear output.
pub struct DeepONet {
    layers: Vec<Layer>,
    /// The branch as one operation, where it starts with convolutions.
    image: Option<ConvBranch>,
    /// Whether the branch looks once for all agents of an instance.
    shared: bool,
    /// Number of layers.
    branch: usize,
    trunk: usize,
    fusion: Fusion,
    output_scale: f64,
    odd: bool,
}

fn bad(key: &str, value: String, expected: &str) -> Error {
    Error::BadValue { key: key.into(), value, expected: expected.into() }
}

impl DeepONet {
    /// For agents that are shown `features` and act with `action_width` numbers.
    pub fn new(config: &PolicyConfig, features: Features, action_width: usize) -> Result<Self, Error> {
        let fusion = match config.fusion.as_str() {
            "concat" => Fusion::Concat,
            "product" => Fusion::Product,
            other => return Err(bad("policy.fusion", format!("{other:?}"), "\"concat\" or \"product\"")),
        };
        if config.odd && !(fusion == Fusion::Product && config.convolutions.is_empty()) {
            return Err(bad("policy.odd", "true".into(), "false, or policy.fusion = \"product\" without convolutions"));
        }
        let widths = [("policy.branch", &config.branch), ("policy.trunk", &config.trunk)];
        for (key, list) in widths {
            if list.is_empty() || list.contains(&0) {
                return Err(bad(key, format!("{list:?}"), "a list of widths above 0, like [64, 64]"));
            }
        }
        let trunk_end = *config.trunk.last().expect("checked above");
        let mut branch = config.branch.clone();
        if fusion == Fusion::Product {
            *branch.last_mut().expect("checked above") = trunk_end;
        }
        let branch_end = *branch.last().expect("checked above");
        let (image, mut layers) = match image_branch(config, features.patch)? {
            Some(image) => (Some(image), convolutions(config, image, branch_end)),
            None => (None, stack("branch", features.patch.count(), &branch, Activation::SoftTanh)),
        };
        let branch = layers.len();
        layers.extend(stack("trunk", features.position, &config.trunk, Activation::Tanh));
        let fused = if fusion == Fusion::Concat { branch_end + trunk_end } else { trunk_end };
        layers.push(layer("head", fused, config.head, Activation::Tanh));
        layers.push(layer("out", config.head, action_width, Activation::Linear));
        Ok(Self {
            layers,
            image,
            shared: features.shared,
            branch,
            trunk: config.trunk.len(),
            fusion,
            output_scale: config.output_scale,
            odd: config.odd,
        })
    }
}

fn layer(name: &str, inputs: usize, outputs: usize, activation: Activation) -> Layer {
    Layer { name: name.to_owned(), inputs, outputs, times: 1, activation }
}

/// Layers on top of one another.
fn stack(name: &str, inputs: usize, widths: &[usize], activation: Activation) -> Vec<Layer> {
    let inputs = std::iter::once(&inputs).chain(widths);
    inputs
        .zip(widths)
        .enumerate()
        .map(|(i, (&inputs, &outputs))| layer(&format!("{name}{i}"), inputs, outputs, activation))
        .collect()
}

/// The branch on images, if the settings ask for one.
fn image_branch(config: &PolicyConfig, patch: Patch) -> Result<Option<ConvBranch>, Error> {
    let asked = &config.convolutions;
    if asked.is_empty() {
        return Ok(None);
    }
    if asked.len() != 2 || asked.contains(&0) {
        let expected = "two numbers of channels above 0, like [16, 32], or [] for a branch without convolutions";
        return Err(bad("policy.convolutions", format!("{asked:?}"), expected));
    }
    let Patch::Image { height, width, channels } = patch else {
        return Err(bad("policy.convolutions", format!("{asked:?}"), "[], as the agents of this problem do not see images"));
    };
    if config.branch.len() != 1 {
        return Err(bad("policy.branch", format!("{:?}", config.branch), "one width like [32], which the convolutions lead to"));
    }
    Ok(Some(ConvBranch { height, width, channels, stride: config.stride, keep: true }))
}

/// The layers of the branch on images.
fn convolutions(config: &PolicyConfig, image: ConvBranch, end: usize) -> Vec<Layer> {
    let (mut inputs, mut height, mut width) = (image.channels, image.height, image.width);
    let mut layers = Vec::new();
    for (i, &outputs) in config.convolutions.iter().enumerate() {
        (height, width) = (height.div_ceil(image.stride), width.div_ceil(image.stride));
        let conv = layer(&format!("conv{i}"), 9 * inputs, outputs, Activation::Linear);
        layers.push(Layer { times: height * width, ..conv });
        inputs = outputs;
    }
    layers.push(layer("branch", height * width * inputs, end, Activation::Tanh));
    layers
}

impl Policy for DeepONet {
    fn init(&self, rng: &mut Rng) -> Params {
        let mut params = Params::default();
        for Layer { name, inputs, outputs, .. } in &self.layers {
            // LeCun-normal: variance 1/fan-in.
            let factor = if name == "out" { self.output_scale } else { 1.0 };
            let scale = factor / (*inputs as f64).sqrt();
            let w: Vec<Real> = (0..inputs * outputs).map(|_| (rng.normal() * scale) as Real).collect();
            params.push(&format!("{name}.w"), [*inputs, *outputs], &w);
            params.push(&format!("{name}.b"), [*outputs], &vec![0.0; *outputs]);
        }
        params
    }

    fn act<'t>(&self, theta: &Leaves<'t>, seen: &Observation<'t>) -> Var<'t> {
        let parameters = |i: usize| {
            let mut parameters = theta.layer(2 * i);
            if self.odd && !(self.branch..self.branch + self.trunk).contains(&i) {
                parameters.b = theta.tape().zeros([self.layers[i].outputs]);
            }
            parameters
        };
        let layer = |i: usize, x: Var<'t>| x.dense(parameters(i), self.layers[i].activation);
        let branch = seen.each_agent(match self.image {
            Some(image) => {
                let image = ConvBranch { keep: !theta.tape().is_thrifty(), ..image };
                let convolutions = [(theta.get(0), theta.get(1)), (theta.get(2), theta.get(3))];
                seen.patch().conv_branch(image, convolutions, theta.layer(4))
            }
            None => (1..self.branch).fold(seen.dense(parameters(0), self.layers[0].activation), |x, i| layer(i, x)),
        });
        let after = self.branch + self.trunk;
        let trunk = (self.branch..after).fold(seen.position(), |x, i| layer(i, x));
        let head = match self.fusion {
            Fusion::Concat => branch.dense_with(trunk, theta.layer(2 * after), self.layers[after].activation),
            Fusion::Product => layer(after, branch * trunk),
        };
        layer(after + 1, head)
    }

    fn flops(&self, agents: usize) -> usize {
        let flops =
            |layers: &[Layer]| -> usize { layers.iter().map(|layer| 2 * layer.inputs * layer.outputs * layer.times).sum() };
        let (branch, rest) = self.layers.split_at(self.branch);
        flops(branch) * if self.shared { 1 } else { agents } + flops(rest) * agents
    }
}
