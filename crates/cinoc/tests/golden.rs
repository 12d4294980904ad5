//! Trajectories, observations, costs and gradients against an independent implementation (JAX in float64;
//! `peers/jax/golden.py`).

mod common;

use cinoc::internal::random::{Rng, Stream};
use cinoc::internal::sense::{Features, Observation, Patch, Visible};
use cinoc::policy::{Context, DeepONet, Fusion, Plant, PolicyDefinition};
use cinoc::rollout::{Control, GradientTargets, Loss, Outcome, Rollout};
use cinoc::task::Status;
use cinoc::{Real, Registry};
use cinoc_tape::{Adjoints, Arena, Tape};
use common::paper;
use npyz::npz::NpzArchive;
use std::fs::File;
use std::io::BufReader;

/// Relative tolerance.
const LIMIT: f64 = if cfg!(double) { 1e-9 } else { 1e-4 };

/// Relative tolerance of gradients through many substeps: in f32 the sums over pixels, agents and ticks cancel to a
/// small remainder.
const CANCELLING: f64 = if cfg!(double) { LIMIT } else { 1e-3 };

struct Golden {
    archive: NpzArchive<BufReader<File>>,
    group: &'static str,
}

impl Golden {
    fn open(problem: &str, group: &'static str) -> Self {
        let crate_folder = if cfg!(double) { "../../cinoc" } else { "." };
        let path = format!("{}/{crate_folder}/tests/golden/{problem}.npz", env!("CARGO_MANIFEST_DIR"));
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

    /// Compares, relative to the largest number of the array; values that are zero up to rounding (a conserved mass),
    /// to 1e-9.
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

/// Given actions: trajectories, observation, cost terms, and gradients with respect to actions, initial field and
/// positions.
fn open_loop(problem: &str, group: &'static str, changes: &[&str]) {
    let mut golden = Golden::open(problem, group);
    let (shape, actions) = golden.real("actions");
    let &[batch, ticks, agents, _] = &shape[..] else { panic!("actions {shape:?}") };
    let ticks_change = format!("physics.ticks={ticks}");
    let changes: Vec<&str> = changes.iter().copied().chain([ticks_change.as_str()]).collect();
    let problem = Registry::builtin().build(&paper(problem, &changes)).expect("a problem");
    let (z0, target, xi0) = (golden.real("z0"), golden.real("target"), golden.real("xi0"));
    let tape = Tape::new(Arena::default(), &[]);
    let seen = problem.swarm.observe(&Visible::new(
        tape.constant(&z0.0[..], &z0.1),
        tape.constant(&target.0[..], &target.1),
        tape.placeholder(&xi0.0[..], &xi0.1),
        tape.zeros(&xi0.0[..2]),
    ));
    golden.compare("obs0", &seen.patch().value());
    // From `[B, T, …]` to `[T, B, …]` and back.
    let turned = |x: &[Real], outer: usize, inner: usize| -> Vec<Real> {
        let n = x.len() / (outer * inner);
        let block = |i: usize, o: usize| x[(o * inner + i) * n..][..n].iter().copied();
        (0..inner).flat_map(|i| (0..outer).flat_map(move |o| block(i, o))).collect()
    };
    let actions = turned(&actions, batch, ticks);
    let (nodes, places) = (z0.1.len() / batch, xi0.1.len() / batch);
    for (segment, keep) in [(1, true), (1, false), (3, true), (ticks, true)] {
        let mut rollout = Rollout::new(ticks, segment, keep, agents);
        for b in 0..batch {
            let field = b * nodes..(b + 1) * nodes;
            rollout.batch.push(&z0.1[field.clone()], &target.1[field], &xi0.1[b * places..(b + 1) * places]);
        }
        let (mut z_traj, mut xi_traj) = (Vec::new(), Vec::new());
        let mut measures = vec![vec![0.0; problem.task.measures().len()]; batch];
        let episode = rollout.forward(&problem, Control::Actions(&actions), GradientTargets::ALL, &mut |scene| {
            if scene.tick == 0 {
                return;
            }
            z_traj.extend_from_slice(scene.z);
            xi_traj.extend_from_slice(scene.xi);
            for (b, measures) in measures.iter_mut().enumerate() {
                let part = |x: &[Real]| x[b * x.len() / batch..(b + 1) * x.len() / batch].to_vec();
                let [start, z, xi, target] = [&z0.1, scene.z, scene.xi, &target.1].map(part);
                let tick = scene.tick;
                let status = Status { tick, ticks, start: &start, z: &z, target: &target, xi: &xi, begins: 0.0, thorough: false };
                problem.task.measure(&status, measures);
            }
        });
        assert_eq!(episode.outcome, Outcome::Finished);
        let found = episode.backward(Loss::cost(1.0));
        golden.compare("grad/z0", found.start);
        golden.compare("grad/xi0", found.positions);
        golden.compare("grad/actions", &turned(found.actions, ticks, batch));
        let mut total = vec![0.0; batch];
        for (costs, name) in rollout.costs.chunks_exact(batch).zip(problem.task.terms()) {
            // Costs are sums over ticks of weight·term, here without the weight of the term.
            costs.iter().zip(&mut total).for_each(|(c, t)| *t += *c as Real);
            let full = weight(&paper(&problem.name, &changes), name);
            golden.compare(&format!("cost/{name}"), &costs.iter().map(|c| (c / full) as Real).collect::<Vec<_>>());
        }
        golden.compare("total", &total);
        if segment > 1 {
            continue;
        }
        golden.compare("z_traj", &turned(&z_traj, ticks, batch));
        golden.compare("xi_traj", &turned(&xi_traj, ticks, batch));
        for (k, name) in problem.task.measures().iter().enumerate() {
            let theirs = match *name {
                "mse" => "mse_last",
                "w" => "w_last",
                // The peer counts from the state after the first tick, this implementation from the initial state.
                "mass_drift" => continue,
                "violations" => "inside",
                "violations_margin" => "inside_margin",
                other => other,
            };
            if golden.try_get(&format!("score/{theirs}")).is_some() {
                golden.compare(&format!("score/{theirs}"), &measures.iter().map(|m| m[k] as Real).collect::<Vec<_>>());
            }
        }
    }
}

/// Returns the weight of a term of the cost.
fn weight(config: &cinoc::Config, term: &str) -> f64 {
    let key = if term == "obstacle" { "obstacles.weight".into() } else { format!("cost.{term}") };
    config.get(&key).and_then(|weight| weight.as_float()).expect("a weight")
}

/// A policy: actions, final state, mean cost and its gradient with respect to every parameter.
fn closed_loop(name: &str, group: &'static str, changes: &[&str]) {
    let mut golden = Golden::open(name, group);
    let (shape, _) = golden.get("actions");
    let &[size, ticks, agents, _] = &shape[..] else { panic!("actions {shape:?}") };
    let ticks_change = format!("physics.ticks={ticks}");
    let changes: Vec<&str> = changes.iter().copied().chain([ticks_change.as_str()]).collect();
    let parts = common::parts(&paper(name, &changes));
    let (problem, policy) = (&*parts.problem, &*parts.policy);
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
        let episode = rollout.forward(problem, Control::Policy(policy, &params), GradientTargets::PARAMS, &mut |scene| {
            if scene.tick > 0 {
                actions.push(scene.action.to_vec());
            }
        });
        assert_eq!(episode.outcome, Outcome::Finished);
        let gradient = episode.backward(Loss::cost(1.0 / size as f64)).params.to_vec();
        if segment == 1 {
            let n = actions[0].len() / size;
            let ours: Vec<Real> =
                (0..size).flat_map(|b| actions.iter().flat_map(move |a| a[b * n..(b + 1) * n].iter().copied())).collect();
            golden.compare("actions", &ours);
        }
        golden.compare("z_last", rollout.end().0);
        golden.compare("xi_last", rollout.end().1);
        golden.compare("total", &[(rollout.costs.iter().sum::<f64>() / size as f64) as Real]);
        for n in &names {
            let limit = if name == "ks2d" { CANCELLING } else { LIMIT };
            golden.compare_within(limit, &format!("grad/{n}"), params.slice(n, &gradient).expect("a piece"));
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
    open_loop("density2d", "open5_backward", &["physics.scheme=\"backward\""]);
    closed_loop("density2d", "closed_concat", &["policy.convolutions=[4, 6]"]);
    closed_loop(
        "density2d",
        "closed_patch",
        &["policy.convolutions=[4, 6]", "observe.view=\"patch\"", "policy.stride=1", "policy.branch=[32]"],
    );
}

#[test]
fn parameter_count() {
    let policy = common::parts(&paper("heat1d", &[])).policy;
    assert_eq!(policy.init(&mut Rng::new(0, Stream::Init, 0)).count(), 11_298);
    assert_eq!(policy.shapes().iter().map(|(_, shape)| shape.count()).sum::<usize>(), 11_298);
}

/// The policy alone, with a convolutional branch: raw actions, and the pullback of a cotangent.
#[test]
fn convolutional_branch() {
    for (group, fusion, stride) in [("concat", Fusion::Concat, 1), ("product", Fusion::Product, 1), ("stride", Fusion::Concat, 2)]
    {
        let mut golden = Golden::open("policy", group);
        let (shape, obs) = golden.real("obs");
        let &[agents, height, width, channels] = &shape[..] else { panic!("images {shape:?}") };
        let (shape, feats) = golden.real("feats");
        let config = DeepONet {
            branch: vec![8],
            convolutions: vec![4, 6],
            stride,
            trunk: vec![8, 8],
            head: 10,
            fusion,
            ..DeepONet::default()
        };
        let features = Features {
            patch: Patch::Image { height, width, channels },
            shared: false,
            position: shape[1],
            signal: 0,
            signal_from: 0,
            ages: 0,
            roughness: false,
        };
        let policy = config.build(&Plant::new(features, 3)).expect("a policy");
        let mut params = policy.init(&mut Rng::new(0, Stream::Init, 0));
        let names: Vec<String> = params.iter().map(|(n, ..)| n.to_owned()).collect();
        for n in &names {
            assert!(params.set(n, &golden.real(&format!("param/{n}")).1), "parameter {n} does not fit");
        }
        let mut first = None;
        for lean in [false, true] {
            let tape = Tape::new(Arena::default(), params.shared()).rematerialise(lean);
            let patch = tape.input([1, agents, features.patch.count()], &obs);
            let seen = Observation::new(patch, tape.input([1, agents, features.position], &feats));
            let (patch, position) = (seen.patch().id(), seen.position().id());
            let raw = policy.act(&params.leaves(&tape, true), &seen, &Context::default()).raw.id();
            let memory = tape.into_arena();
            golden.compare("raw", memory.value(params.shared(), raw));
            let mut bars = Adjoints::default();
            bars.start(&memory, params.theta().len());
            bars.seed(&memory, raw, &golden.real("bar").1);
            memory.backward(params.shared(), &mut bars);
            golden.compare("grad/obs", bars.of(&memory, patch));
            golden.compare("grad/feats", bars.of(&memory, position));
            for n in &names {
                golden.compare(&format!("grad/{n}"), params.slice(n, &bars.shared).expect("a piece"));
            }
            // Rematerialisation changes no bit.
            let gradients = [bars.shared.to_vec(), bars.of(&memory, patch).to_vec()];
            let (plain, bytes) = first.get_or_insert_with(|| (gradients.clone(), memory.bytes()));
            assert!(gradients == *plain && (!lean || memory.bytes() < *bytes));
        }
    }
}
