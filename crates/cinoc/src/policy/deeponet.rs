//! The paper's neural operator: a branch on the observation, a trunk on the position, and a head on both.

use super::{Context, Decision, Plant, Policy, PolicyDefinition};
use crate::random::Rng;
use crate::sense::{Features, Observation, Patch};
use crate::{Error, Real, budget, settings, words};
use cinoc_tape::op::{Activation, ConvBranch};
use cinoc_tape::{Leaves, Params, Shape, Var};

words! {
    /// Combination of branch and trunk.
    pub enum Fusion {
        /// side by side
        Concat = "concat",
        /// multiplied; both end in the same width
        Product = "product",
    }
}

settings! {
    /// A DeepONet: a branch on the observation, a trunk on the position, a head on both.
    pub struct DeepONet {
        /// Widths of the branch; after convolutions, its output width. With fusion = "product" it ends in the trunk's
        /// width.
        branch: Vec<usize> = (1..=8, 1..=65_536),
        /// Channels of the two convolutions at the start of a branch on images, like [16, 32]; empty: none.
        convolutions: Vec<usize> = (0..=2, 1..=4096),
        /// Stride of the convolutions, in pixels.
        stride: usize = 1..=16,
        /// Widths of the trunk.
        trunk: Vec<usize> = (1..=8, 1..=65_536),
        /// Width of the head.
        head: usize = 1..=65_536,
        /// Combination of branch and trunk.
        fusion: Fusion = (),
        /// Odd symmetry: opposite errors give opposite actions. Needs fusion = "product" and no convolutions.
        odd: bool = (),
        /// Factor on the initial weights of the output layer; a small one makes initial actions small.
        output_scale: f64 = 0.0..=1e3,
    }
}

impl Default for DeepONet {
    /// The paper's settings on an interval.
    fn default() -> Self {
        Self {
            branch: vec![64, 64],
            convolutions: vec![],
            stride: 1,
            trunk: vec![32, 32],
            head: 32,
            fusion: Fusion::Concat,
            odd: false,
            output_scale: 1.0,
        }
    }
}

impl PolicyDefinition for DeepONet {
    const NAME: &'static str = "deeponet";
    const ABOUT: &'static str = "A small neural operator, the same for every agent.";

    fn preset() -> Self {
        Self::default()
    }

    fn build(&self, plant: &Plant) -> Result<Box<dyn Policy>, Error> {
        Ok(Box::new(Network::new(self, &plant.features, plant.action_width)?))
    }
}

/// A layer; layers are in the order of the parameters.
struct Layer {
    name: String,
    inputs: usize,
    outputs: usize,
    /// Applications per observation: one, or one per pixel.
    times: usize,
    activation: Activation,
}

/// A branch of `tanh(soft(W·))` layers, or of two ReLU convolutions and `tanh(W·soft(·))`; a `tanh` trunk, a `tanh`
/// head and a linear output.
struct Network {
    layers: Vec<Layer>,
    /// The branch as one operation, if it starts with convolutions.
    image: Option<ConvBranch>,
    /// True if all agents of an instance share one evaluation of the branch.
    shared: bool,
    /// Number of layers of branch and trunk.
    branch: usize,
    trunk: usize,
    fusion: Fusion,
    output_scale: f64,
    odd: bool,
}

