//! The shipped network: a neural operator with a memory and a linear path.

mod relax;

use super::{Context, Decision, Plant, Policy, PolicyDefinition, PolicyInputs};
use crate::random::Rng;
use crate::sense::Observation;
use crate::{Error, Real, budget, settings};
use cinoc_tape::op::Activation;
use cinoc_tape::{Layer, Leaves, Params, Shape, Var};
use relax::relax;

settings! {
    /// A DeepONet with a memory per agent and a linear path beside the network.
    pub struct Recurrent {
        /// Widths of the branch; the last one is replaced by that of the trunk.
        branch: Vec<usize> = (1..=8, 1..=65_536),
        /// Widths of the trunk.
        trunk: Vec<usize> = (1..=8, 1..=65_536),
        /// Width of the head.
        head: usize = 1..=65_536,
        /// Size of each agent's memory; 0: none.
        memory: usize = 0..=Recurrent::MOST,
        /// Shortest and longest time constant of the memory, in ticks; the others are spaced evenly in the logarithm.
        memory_ticks: [f64; 2] = 1e-3..=1e6,
        /// Scale the rates of the memory by a gate that depends on position and other known quantities, up to a factor of
        /// 2.
        #[absent = false]
        memory_gate: bool = (),
        /// Remember the last action itself, beside the memory, which also learns of all its components.
        #[absent = false]
        own_push: bool = (),
        /// Numbers that an agent tells its neighbours, who hear them in the next tick; 0: agents do not talk.
        #[absent = 0]
        messages: usize = 0..=64,
        /// Width of the linear path from observation and memory to the action, modulated by the trunk; 0: none.
        linear: usize = 0..=65_536,
        /// Factor on the initial weights of the output layer; a small one makes initial actions small.
        output_scale: f64 = 0.0..=1e3,
        /// Factor on raw actions before the limits; small if the limits far exceed typical actions.
        #[absent = 1.0]
        output_gain: f64 = 1e-6..=1e3,
    }
}

impl Recurrent {
    /// Largest memory: decay rates are computed on the stack.
    const MOST: usize = 64;

    /// Numbers that an agent keeps from tick to tick: its memory, the last action, and what it tells its neighbours.
    fn remembered(&self, action_width: usize) -> usize {
        self.kept(action_width) + self.messages
    }

    /// Numbers that an agent keeps for itself.
    fn kept(&self, action_width: usize) -> usize {
        self.memory + if self.own_push { action_width } else { 0 }
    }

    /// Components of its action, of which the first is the push, that the memory learns of.
    fn own_width(&self, action_width: usize) -> usize {
        if self.own_push { action_width } else { 1 }
    }
}

impl Default for Recurrent {
    fn default() -> Self {
        Self {
            branch: vec![64, 32],
            trunk: vec![32, 32],
            head: 32,
            memory: 8,
            memory_ticks: [5.0, 500.0],
            memory_gate: false,
            own_push: false,
            messages: 0,
            linear: 32,
            output_scale: 1.0,
            output_gain: 1.0,
        }
    }
}

impl PolicyDefinition for Recurrent {
    const NAME: &'static str = "recurrent";
    const ABOUT: &'static str = "A small neural operator with a memory and a linear path, the same for every agent.";

    fn preset() -> Self {
        Self::default()
    }

    fn build(&self, plant: &Plant) -> Result<Box<dyn Policy>, Error> {
        if self.messages > 0 && (plant.neighbours == 0 || self.memory == 0) {
            return Err(Error::bad(
                "policy.messages",
                self.messages.to_string(),
                "0 here: only agents with neighbours and a memory talk",
            ));
        }
        Ok(Box::new(Network::new(self.clone(), plant)?))
    }
}

/// The network. With `b` the branch on the observation, `t` the trunk on position and further signals, `s` the memory
/// and `x` = [observation, signals, `s`]:
///
/// raw action = `W_o·tanh(W_h·[b⊙t, t, s]) + W_m·[(W_l·x) ⊙ (W_g·t + 1)]`, times a factor,
/// then `s += (1 − e^(−ticks/τ))·(W_s·[x, push, roughness] − s)`, with a time constant `τ` for each number; a gate
/// multiplies the rate by `1 + tanh(W_r·t)`.
///
/// The network is the nonlinear part of the response, the linear path answers small errors proportionally, and the
/// memory integrates the remaining error: without it a policy is a proportional controller, which has a steady-state
/// error.
struct Network {
    config: Recurrent,
    /// Names and shapes of weights and biases, in order.
    pieces: Vec<(String, Shape)>,
    action_width: usize,
    shared: bool,
    /// Size of a patch.
    seen: usize,
}

