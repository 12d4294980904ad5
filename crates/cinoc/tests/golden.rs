//! Trajectories, observations, costs and gradients against an independent implementation (JAX in float64; `peers/jax/golden.py`).

use cinoc::config::{Overlay, PolicyConfig};
use cinoc::policy::{DeepONet, Policy};
use cinoc::problem::{Preset, Problem};
use cinoc::random::{Rng, Stream};
use cinoc::rollout::{Given, Outcome, Rollout, State, apply};
use cinoc::sense::{Features, Observation, Patch};
use cinoc::task::Moment;
use cinoc::{Config, Real};
use cinoc_tape::{Bars, Memory, Tape};
use npyz::npz::NpzArchive;
use std::fs::File;
use std::io::BufReader;

/// Relative tolerance.
const LIMIT: f64 = if cfg!(feature = "f64") { 1e-9 } else { 1e-4 };

/// The same for gradients through many substeps: in f32 the sums over all pixels, agents and ticks cancel down to a small rest.
const CANCELLING: f64 = if cfg!(feature = "f64") { LIMIT } else { 1e-3 };

struct Golden {
    archive: NpzArchive<BufReader<File>>,
    group: &'static str,
}

impl Golden {
    fn open(problem: &str, group: &'static str) -> Self {
        let path = format!("{}/tests/golden/{problem}.npz", env!("CARGO_MANIFEST_DIR"));
        Self { archive: NpzArchive::open(&path).expect("golden vectors"), group }
    }

    fn try_get(&mut self, name: &str) -> Option<(Vec<usize>, Vec<f64>)> {
        let array = self.archive.by_name(&format!("{}/{name}", self.group)).expect("readable archive")?;
        let shape = array.shape().iter().map(|&n| n as usize).collect();
        let values = match array.dtype().descr().contains("f4") {
            true => array.into_vec::<f32>().expect("numbers").into_iter().map(f64::from).collect(),
            false => array.into_vec::<f64>().expect("numbers"),
        };
        Some((shape, values))
    }

    fn get(&mut self, name: &str) -> (Vec<usize>, Vec<f64>) {
        self.try_get(name).unwrap_or_else(|| panic!("no {}/{name}", self.group))
    }

    fn real(&mut self, name: &str) -> (Vec<usize>, Vec<Real>) {
        let (shape, values) = self.get(name);
        (shape, values.into_iter().map(|x| x as Real).collect())
    }

    /// Compares, relative to the largest number of the array; what is zero but for rounding (a kept mass) to 1e-9.
    fn compare(&mut self, name: &str, ours: &[Real]) {
        self.compare_within(LIMIT, name, ours);
    }

    fn compare_within(&mut self, limit: f64, name: &str, ours: &[Real]) {
        let (_, theirs) = self.get(name);
        assert_eq!(ours.len(), theirs.len(), "{name}: sizes");
        let size = theirs.iter().fold(1e-9, |a: f64, b| a.max(b.abs()));
        let off = ours.iter().zip(&theirs).map(|(a, b)| (*a as f64 - b).abs()).fold(0.0, f64::max);
        assert!(off <= limit * size, "{}/{name}: off by {:.1e} relative to {size:.1e}", self.group, off / size);
    }
}

fn config(problem: &str, changes: &[&str]) -> Config {
    let mut overlay = Overlay::default();
    changes.iter().for_each(|c| overlay.set(c).expect("a change"));
    Problem::configure(problem, Preset::Paper, &overlay).expect("a configuration")
}

