//! Bits do not depend on the number of threads or segments.

mod common;

use cinoc::internal::random::{Rng, Stream};
use cinoc::internal::sense::Observation;
use cinoc::internal::threads::Threads;
use cinoc::policy::{Context, Decision, Policy, PolicyInputs};
use cinoc::rollout::{Control, GradientTargets, Loss};
use cinoc::train::Trainer;
use cinoc::{Config, Real};
use cinoc_tape::{Leaves, Params, Shape};
use common::{config, names, parts, rollout};

fn short(problem: &str) -> Config {
    config(problem, &["physics.ticks=12", "train.batch=14", "train.shard=3", "train.updates=4", "train.validate_instances=5"])
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    for name in names() {
        let run = |threads: usize| -> (Vec<Real>, Vec<u64>) {
            let mut trainer = Trainer::new(parts(&short(name)), 3, Threads::new(threads).unwrap()).unwrap();
            let mut costs = Vec::new();
            while !trainer.finished() {
                let progress = trainer.step().unwrap();
                costs.extend([
                    progress.cost.to_bits(),
                    progress.gradient.to_bits(),
                    progress.validation.unwrap_or(0.0).to_bits(),
                ]);
            }
            (trainer.params.theta().to_vec(), costs)
        };
        let one = run(1);
        for threads in [2, 3, 7] {
            assert!(run(threads) == one, "{name}: {threads} threads differ from one");
        }
    }
}

/// Variants of noise, delay, horizon and coefficients: any number of threads gives the same bits, and each kind of
/// variant has its effect.
#[test]
fn variants_have_the_same_bits_on_any_number_of_threads() {
    let run = |threads: usize, changes: &[&str]| -> Vec<Real> {
        let all = [&["physics.ticks=12", "train.batch=14", "train.shard=3", "train.updates=3", "train.variants=5"][..], changes];
        let config = common::with_policy("heat1d", &all.concat(), "recurrent");
        let mut trainer = Trainer::new(parts(&config), 3, Threads::new(threads).unwrap()).unwrap();
        while !trainer.finished() {
            trainer.step().unwrap();
        }
        trainer.params.theta().to_vec()
    };
    let usual = run(1, &[]);
    assert!(run(1, &["train.vary=[\"swarm.delay = 0\"]"]) == usual, "a variant that changes nothing changes no bit");
    let noisy = "train.vary=[\"swarm.sensor_noise = 0.01..0.1\"]";
    let plain = run(1, &[noisy]);
    assert!(plain != run(1, &[noisy, "train.noise_factor=[0.5, 2.0]"]));
    let limited = run(1, &["train.clip_shard=1e-3"]);
    assert!(limited != usual && run(3, &["train.clip_shard=1e-3"]) == limited && run(1, &["train.clip_shard=1e9"]) == usual);
    let decaying = run(1, &["train.gradient_decay=0.9"]);
    assert!(decaying != usual && run(3, &["train.gradient_decay=0.9"]) == decaying);
    let lines = ["swarm.delay = 0..4", "swarm.sensor_noise = 0.01..0.1", "physics.ticks = 12 | 7", "physics.nu = 0.1..0.4"];
    for line in lines.into_iter().chain(["swarm.lost.readings = 0.1..0.5", "swarm.actuator_bias = 0.1..1.5"]) {
        let varied = format!("train.vary=[{line:?}]");
        let one = run(1, &[&varied]);
        assert!(one != usual, "{line} has no effect");
        assert!(run(3, &[&varied]) == one, "{line}: three threads differ from one");
    }
}

