//! One training update of `heat1d` in Burn (Flex, its CPU backend), timed as `../jax/bench.py` times it; prints one JSON line.
//!
//! Same problem, policy, cost and optimiser as `../jax/problems/heat1d.py`; `check.py` proves it. Written to suit Burn: agents
//! of all instances are rows of one matrix, linear maps on the grid are dense matrices (one call instead of several), and costs are
//! taken once, on the stacked trajectory.

use std::{env, f64::consts::PI, fs, time::Instant};

use burn::tensor::{Device, Distribution, Int, Tensor, TensorData, activation::relu};

// The problem: grid, diffusion, time step, width of a force, limits of an action, observation.
const N: usize = 100;
const DX: f64 = 1.0 / (N - 1) as f64;
const NU: f64 = 0.2;
const DT: f64 = 1e-3;
const SIGMA: f64 = 0.1;
const LIMITS: [f64; 2] = [40.0, 2.0];
const SAMPLES: usize = 20;
const WINDOW: f64 = 0.08;
const RADIUS: f64 = 0.05;

/// Rows and columns of the policy's weights: branch0, branch1, trunk0, trunk1, head, out; 11,298 parameters with the biases.
const LAYERS: [[usize; 2]; 6] = [[40, 64], [64, 64], [8, 32], [32, 32], [96, 32], [32, 2]];

/// Weights and biases, in the order of `LAYERS`: w, b, w, b, ...
type Params = Vec<Tensor<2>>;

/// A constant tensor from a function of its two indices.
fn table<const R: usize, const C: usize>(device: &Device, f: impl Fn(usize, usize) -> f64) -> Tensor<2> {
    let values: Vec<f32> = (0..R * C).map(|k| f(k / C, k % C) as f32).collect();
    Tensor::from_data(TensorData::new(values, [R, C]), device)
}

/// Solves the Crank-Nicolson rows `(1+r) z_i - r/2 (z_{i-1} + z_{i+1}) = rhs_i` for zero walls (Thomas algorithm).
fn implicit(rhs: &[f64; N]) -> [f64; N] {
    let r = NU * DT / (DX * DX);
    let (mut upper, mut z) = ([0.0; N], [0.0; N]);
    for i in 1..N - 1 {
        let pivot = 1.0 + r + r / 2.0 * upper[i - 1];
        upper[i] = -r / 2.0 / pivot;
        z[i] = (rhs[i] + r / 2.0 * z[i - 1]) / pivot;
    }
    for i in (1..N - 1).rev() {
        z[i] -= upper[i] * z[i + 1];
    }
    z
}

/// The constants of `heat1d` for one batch size and number of agents.
struct Heat {
    batch: usize,
    agents: usize,
    /// Field after one step per unit of the field before it; and per unit of force. Both `[N, N]`, used as `row @ matrix`.
    step: Tensor<2>,
    push: Tensor<2>,
    /// Gradient on the grid times the window's width, `[N, N]`.
    slope: Tensor<2>,
    /// Nodes `[1, 1, N]`, sample offsets `[1, 1, SAMPLES]`, Fourier frequencies `[1, 4]`, limits `[1, 2]`.
    nodes: Tensor<3>,
    offsets: Tensor<3>,
    frequencies: Tensor<2>,
    limits: Tensor<2>,
    /// Zero for an agent paired with itself, else one: `[1, 1, M, M]`.
    others: Tensor<4>,
    start: Tensor<2>,
}