impl Network {
    fn new(config: &DeepONet, features: &Features, action_width: usize) -> Result<Self, Error> {
        let DeepONet { fusion, .. } = *config;
        if config.odd && !(fusion == Fusion::Product && config.convolutions.is_empty()) {
            return Err(Error::bad("policy.odd", "true", "false, or policy.fusion = \"product\" without convolutions"));
        }
        let last = |widths: &[usize]| *widths.last().expect("settings have one width or more");
        let trunk_end = last(&config.trunk);
        let mut branch = config.branch.clone();
        if fusion == Fusion::Product {
            *branch.last_mut().expect("settings have one width or more") = trunk_end;
        }
        let branch_end = last(&branch);
        let (image, mut layers) = match image_branch(config, features.patch)? {
            Some(image) => (Some(image), convolutions(config, image, branch_end)),
            None => (None, stack("branch", features.patch.count(), &branch, Activation::SoftTanh)),
        };
        let branch = layers.len();
        layers.extend(stack("trunk", features.position, &config.trunk, Activation::Tanh));
        let fused = if fusion == Fusion::Concat { branch_end + trunk_end } else { trunk_end };
        layers.push(layer("head", fused, config.head, Activation::Tanh));
        layers.push(layer("out", config.head, action_width, Activation::Linear));
        let weights: f64 = layers.iter().map(|layer| layer.inputs as f64 * layer.outputs as f64).sum();
        // Parameters and their transposes, the gradient of each shard, two moments of the optimiser, the average, the
        // best.
        budget::check("this network", 10.0 * size_of::<Real>() as f64 * weights)?;
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

/// Returns the layers of a multilayer perceptron.
fn stack(name: &str, inputs: usize, widths: &[usize], activation: Activation) -> Vec<Layer> {
    let inputs = std::iter::once(&inputs).chain(widths);
    inputs
        .zip(widths)
        .enumerate()
        .map(|(i, (&inputs, &outputs))| layer(&format!("{name}{i}"), inputs, outputs, activation))
        .collect()
}

/// Returns the branch on images, if the settings include convolutions.
fn image_branch(config: &DeepONet, patch: Patch) -> Result<Option<ConvBranch>, Error> {
    let asked = &config.convolutions;
    if asked.is_empty() {
        return Ok(None);
    }
    if asked.len() != 2 {
        let expected = "two numbers of channels, like [16, 32], or [] for a branch without convolutions";
        return Err(Error::bad("policy.convolutions", format!("{asked:?}"), expected));
    }
    let Patch::Image { height, width, channels } = patch else {
        return Err(Error::bad(
            "policy.convolutions",
            format!("{asked:?}"),
            "[], as the agents of this problem do not see images",
        ));
    };
    if config.branch.len() != 1 {
        let expected = "one width like [32], which the convolutions lead to";
        return Err(Error::bad("policy.branch", format!("{:?}", config.branch), expected));
    }
    Ok(Some(ConvBranch { height, width, channels, stride: config.stride, keep: true }))
}

/// Returns the layers of the branch on images.
fn convolutions(config: &DeepONet, image: ConvBranch, end: usize) -> Vec<Layer> {
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

impl Policy for Network {
    fn shapes(&self) -> Vec<(String, Shape)> {
        let both = |layer: &Layer| {
            let Layer { name, inputs, outputs, .. } = layer;
            [(format!("{name}.w"), Shape::new(&[*inputs, *outputs])), (format!("{name}.b"), Shape::new(&[*outputs]))]
        };
        self.layers.iter().flat_map(both).collect()
    }

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

    fn act<'t>(&self, theta: &Leaves<'t>, seen: &Observation<'t>, _: &Context<'t>) -> Decision<'t> {
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
                let image = ConvBranch { keep: !theta.tape().rematerialises(), ..image };
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
        layer(after + 1, head).into()
    }

    fn room(&self, agents: usize) -> usize {
        let numbers = |layers: &[Layer]| -> usize { layers.iter().map(|layer| 2 * layer.outputs * layer.times).sum() };
        let (branch, rest) = self.layers.split_at(self.branch);
        numbers(branch).saturating_mul(if self.shared { 1 } else { agents }).saturating_add(numbers(rest).saturating_mul(agents))
    }

    fn flops(&self, agents: usize) -> usize {
        let flops =
            |layers: &[Layer]| -> usize { layers.iter().map(|layer| 2 * layer.inputs * layer.outputs * layer.times).sum() };
        let (branch, rest) = self.layers.split_at(self.branch);
        flops(branch) * if self.shared { 1 } else { agents } + flops(rest) * agents
    }
}