/// Given actions: trajectories, observation, cost terms, and gradients by actions, start field and start positions.
fn open_loop(problem: &str, group: &'static str, changes: &[&str]) {
    let mut golden = Golden::open(problem, group);
    let (shape, actions) = golden.real("actions");
    let &[batch, ticks, agents, width] = &shape[..] else { panic!("actions {shape:?}") };
    let ticks_change = format!("physics.ticks={ticks}");
    let changes: Vec<&str> = changes.iter().copied().chain([ticks_change.as_str()]).collect();
    let problem = Problem::new(config(problem, &changes)).expect("a problem");
    let (z0, target, xi0) = (golden.real("z0"), golden.real("target"), golden.real("xi0"));
    let tape = Tape::new(Memory::default(), &[]);
    let z = tape.input(&z0.0[..], &z0.1);
    let xi = tape.input(&xi0.0[..], &xi0.1);
    let target = tape.constant(&target.0[..], &target.1);
    golden.compare("obs0", &problem.swarm.observe(z, target, xi).patch().value());
    let strength = tape.constant([batch, agents], &vec![1.0; batch * agents]);
    let given = Given { target, strength, mass: z.sum_keeping(1) };
    let mut state = State { z, xi, previous: tape.zeros([batch, agents, width]) };
    let (mut inputs, mut terms, mut z_traj, mut xi_traj) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let per_tick = agents * width;
    for t in 0..ticks {
        let now: Vec<Real> = (0..batch).flat_map(|b| actions[(b * ticks + t) * per_tick..][..per_tick].iter().copied()).collect();
        let action = tape.input([batch, agents, width], &now);
        inputs.push(action.id());
        state = apply(&problem, action, state, given, &mut |term| terms.push(term.id()));
        z_traj.push(state.z.value());
        xi_traj.push(state.xi.value());
    }
    // [T][B, …] to [B, T, …]
    let by_instance = |trajectory: &[Vec<Real>]| -> Vec<Real> {
        let n = trajectory[0].len() / batch;
        (0..batch).flat_map(|b| trajectory.iter().flat_map(move |row| row[b * n..(b + 1) * n].iter().copied())).collect()
    };
    golden.compare("z_traj", &by_instance(&z_traj));
    golden.compare("xi_traj", &by_instance(&xi_traj));
    let mut measures = vec![vec![0.0; problem.task.measures().len()]; batch];
    for (t, (z, xi)) in z_traj.iter().zip(&xi_traj).enumerate() {
        for (b, measures) in measures.iter_mut().enumerate() {
            let part = |x: &[Real]| x[b * x.len() / batch..(b + 1) * x.len() / batch].to_vec();
            let (start, z, xi, target) = (part(&z0.1), part(z), part(xi), target.read(part));
            let moment = Moment { tick: t + 1, ticks, start: &start, z: &z, target: &target, xi: &xi, thorough: false };
            problem.task.measure(&moment, measures);
        }
    }
    for (k, name) in problem.task.measures().iter().enumerate() {
        let theirs = match *name {
            "mse" => "mse_last",
            "w" => "w_last",
            // Theirs is counted from the state after the first tick, ours from the start.
            "mass_drift" => continue,
            "violations" => "inside",
            "violations_margin" => "inside_margin",
            other => other,
        };
        if golden.try_get(&format!("score/{theirs}")).is_some() {
            golden.compare(&format!("score/{theirs}"), &measures.iter().map(|m| m[k] as Real).collect::<Vec<_>>());
        }
    }

    let (z, xi) = (z.id(), xi.id());
    let memory = tape.into_memory();
    let names = problem.task.terms();
    let mut total = vec![0.0; batch];
    let mut bars = Bars::default();
    bars.start(&memory, 0);
    for (k, name) in names.iter().enumerate() {
        let mut sum = vec![0.0; batch];
        let full = problem.config.cost[*name];
        for t in 0..ticks {
            let weight = problem.task.weight(k, t + 1, ticks);
            let id = terms[t * names.len() + k];
            memory.value(&[], id).iter().zip(&mut sum).for_each(|(c, s)| *s += (weight / full) as Real * c);
            bars.seed(&memory, id, &vec![weight as Real; batch]);
        }
        golden.compare(&format!("cost/{name}"), &sum);
        sum.iter().zip(&mut total).for_each(|(s, t)| *t += full as Real * s);
    }
    golden.compare("total", &total);
    memory.backward(&[], &mut bars);
    golden.compare("grad/z0", bars.of(&memory, z));
    golden.compare("grad/xi0", bars.of(&memory, xi));
    let each: Vec<Vec<Real>> = inputs.iter().map(|id| bars.of(&memory, *id).to_vec()).collect();
    golden.compare("grad/actions", &by_instance(&each));
}