impl Heat {
    fn new(batch: usize, agents: usize, device: &Device) -> Self {
        let r = NU * DT / (DX * DX);
        let unit = |i: usize, scale: f64| std::array::from_fn(|j| if i == j { scale } else { 0.0 });
        let rows: Vec<_> = (0..N)
            .map(|i| {
                let z: [f64; N] = if i == 0 || i == N - 1 { [0.0; N] } else { unit(i, 1.0) };
                let at = |j: usize| if (1..N - 1).contains(&j) { z[j] } else { 0.0 };
                implicit(&std::array::from_fn(|j| (1.0 - r) * z[j] + r / 2.0 * (at(j.wrapping_sub(1)) + at(j + 1))))
            })
            .collect();
        let pushes: Vec<_> = (0..N).map(|i| implicit(&unit(i, DT))).collect();
        let slope = |i: usize, j: usize| {
            let (left, right) = (j.saturating_sub(1), (j + 1).min(N - 1));
            WINDOW / ((right - left) as f64 * DX) * ((i == right) as i32 - (i == left) as i32) as f64
        };
        let (low, high) = if agents == 8 { (0.2, 0.8) } else { (0.1, 0.9) };
        let gap = (high - low) / (agents.max(2) - 1) as f64;
        let start: Vec<f32> = (0..batch * agents).map(|k| (low + gap * (k % agents) as f64) as f32).collect();
        let middle = (SAMPLES - 1) as f64 / 2.0;
        Self {
            batch,
            agents,
            step: table::<N, N>(device, |i, j| rows[i][j]),
            push: table::<N, N>(device, |i, j| pushes[i][j]),
            slope: table::<N, N>(device, slope),
            nodes: table::<1, N>(device, |_, j| j as f64 * DX).unsqueeze(),
            offsets: table::<1, SAMPLES>(device, |_, j| (j as f64 - middle) * WINDOW / (SAMPLES - 1) as f64).unsqueeze(),
            frequencies: table::<1, 4>(device, |_, k| PI * [1.0, 2.0, 4.0, 8.0][k]),
            limits: table::<1, 2>(device, |_, k| LIMITS[k]),
            others: (Tensor::<2>::eye(agents, device) * -1.0 + 1.0).unsqueeze(),
            start: Tensor::from_data(TensorData::new(start, [batch, agents]), device),
        }
    }

    /// The error and its slope around each agent, `[B M, 2 SAMPLES]`, by linear interpolation.
    fn observe(&self, error: Tensor<2>, xi: Tensor<2>) -> Tensor<2> {
        let at = (xi.unsqueeze_dim::<3>(2) + self.offsets.clone()) / DX;
        let at = at.clamp(0.0, (N - 1) as f64).reshape([self.batch, self.agents * SAMPLES]);
        let node = at.clone().without_autodiff().floor().clamp_max((N - 2) as f64);
        let weight = at - node.clone();
        let left: Tensor<2, Int> = node.int();
        let right = left.clone() + 1;
        let channels = [error.clone(), error.matmul(self.slope.clone())].map(|c| {
            let (a, b) = (c.clone().gather(1, left.clone()), c.gather(1, right.clone()));
            (a.clone() + weight.clone() * (b - a)).reshape([self.batch * self.agents, SAMPLES])
        });
        Tensor::cat(channels.into(), 1)
    }

    /// Saturated actions `[B M, 2]`: force and velocity.
    fn act(&self, params: &Params, observation: Tensor<2>, xi: Tensor<2>) -> Tensor<2> {
        let layer = |k: usize, x: Tensor<2>| x.matmul(params[2 * k].clone()) + params[2 * k + 1].clone();
        let soft = |h: Tensor<2>| h.clone() / (h.square().sum_dim(1).sqrt() + 1.0);
        let branch = soft(layer(1, soft(layer(0, observation)).tanh())).tanh();
        let phase = xi.reshape([self.batch * self.agents, 1]) * self.frequencies.clone();
        let features = Tensor::cat(vec![phase.clone().sin(), phase.cos()], 1);
        let trunk = layer(3, layer(2, features).tanh()).tanh();
        let head = layer(4, Tensor::cat(vec![branch, trunk], 1)).tanh();
        layer(5, head).tanh() * self.limits.clone()
    }