/// Variants that a policy cannot act on, and settings that are not the problem's, are refused.
#[test]
fn variants_that_do_not_fit_are_refused() {
    let registry = cinoc::Registry::builtin();
    for (line, reason) in [
        ("observe.points = 12", "leave the inputs and outputs of the policy"),
        ("swarm.agents = 4..16", "train.agents"),
        ("train.rate = 0.1..0.2", "not of policy or train"),
        ("swarm.dealy = 3", "swarm.delay"),
        ("swarm.delay = 3..1", "train.vary"),
        ("swarm.delay = 0..500", "swarm.delay"),
    ] {
        let config = config("heat1d", &[&format!("train.vary=[{line:?}]")]);
        let text = registry.parts(&config).err().expect(line).to_string();
        assert!(text.contains(reason), "{line}: {text}");
    }
    let judged = config("heat1d", &["train.validate_variants=[\"swarm.agents=4\"]"]);
    let text = registry.parts(&judged).err().expect("another number of agents").to_string();
    assert!(text.starts_with("train.validate_variants cannot be"), "{text}");
}

#[test]
fn any_number_of_segments_gives_the_same_gradient() {
    for name in names() {
        let parts = parts(&short(name));
        let params = parts.policy.init(&mut Rng::new(1, Stream::Init, 0));
        let gradient = |segment: usize, keep: bool| {
            let mut rollout = rollout(&parts.problem, 4, segment, keep);
            let control = Control::Policy(&*parts.policy, &params);
            let wanted = GradientTargets { start: true, ..GradientTargets::PARAMS };
            let found = rollout.forward(&parts.problem, control, wanted, &mut |_| {}).backward(Loss::cost(0.25));
            let gradients = [found.params, found.start, found.positions].map(<[Real]>::to_vec);
            (gradients, rollout.costs.clone())
        };
        let whole = gradient(12, true);
        assert!(whole.0[0].iter().any(|g| g.abs() > 1e-6));
        for (segment, keep) in [(1, true), (1, false), (2, false), (5, true), (5, false), (11, true), (40, false)] {
            // Bit by bit: the cotangents of a segment's initial state are passed on in the order in which one long tape
            // would add them.
            assert!(gradient(segment, keep) == whole, "{name}: segments of {segment}, kept {keep}");
        }
    }
}

/// A policy with a new constant in every tick; one that reads its observation cannot be replayed.
struct Peculiar {
    usual: Box<dyn Policy>,
    looks: bool,
}

impl Policy for Peculiar {
    fn shapes(&self) -> Vec<(String, Shape)> {
        self.usual.shapes()
    }

    fn init(&self, rng: &mut Rng) -> Params {
        self.usual.init(rng)
    }

    fn declared(&self) -> PolicyInputs {
        self.usual.declared()
    }

    fn act<'t>(&self, theta: &Leaves<'t>, seen: &Observation<'t>, context: &Context<'t>) -> Decision<'t> {
        assert!(!self.looks || seen.patch().value().iter().all(|x| x.is_finite()));
        // The first weight again: a loop-invariant value with a cotangent.
        let weight = theta.get(0).reshape([theta.get(0).shape().count()]).columns(0, 1);
        let usual = self.usual.act(theta, seen, context);
        Decision { raw: usual.raw + weight * theta.tape().constant([1], &[0.5]), ..usual }
    }
}

#[test]
fn peculiar_policies_have_the_same_gradient_in_all_segments() {
    let problem = parts(&short("ks1d")).problem;
    let policy = |looks| Peculiar { usual: parts(&short("ks1d")).policy, looks };
    let params = policy(false).init(&mut Rng::new(1, Stream::Init, 0));
    let gradient = |looks: bool, segment: usize, keep: bool| {
        let (mut rollout, policy) = (rollout(&problem, 4, segment, keep), policy(looks));
        let episode = rollout.forward(&problem, Control::Policy(&policy, &params), GradientTargets::PARAMS, &mut |_| {});
        episode.backward(Loss::cost(0.25)).params.to_vec()
    };
    let whole = gradient(false, 12, true);
    let size = whole.iter().fold(0.0, |most: Real, g| most.max(g.abs()));
    for looks in [false, true] {
        for (segment, keep) in [(12, true), (1, true), (1, false), (5, true), (5, false)] {
            let found = gradient(looks, segment, keep);
            let off = whole.iter().zip(&found).fold(0.0, |most: Real, (a, b)| most.max((a - b).abs()));
            assert!(off < 1e-4 * size, "looks {looks}, segments of {segment}, kept {keep}: off by {off} of {size}");
        }
    }
}
