//! Immobile agents, and initial states of chaotic problems.

mod common;

use cinoc::Real;
use cinoc::internal::attractor::{Attractor, USES};
use cinoc::internal::random::{Rng, Split, Stream};
use cinoc::internal::registry::Parts;
use cinoc::problem::Problem;
use cinoc::rollout::{Control, GradientTargets, Rollout};
use cinoc_pde::equation::KuramotoSivashinsky2d;
use cinoc_pde::sampler::settle;
use common::{config, parts, problem};

const CHAOTIC: [&str; 3] = ["ks1d", "ks2d", "turbulence2d"];

fn states(problem: &Problem, attractor: &Attractor, purpose: Split, seed: u64) -> Vec<Vec<Real>> {
    attractor.states(purpose, seed).chunks_exact(problem.stepper.grid().count()).map(<[Real]>::to_vec).collect()
}

#[test]
fn agents_start_in_cell_centres() {
    let line = problem("ks1d", &[]).swarm.start(4);
    assert_eq!(line, [2.75, 8.25, 13.75, 19.25]);
    let plane = problem("turbulence2d", &[]);
    assert_eq!(plane.swarm.start(4), [0.25, 0.25, 0.25, 0.75, 0.75, 0.25, 0.75, 0.75]);
    for agents in [1, 2, 3, 7, 36, 90, 101] {
        let xi = plane.swarm.start(agents);
        assert_eq!(xi.len(), 2 * agents);
        assert!(xi.iter().all(|x| (0.0..1.0).contains(x)));
        // All agents have similar nearest-neighbour distances.
        let nearest = |i: usize| {
            let gap = |j: usize| (xi[2 * i] - xi[2 * j]).hypot(xi[2 * i + 1] - xi[2 * j + 1]);
            (0..agents).filter(|&j| j != i).map(gap).fold(Real::INFINITY, Real::min)
        };
        let closest = (0..agents).map(nearest).fold(Real::INFINITY, Real::min);
        assert!(agents == 1 || closest > 0.7 / (agents as Real).sqrt(), "{agents} agents, {closest} apart");
    }
}

/// Held-out states come in order, each once; no two splits and no two seeds share a state.
#[test]
fn no_state_is_used_twice() {
    const SEEDS: [u64; 3] = [0, 9, 1000];
    for name in CHAOTIC {
        let problem = problem(name, &[]);
        let attractor = problem.task.attractor().expect("an attractor");
        let of_seed =
            |seed: u64| USES.into_iter().flat_map(|purpose| states(&problem, attractor, purpose, seed)).collect::<Vec<_>>();
        let mut all: Vec<Vec<Real>> = SEEDS.into_iter().flat_map(of_seed).collect();
        let each = USES.iter().map(|&purpose| attractor.size(purpose)).sum::<usize>();
        assert_eq!(all.len(), SEEDS.len() * each);
        assert!(all.iter().all(|state| state.iter().all(|z| z.is_finite())));
        all.sort_by(|a, b| a.partial_cmp(b).expect("numbers"));
        assert!(all.windows(2).all(|pair| pair[0] != pair[1]), "{name}: two equal states");
        for (stream, purpose) in [(Stream::Validate, Split::Validation), (Stream::Test, Split::Test)] {
            let size = attractor.size(purpose);
            let draw = |i: usize| problem.task.sample(&mut Rng::new(9, stream, i as u64), purpose).start;
            let held = states(&problem, attractor, purpose, 9);
            assert_eq!((0..size).map(draw).collect::<Vec<_>>(), held, "{name}: instance i is state i");
            assert!(!held.contains(&draw(size)), "{name}: after the last state they are reused with a symmetry");
        }
        // Training draws any state of its seed, transformed by a symmetry.
        let draw = |i: usize| problem.task.sample(&mut Rng::new(9, Stream::Train, i as u64), Split::Training).start;
        let sorted = |mut state: Vec<Real>| {
            state.iter_mut().for_each(|z| *z = z.abs());
            state.sort_by(Real::total_cmp);
            state
        };
        let own: Vec<Vec<Real>> = states(&problem, attractor, Split::Training, 9).into_iter().map(sorted).collect();
        for i in 0..12 {
            assert!(own.contains(&sorted(draw(i))), "{name}: training instance {i} is a transformed state of its seed");
        }
    }
}

/// States computed separately equal those computed together to the bit, in runs of several states and side by side.
#[test]
fn single_states_are_those_of_the_set() {
    // A new seed each time: sets of earlier tests are cached on disk.
    let seed = 1_000_000 + u64::from(std::process::id());
    for (name, settle, apart) in [("ks1d", "20", "2"), ("ks2d", "4", "2"), ("turbulence2d", "0.1", "0.05")] {
        let settings = [format!("data.settle={settle}"), format!("data.apart={apart}")];
        let settings = [&settings[0], &settings[1], "data.per_run=2", "data.test_states=37"];
        let (some, all) = (problem(name, &settings), problem(name, &settings));
        let which = [0, 3, 4, 36];
        some.task.attractor().expect("an attractor").make_some(Split::Test, seed, &which, &|_| {});
        let draw =
            |problem: &Problem, i: usize| problem.task.sample(&mut Rng::new(seed, Stream::Test, i as u64), Split::Test).start;
        let single: Vec<Vec<Real>> = which.iter().map(|&i| draw(&some, i)).collect();
        let held = states(&all, all.task.attractor().expect("an attractor"), Split::Test, seed);
        for (single, i) in single.iter().zip(which) {
            assert!(*single == held[i], "{name}: state {i}");
        }
        assert!(draw(&some, 7) == held[7], "{name}: other states are still available");
    }
}