/// Factor on the push that enters the memory, which brings it to the magnitude of observations.
const PUSH: Real = 10.0;

/// Factor on the initial weights of the last layer of the linear path.
const MIX_SCALE: f64 = 0.1;

impl Network {
    fn new(config: Recurrent, plant: &Plant) -> Result<Self, Error> {
        let &Plant { ref features, action_width, neighbours, .. } = plant;
        let Recurrent { head, memory, linear, .. } = config;
        let remembered = config.kept(action_width);
        let trunk_end = *config.trunk.last().expect("settings have one width or more");
        let seen = features.patch.count();
        let signal = seen + features.signal + remembered + neighbours * config.messages;
        let own = config.own_width(action_width) + usize::from(features.roughness);
        let mut pieces = Vec::new();
        let mut matrix = |name: &str, inputs: usize, outputs: usize, biased: bool| {
            pieces.push((format!("{name}.w"), Shape::new(&[inputs, outputs])));
            if biased {
                pieces.push((format!("{name}.b"), Shape::new(&[outputs])));
            }
        };
        let mut branch = config.branch.clone();
        *branch.last_mut().expect("settings have one width or more") = trunk_end;
        for (name, inputs, widths) in [("branch", seen, &branch), ("trunk", features.position, &config.trunk)] {
            let inputs = std::iter::once(&inputs).chain(widths);
            inputs
                .zip(widths)
                .enumerate()
                .for_each(|(i, (inputs, outputs))| matrix(&format!("{name}{i}"), *inputs, *outputs, true));
        }
        matrix("head", 2 * trunk_end + remembered, head, true);
        matrix("out", head, action_width, true);
        if linear > 0 {
            matrix("gate", trunk_end, linear, true);
            matrix("linear", signal, linear, false);
            matrix("mix", linear, action_width, false);
        }
        if memory > 0 {
            matrix("memory", signal + own, memory, false);
            if config.messages > 0 {
                matrix("message", signal + own, config.messages, false);
            }
            if config.memory_gate {
                matrix("memory_gate", trunk_end, memory, true);
            }
        }
        let weights: f64 = pieces.iter().map(|(_, shape)| shape.sizes().iter().map(|&size| size as f64).product::<f64>()).sum();
        // Parameters and their transposes, the gradient of each shard, two moments of the optimiser, the average, the
        // best.
        budget::check("this network", 10.0 * size_of::<Real>() as f64 * weights)?;
        Ok(Self { config, pieces, action_width, shared: features.shared, seen })
    }

    /// Returns name, inputs and outputs of the layers, in order.
    fn matrices(&self) -> impl Iterator<Item = (&str, usize, usize)> {
        self.pieces.iter().filter_map(|(name, shape)| match *shape.sizes() {
            [inputs, outputs] => Some((name.as_str(), inputs, outputs)),
            _ => None,
        })
    }

    /// Sums the work of all layers; the branch counts once where agents share the patch.
    fn per_instance(&self, work: impl Fn(usize, usize) -> usize, agents: usize) -> usize {
        let each = self.matrices().map(|(name, inputs, outputs)| {
            let once = self.shared && name.starts_with("branch");
            work(inputs, outputs).saturating_mul(if once { 1 } else { agents })
        });
        each.fold(0, usize::saturating_add)
    }

    /// Returns what the memory learns of raw actions, near PUSH at most.
    fn own<'t>(&self, raw: Var<'t>) -> Var<'t> {
        let own = raw.columns(0, self.config.own_width(self.action_width));
        let scaled = if self.config.own_push && self.config.output_gain != 1.0 {
            own * (1.0 / self.config.output_gain) as Real
        } else {
            own
        };
        scaled.tanh() * PUSH
    }

    /// Returns the fraction of each memory that is renewed in `ticks` ticks.
    fn rates(&self, ticks: usize) -> [Real; Recurrent::MOST] {
        let Recurrent { memory, memory_ticks: [shortest, longest], .. } = self.config;
        std::array::from_fn(|j| {
            let part = if memory > 1 { j as f64 / (memory - 1) as f64 } else { 0.0 };
            let time = shortest * (longest / shortest).powf(part);
            (1.0 - (-(ticks as f64) / time).exp()) as Real
        })
    }
}

/// An iterator over the parameters, in their order.
struct Next<'t> {
    theta: Leaves<'t>,
    at: usize,
}