    /// Mean cost of the batch under the policy.
    fn loss(&self, params: &Params, z0: &Tensor<2>, target: &Tensor<2>, ticks: usize) -> Tensor<1> {
        let (mut z, mut xi) = (z0.clone(), self.start.clone());
        let [mut fields, mut places, mut forces, mut speeds] = [const { Vec::new() }; 4];
        for _ in 0..ticks {
            let observation = self.observe(z.clone() - target.clone(), xi.clone());
            let action = self.act(params, observation, xi.clone());
            let u = action.clone().narrow(1, 0, 1).reshape([self.batch, self.agents]);
            let v = action.narrow(1, 1, 1).reshape([self.batch, self.agents]);
            let distance = self.nodes.clone() - xi.clone().unsqueeze_dim(2);
            let bump = (distance.square() * (-0.5 / (SIGMA * SIGMA))).exp();
            let force = u.clone().unsqueeze_dim::<3>(1).matmul(bump).reshape([self.batch, N]);
            z = z.matmul(self.step.clone()) + force.matmul(self.push.clone());
            xi = (xi + v.clone() * DT).clamp(0.0, 1.0);
            fields.push(z.clone());
            places.push(xi.clone());
            forces.push(u);
            speeds.push(v);
        }
        let [z, xi, u, v]: [Tensor<3>; 4] = [fields, places, forces, speeds].map(|steps| Tensor::stack(steps, 0));
        let track = (z - target.clone().unsqueeze()).square().mean();
        let effort = u.square().mean() + v.clone().square().mean() * 0.1;
        let bound = relu(xi.clone() * -1.0 + 0.02).square().mean() + relu(xi.clone() - 0.98).square().mean();
        let distance = (xi.clone().unsqueeze_dim::<4>(3) - xi.unsqueeze_dim::<4>(2)).abs();
        let collide = (relu(distance * -1.0 + RADIUS).square() * self.others.clone()).mean();
        let total = track * 5.0 + effort * 1e-3 + bound * 100.0 + collide;
        if ticks < 2 {
            return total;
        }
        total + (v.clone().narrow(0, 1, ticks - 1) - v.narrow(0, 0, ticks - 1)).square().mean() * 0.1
    }

    /// The bare PDE.
    fn free(&self, z0: &Tensor<2>, ticks: usize) -> Tensor<2> {
        (0..ticks).fold(z0.clone(), |z, _| z.matmul(self.step.clone()))
    }
}

/// Adam (0.9, 0.999, 1e-8) after clipping the global gradient norm to 1, with the rate 1e-3 halved every 2000 steps.
struct Adam {
    mean: Params,
    square: Params,
    step: i32,
}

impl Adam {
    fn new(params: &Params) -> Self {
        let zeros: Params = params.iter().map(Tensor::zeros_like).collect();
        Self { mean: zeros.clone(), square: zeros, step: 0 }
    }

    fn update(&mut self, params: &mut Params, grads: Params) {
        let norm: f32 = grads.iter().map(|g| g.clone().square().sum().into_scalar::<f32>()).sum::<f32>().sqrt();
        let rate = 1e-3 * 0.5f64.powf(self.step as f64 / 2000.0);
        self.step += 1;
        let [unbias_mean, unbias_square] = [0.9f64, 0.999].map(|beta| 1.0 / (1.0 - beta.powi(self.step)));
        for (k, grad) in grads.into_iter().enumerate() {
            let grad = grad / norm.max(1.0);
            self.mean[k] = self.mean[k].clone() * 0.9 + grad.clone() * 0.1;
            self.square[k] = self.square[k].clone() * 0.999 + grad.square() * 0.001;
            let scale = (self.square[k].clone() * unbias_square).sqrt() + 1e-8;
            params[k] = params[k].clone() - self.mean[k].clone() * (rate * unbias_mean) / scale;
        }
    }
}

/// One training update; returns the loss before it.
fn update(heat: &Heat, params: &mut Params, adam: &mut Adam, fields: &[Tensor<2>; 2], ticks: usize, device: &Device) -> f32 {
    let strategy = device.gradient_checkpointing_strategy().expect("a device with autodiff");
    let leaf = |p: &Tensor<2>| p.clone().autodiff().with_gradient_checkpointing_strategy(strategy).require_grad();
    let leaves: Params = params.iter().map(leaf).collect();
    let loss = heat.loss(&leaves, &fields[0], &fields[1], ticks);
    let mut grads = loss.backward();
    adam.update(params, leaves.iter().map(|p| p.grad_remove(&mut grads).expect("every parameter acts on the loss")).collect());
    loss.into_scalar()
}