/// Translations, reflections and rotations are symmetries of the equation: the uncontrolled evolution has the same mean
/// square.
#[test]
fn moved_states_evolve_as_before() {
    for name in CHAOTIC {
        let problem = problem(name, &["data.train_states=1"]);
        let mut squares = Vec::new();
        for i in 0..12 {
            let start = problem.task.sample(&mut Rng::new(1, Stream::Train, i), Split::Training).start;
            let end = settle(&*problem.stepper, &start, 20);
            let cube = end.iter().map(|&z| (z as f64).powi(3)).sum::<f64>().abs();
            squares.push([end.iter().map(|&z| (z as f64).powi(2)).sum::<f64>(), cube]);
        }
        for square in &squares {
            for k in 0..2 {
                let off = (square[k] - squares[0][k]).abs() / squares[0][0];
                assert!(off < 1e-3, "{name}: {square:?} against {:?}", squares[0]);
            }
        }
    }
}

/// Uncontrolled runs with a fifth of the substeps give the same field after a unit of time.
#[test]
fn coarser_substeps_suffice_without_control() {
    let problem = problem("ks2d", &[]);
    let start = problem.task.sample(&mut Rng::new(1, Stream::Test, 0), Split::Test).start;
    let [fine, coarse] = [20, 4].map(|substeps| {
        let stepper = KuramotoSivashinsky2d::stepper(problem.stepper.grid().clone(), 0.1, substeps);
        settle(&stepper, &start, 10)
    });
    let size = fine.iter().fold(0.0, |a: Real, z| a.max(z.abs()));
    let off = fine.iter().zip(&coarse).fold(0.0, |a: Real, (f, c)| a.max((f - c).abs()));
    assert!(off < 1e-3 * size, "off by {off} of {size}");
}

/// A policy without positions acts alike on a field and on the field shifted by one agent's cell.
#[test]
fn without_positions_agents_are_exchangeable() {
    let Parts { problem, policy, .. } = parts(&config("ks1d", &["observe.position=false", "physics.ticks=4"]));
    let params = policy.init(&mut Rng::new(2, Stream::Init, 0));
    let start = problem.task.sample(&mut Rng::new(1, Stream::Test, 0), Split::Test).start;
    let zero = vec![0.0; start.len()];
    // 128 nodes, 8 agents: a cell has 16 nodes.
    let shifted = [&start[16..], &start[..16]].concat();
    let ends = [&start, &shifted].map(|field| {
        let mut rollout = Rollout::new(4, 1, false, 8);
        rollout.batch.push(field, &zero, &problem.swarm.start(8));
        rollout.forward(&problem, Control::Policy(&*policy, &params), GradientTargets::default(), &mut |_| {});
        rollout.end().0.to_vec()
    });
    let back = [&ends[1][112..], &ends[1][..112]].concat();
    let off = ends[0].iter().zip(&back).fold(0.0, |a: Real, (x, y)| a.max((x - y).abs()));
    assert!(off < 1e-4, "off by {off}");
}

/// The longest wave invisible to a lattice of agents is shorter for the most even lattice than for a square one.
#[test]
fn the_most_even_lattice_observes_all_growing_waves() {
    let longest_unobserved = |staggered: bool| {
        let config = config("ks2d", &[&format!("swarm.staggered={staggered}")]);
        let problem = parts(&config).problem;
        let (length, xi) = (problem.stepper.grid().lengths[0] as f64, problem.swarm.start(100));
        let mut unobserved: f64 = f64::INFINITY;
        for (nx, ny) in (-6i32..=6).flat_map(|nx| (0..=6).map(move |ny| (nx, ny))).filter(|&n| n != (0, 0)) {
            let phase = |at: &[Real]| std::f64::consts::TAU * (nx as f64 * at[0] as f64 + ny as f64 * at[1] as f64) / length;
            // For the worst phase of a wave, the agents observe half the mean of 1 − |Σ exp(2i·phase)|/M of its square.
            let [c, s] = [f64::cos, f64::sin].map(|f| xi.chunks_exact(2).map(|at| f(2.0 * phase(at))).sum::<f64>());
            if 1.0 - c.hypot(s) / 100.0 < 0.05 {
                unobserved = unobserved.min(std::f64::consts::TAU / length * (nx as f64).hypot(ny as f64));
            }
        }
        unobserved
    };
    let (square, even) = (longest_unobserved(false), longest_unobserved(true));
    assert!(square < 1.0, "a growing wave (below 1) is invisible to the square lattice: {square}");
    assert!(even > 1.0, "every growing wave is visible to the most even lattice: {even}");
}