impl<'t> Next<'t> {
    fn layer(&mut self) -> Layer<'t> {
        self.at += 2;
        self.theta.layer(self.at - 2)
    }

    fn matrix(&mut self) -> Layer<'t> {
        self.at += 1;
        self.theta.linear(self.at - 1)
    }

    fn stack(&mut self, x: Var<'t>, layers: usize, activation: Activation) -> Var<'t> {
        (0..layers).fold(x, |x, _| x.dense(self.layer(), activation))
    }
}

impl Policy for Network {
    fn shapes(&self) -> Vec<(String, Shape)> {
        self.pieces.clone()
    }

    fn init(&self, rng: &mut Rng) -> Params {
        let mut params = Params::default();
        for (name, shape) in &self.pieces {
            let values: Vec<Real> = match *shape.sizes() {
                [inputs, outputs] => {
                    let factor = match name.as_str() {
                        "out.w" => self.config.output_scale,
                        "mix.w" => MIX_SCALE * self.config.output_scale,
                        // Gates are open halfway at first.
                        "memory_gate.w" => 0.0,
                        _ => 1.0,
                    };
                    let scale = factor / (inputs as f64).sqrt();
                    (0..inputs * outputs).map(|_| (rng.normal() * scale) as Real).collect()
                }
                // The trunk modulates the linear path around 1.
                _ => vec![if name == "gate.b" { 1.0 } else { 0.0 }; shape.count()],
            };
            params.push(name, *shape, &values);
        }
        params
    }

    fn declared(&self) -> PolicyInputs {
        PolicyInputs {
            memory: self.config.remembered(self.action_width),
            messages: self.config.messages,
            ..PolicyInputs::default()
        }
    }

    fn act<'t>(&self, theta: &Leaves<'t>, seen: &Observation<'t>, context: &Context<'t>) -> Decision<'t> {
        let (tape, mut next) = (theta.tape(), Next { theta: *theta, at: 0 });
        let first = seen.dense(next.layer(), Activation::SoftTanh);
        let branch = seen.each_agent(next.stack(first, self.config.branch.len() - 1, Activation::SoftTanh));
        let trunk = next.stack(seen.position(), self.config.trunk.len(), Activation::Tanh);
        let bent = branch * trunk;
        // What an agent keeps for itself; it hears what others keep for it.
        let kept = self.config.kept(self.action_width);
        let remembered = context.memory.map(|all| if self.config.messages > 0 { all.columns(0, kept) } else { all });
        let (head, out) = (next.layer(), next.layer());
        let head = match remembered {
            Some(s) => tape.dense([bent, trunk, s], head, Activation::Tanh),
            None => tape.dense([bent, trunk], head, Activation::Tanh),
        };
        let mut raw = head.dense(out, Activation::Linear);
        let patch = seen.each_agent(seen.patch());
        let known = match (seen.signal(), remembered) {
            (Some(signal), Some(s)) => Some(signal.join(s)),
            (signal, s) => signal.or(s),
        };
        let known = known.map(|known| context.heard.map_or(known, |heard| known.join(heard)));
        if self.config.linear > 0 {
            let gate = trunk.dense(next.layer(), Activation::Linear);
            let linear = match known {
                Some(known) => tape.dense([patch, known], next.matrix(), Activation::Linear),
                None => patch.dense(next.matrix(), Activation::Linear),
            };
            raw = raw + (linear * gate).dense(next.matrix(), Activation::Linear);
        }
        if self.config.output_gain != 1.0 {
            raw = raw * self.config.output_gain as Real;
        }
        let memory = remembered.zip(known).map(|(all, known)| {
            let (push, memory) = (self.own(raw), self.config.memory);
            if memory == 0 {
                return push;
            }
            let s = if self.config.own_push { all.columns(0, memory) } else { all };
            let own = seen.roughness().map_or(push, |roughness| push.join(roughness));
            let now = tape.dense([patch, known, own], next.matrix(), Activation::Linear);
            let told = (self.config.messages > 0).then(|| tape.dense([patch, known, own], next.matrix(), Activation::Linear));
            let mut after = relax(s, now, tape.constant([memory], &self.rates(context.action_repeat)[..memory]));
            if self.config.memory_gate {
                after = s + (after - s) * (trunk.dense(next.layer(), Activation::Tanh) + 1.0);
            }
            let after = if self.config.own_push { after.join(push) } else { after };
            told.map_or(after, |told| after.join(told))
        });
        Decision { raw, memory }
    }

    fn room(&self, agents: usize) -> usize {
        self.per_instance(|_, outputs| 2 * outputs, agents)
            .saturating_add((2 * self.seen + self.action_width).saturating_mul(agents))
    }

    fn flops(&self, agents: usize) -> usize {
        self.per_instance(|inputs, outputs| 2 * inputs * outputs, agents)
    }
}