/// Smooth random fields with zero walls: sine series with the spectrum of a Gaussian process of correlation length `length`.
fn field(batch: usize, length: f64, device: &Device) -> Tensor<2> {
    let sines = table::<16, N>(device, |k, j| {
        let wave = PI * (k + 1) as f64;
        (-(wave * length).powi(2) / 4.0).exp() * (wave * j as f64 * DX).sin()
    });
    Tensor::<2>::random([batch, 16], Distribution::Normal(0.0, 1.0), device).matmul(sines)
}

/// Milliseconds of `repeats` calls, in rising order.
fn timed(repeats: usize, mut call: impl FnMut()) -> Vec<f64> {
    let mut times: Vec<f64> = (0..repeats)
        .map(|_| {
            let begin = Instant::now();
            call();
            begin.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times
}

fn median(sorted: &[f64]) -> f64 {
    (sorted[(sorted.len() - 1) / 2] + sorted[sorted.len() / 2]) / 2.0
}

fn main() {
    let args: Vec<String> = env::args().collect();
    let text =
        |name: &str| args.iter().position(|a| a == name).map(|i| args.get(i + 1).expect("a value after the option").as_str());
    let number = |name: &str, default: usize| text(name).map_or(default, |v| v.parse().expect("a whole number"));
    assert!(text("--problem").is_none_or(|p| p == "heat1d"), "only heat1d is written in Burn");
    let (batch, ticks, agents, updates) =
        (number("--batch", 32), number("--ticks", 300), number("--agents", 8), number("--updates", 12));
    let checkpoint = args.iter().any(|a| a == "--checkpoint");

    let device = Device::flex();
    let learning = if checkpoint { device.clone().autodiff().gradient_checkpointing() } else { device.clone().autodiff() };
    device.seed(0);
    let heat = Heat::new(batch, agents, &device);
    let mut fields = [field(batch, 0.2, &device), field(batch, 0.4, &device)];
    let mut params: Params = Vec::new();
    for [rows, columns] in LAYERS {
        let spread = Distribution::Normal(0.0, (rows as f64).powf(-0.5));
        params.push(Tensor::random([rows, columns], spread, &device));
        params.push(Tensor::zeros([1, columns], &device));
    }
    // For checks: start fields, targets and parameters as raw little-endian f32, one after the other.
    if let Some(path) = text("--inputs") {
        let bytes = fs::read(path).expect("a readable file of inputs");
        let mut values = bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap()));
        for tensor in fields.iter_mut().chain(&mut params) {
            let shape = tensor.dims();
            let data: Vec<f32> = values.by_ref().take(shape[0] * shape[1]).collect();
            *tensor = Tensor::from_data(TensorData::new(data, shape), &device);
        }
    }

    let mut adam = Adam::new(&params);
    update(&heat, &mut params.clone(), &mut Adam::new(&params), &fields, ticks, &learning); // warm-up
    let mut losses = Vec::new();
    let times = timed(updates, || losses.push(update(&heat, &mut params, &mut adam, &fields, ticks, &learning)));
    let repeats = (updates / 2).max(3);
    let forward = timed(repeats, || drop(heat.loss(&params, &fields[0], &fields[1], ticks).into_data()));
    let bare = timed(repeats, || drop(heat.free(&fields[0], ticks).into_data()))[0];
    println!(
        "{{\"problem\": \"heat1d\", \"batch\": {batch}, \"ticks\": {ticks}, \"agents\": {agents}, \"checkpoint\": {checkpoint}, \
         \"ms_per_update_median\": {:.2}, \"ms_per_update_min\": {:.2}, \"ms_forward_median\": {:.2}, \"steps_per_s\": {:.0}, \
         \"losses\": {losses:?}, \"burn\": \"0.22.1\", \"device\": \"flex\"}}",
        median(&times),
        times[0],
        median(&forward),
        (batch * ticks) as f64 / bare * 1e3
    );
}