/// The policy drives: actions, end state, mean cost and its gradient by every parameter.
fn closed_loop(name: &str, group: &'static str, changes: &[&str]) {
    let mut golden = Golden::open(name, group);
    let (shape, _) = golden.get("actions");
    let &[size, ticks, agents, _] = &shape[..] else { panic!("actions {shape:?}") };
    let ticks_change = format!("physics.ticks={ticks}");
    let changes: Vec<&str> = changes.iter().copied().chain([ticks_change.as_str()]).collect();
    let problem = Problem::new(config(name, &changes)).expect("a problem");
    let policy = problem.policy().expect("a policy");
    let mut params = policy.init(&mut Rng::new(0, Stream::Init, 0));
    let names: Vec<String> = params.iter().map(|(n, ..)| n.to_owned()).collect();
    for n in &names {
        let (_, values) = golden.real(&format!("param/{n}"));
        assert!(params.set(n, &values), "parameter {n} does not fit");
    }
    let (z0, target) = (golden.real("z0").1, golden.real("target").1);
    let xi = problem.swarm.start(agents);
    golden.compare("xi0", &xi);
    for (segment, keep) in [(1, true), (1, false), (2, true), (3, false), (5, true)] {
        let mut rollout = Rollout::new(ticks, segment, keep, agents);
        let n = z0.len() / size;
        (0..size).for_each(|b| rollout.batch.push(&z0[b * n..][..n], &target[b * n..][..n], &xi));
        let mut actions = Vec::new();
        let outcome = rollout.forward(&problem, &*policy, &params, true, &mut |scene| {
            if scene.tick > 0 {
                actions.push(scene.action.to_vec());
            }
        });
        assert_eq!(outcome, Outcome::Finished);
        if segment == 1 {
            let n = actions[0].len() / size;
            let ours: Vec<Real> =
                (0..size).flat_map(|b| actions.iter().flat_map(move |a| a[b * n..(b + 1) * n].iter().copied())).collect();
            golden.compare("actions", &ours);
        }
        golden.compare("z_last", rollout.end().0);
        golden.compare("xi_last", rollout.end().1);
        golden.compare("total", &[(rollout.costs.iter().sum::<f64>() / size as f64) as Real]);
        rollout.backward(&problem, &*policy, &params, 1.0 / size as f64);
        for n in &names {
            let limit = if name == "ks2d" { CANCELLING } else { LIMIT };
            golden.compare_within(limit, &format!("grad/{n}"), params.slice(n, &rollout.bars.shared).expect("a piece"));
        }
    }
}

#[test]
fn heat1d() {
    open_loop("heat1d", "open5", &[]);
    open_loop("heat1d", "open20", &[]);
    closed_loop("heat1d", "closed_concat", &[]);
    closed_loop("heat1d", "closed_product", &["policy.fusion=\"product\""]);
    closed_loop("heat1d", "closed_cut", &["observe.through_position=false"]);
}

#[test]
fn fkpp1d() {
    open_loop("fkpp1d", "open5", &[]);
    closed_loop("fkpp1d", "closed_concat", &[]);
}

#[test]
fn heat2d() {
    open_loop("heat2d", "open5", &[]);
    closed_loop("heat2d", "closed_concat", &["policy.convolutions=[4, 6]"]);
}

#[test]
fn heat2d_obstacles() {
    open_loop("heat2d_obstacles", "open5", &[]);
    closed_loop("heat2d_obstacles", "closed_concat", &["policy.convolutions=[4, 6]"]);
}

#[test]
fn ks1d() {
    open_loop("ks1d", "open5", &[]);
    closed_loop("ks1d", "closed_concat", &[]);
}

#[test]
fn ks2d() {
    open_loop("ks2d", "open5", &[]);
    closed_loop("ks2d", "closed_concat", &["policy.convolutions=[4, 6]"]);
}

#[test]
fn turbulence2d() {
    open_loop("turbulence2d", "open5", &[]);
    closed_loop("turbulence2d", "closed_concat", &["policy.convolutions=[4, 6]"]);
}

#[test]
fn density2d() {
    open_loop("density2d", "open5", &[]);
    open_loop("density2d", "open5_backward", &["choice.scheme=\"backward\""]);
    closed_loop("density2d", "closed_concat", &["policy.convolutions=[4, 6]"]);
    closed_loop("density2d", "closed_patch", &["policy.convolutions=[4, 6]", "choice.view=\"patch\""]);
}

#[test]
fn parameter_count() {
    let problem = Problem::new(config("heat1d", &[])).expect("a problem");
    assert_eq!(problem.policy().expect("a policy").init(&mut Rng::new(0, Stream::Init, 0)).count(), 11_298);
}

/// The policy alone, with a convolutional branch: raw actions, and what a cotangent of theirs pulls back to.
#[test]
fn convolutional_branch() {
    for (group, fusion, stride) in [("concat", "concat", 1), ("product", "product", 1), ("stride", "concat", 2)] {
        let mut golden = Golden::open("policy", group);
        let (shape, obs) = golden.real("obs");
        let &[agents, height, width, channels] = &shape[..] else { panic!("images {shape:?}") };
        let (shape, feats) = golden.real("feats");
        let config = PolicyConfig {
            kind: "deeponet".into(),
            branch: vec![8],
            convolutions: vec![4, 6],
            stride,
            trunk: vec![8, 8],
            head: 10,
            fusion: fusion.into(),
            odd: false,
            output_scale: 1.0,
        };
        let features = Features { patch: Patch::Image { height, width, channels }, shared: false, position: shape[1] };
        let policy = DeepONet::new(&config, features, 3).expect("a policy");
        let mut params = policy.init(&mut Rng::new(0, Stream::Init, 0));
        let names: Vec<String> = params.iter().map(|(n, ..)| n.to_owned()).collect();
        for n in &names {
            assert!(params.set(n, &golden.real(&format!("param/{n}")).1), "parameter {n} does not fit");
        }
        let mut first = None;
        for thrifty in [false, true] {
            let tape = Tape::new(Memory::default(), params.shared()).thrifty(thrifty);
            let patch = tape.input([1, agents, features.patch.count()], &obs);
            let seen = Observation::new(patch, tape.input([1, agents, features.position], &feats));
            let (patch, position) = (seen.patch().id(), seen.position().id());
            let raw = policy.act(&params.leaves(&tape, true), &seen).id();
            let memory = tape.into_memory();
            golden.compare("raw", memory.value(params.shared(), raw));
            let mut bars = Bars::default();
            bars.start(&memory, params.theta().len());
            bars.seed(&memory, raw, &golden.real("bar").1);
            memory.backward(params.shared(), &mut bars);
            golden.compare("grad/obs", bars.of(&memory, patch));
            golden.compare("grad/feats", bars.of(&memory, position));
            for n in &names {
                golden.compare(&format!("grad/{n}"), params.slice(n, &bars.shared).expect("a piece"));
            }
            // Thrift saves memory and changes no bit.
            let gradients = [bars.shared.to_vec(), bars.of(&memory, patch).to_vec()];
            let (plain, bytes) = first.get_or_insert_with(|| (gradients.clone(), memory.bytes()));
            assert!(gradients == *plain && (!thrifty || memory.bytes() < *bytes));
        }
    }
}
