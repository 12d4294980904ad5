//! Recovery in closed loop: sensors fail in a settled field and return.

use super::fault::{Fault, Kind, below};
use super::{Case, loaded, names, shipped, state_with};
use cinoc::env::Env;
use cinoc::export::Program;
use cinoc::export::guard::READING_BOUND;
use cinoc::internal::random::{Rng, Stream};
use cinoc::internal::threads::Threads;
use cinoc::rollout::InitialCondition;
use cinoc::settings::Overlay;
use cinoc::{Real, Registry};
use std::ops::Range;

/// Number of episodes.
const EPISODES: usize = 64;

/// Ticks in which faults begin; at the end of them all readings are good again.
const FAULTS: Range<usize> = 150..180;

/// Ticks after the faults until the error is compared, and its largest ratio to that of episodes without a fault.
const RECOVERY: usize = 50;
const RATIO: f64 = 2.0;

/// Returns the policy that is tested; the environment variable `CINOC_MODEL` may name another one.
fn case() -> Case {
    loaded(&std::env::var("CINOC_MODEL").unwrap_or_else(|_| "heat1d:sharp".into()))
}

fn env(case: &Case) -> Env {
    let (problem, agents) = (&case.problem, case.problem.agents);
    let mut env = Env::new(problem.clone(), EPISODES, agents, Threads::single()).expect("an environment");
    env.reset(&[true; EPISODES], &mut |i| InitialCondition::drawn(problem, agents, 4, Stream::Test, i));
    env
}

/// Returns the mean squared error over all episodes.
fn error(env: &Env) -> f64 {
    let square = |i: usize| {
        let each = env.field(i).iter().zip(env.target(i)).map(|(z, target)| ((z - target) as f64).powi(2));
        each.sum::<f64>() / env.field(i).len() as f64
    };
    (0..EPISODES).map(square).sum::<f64>() / EPISODES as f64
}

/// Agents of all episodes, each with its own exported program.
struct Swarm {
    program: Program,
    states: Vec<Vec<Real>>,
}

impl Swarm {
    /// Steps all episodes until a tick; the readings of some agents are faulty.
    fn run(&mut self, env: &mut Env, faults: &mut [Option<Fault>], until: usize) {
        let (agents, width) = (env.agents(), self.program.readings());
        for tick in env.ticks_elapsed(0)..until {
            let mut actions = Vec::new();
            for i in 0..EPISODES {
                for (m, row) in env.readings(i).chunks_exact_mut(width).enumerate() {
                    if let Some(Some(fault)) = faults.get_mut(i * agents + m) {
                        fault.spoil(tick, row);
                    }
                    actions.extend(self.program.run(row, &mut self.states[i * agents + m]));
                }
            }
            env.step(&actions);
        }
    }
}

/// Faults that are noticed, and sensors that are stuck. Absurd readings within the bound are only reported: they enter
/// the memory.
#[test]
fn agents_recover_from_faulty_readings() {
    let case = case();
    let (mut env, program) = (env(&case), case.program(false));
    let all = EPISODES * env.agents();
    let states = vec![state_with(&program, &vec![0.0; program.memory()]); all];
    let mut swarm = Swarm { program: case.program(false), states };
    // The readings before a fault are those of a stuck sensor.
    swarm.run(&mut env, &mut [], FAULTS.start - 1);
    let (settled, states) = (env.snapshot(), swarm.states.clone());
    let mut errors = |faults: &mut [Option<Fault>]| {
        env.restore(&settled);
        swarm.states.clone_from(&states);
        [FAULTS.end, FAULTS.end + RECOVERY].map(|until| {
            swarm.run(&mut env, faults, until);
            error(&env)
        })
    };
    let sound = errors(&mut [])[1];
    for (k, kind) in Kind::ALL.into_iter().enumerate() {
        let drawn = |agent: usize| {
            let mut rng = Rng::new(k as u64, Stream::Failure, agent as u64);
            let begin = FAULTS.start + below(&mut rng, FAULTS.len());
            let fails = rng.uniform(0.0, 1.0) < 1.0 / 3.0;
            fails.then(|| Fault::drawn(rng, kind, begin..FAULTS.end, &program))
        };
        let mut faults: Vec<Option<Fault>> = (0..all).map(drawn).collect();
        let [end, after] = errors(&mut faults);
        let ratio = after / sound;
        println!("{kind:?}: error {end:.1e} at the end, {RECOVERY} ticks later {after:.2e}, {ratio:.2} times {sound:.2e}");
        assert!(after.is_finite() && (ratio < RATIO || !kind.mild()), "{kind:?}: {ratio}");
    }
}

/// The same for sensors that are switched off: half of them, or all of an agent.
#[test]
fn agents_recover_from_sensors_that_are_switched_off() {
    let case = case();
    let (points, mut env) = (case.problem.swarm.points(), env(&case));
    let agents = env.agents();
    let run = |env: &mut Env, ticks: usize| env.run(&*case.policy, &case.model.params, ticks, &mut |_| {});
    run(&mut env, FAULTS.start);
    let settled = env.snapshot();
    run(&mut env, FAULTS.len() + RECOVERY);
    let sound = error(&env);
    for (share, sensors) in [(1.0, 0.5), (1.0 / 3.0, 1.0), (2.0 / 3.0, 1.0), (1.0, 1.0)] {
        env.restore(&settled);
        let mut rng = Rng::new(8, Stream::Failure, 0);
        let begins: Vec<Option<usize>> =
            (0..EPISODES * agents).map(|_| (rng.uniform(0.0, 1.0) < share).then(|| below(&mut rng, FAULTS.len()))).collect();
        for tick in 0..FAULTS.len() {
            for (agent, _) in begins.iter().enumerate().filter(|(_, begin)| **begin == Some(tick)) {
                for point in (0..points).filter(|_| rng.uniform(0.0, 1.0) < sensors) {
                    env.set_sensor(agent / agents, agent % agents, Some(point), false);
                }
            }
            run(&mut env, 1);
        }
        (0..EPISODES * agents).for_each(|agent| env.set_sensor(agent / agents, agent % agents, None, true));
        let end = error(&env);
        run(&mut env, RECOVERY);
        let ratio = error(&env) / sound;
        println!("{share:.2} of the agents, {sensors} of their sensors: error {end:.1e}, then {ratio:.2} times {sound:.2e}");
        // Blind agents rest. Where all of them do, the field drifts further than it returns in this time.
        assert!(ratio.is_finite() && (ratio < RATIO || share * sensors > 0.5), "{share}, {sensors}: {ratio}");
    }
}

/// The range of the instruments does not cut off what sensors read, whatever the disturbance.
#[test]
fn readings_stay_well_within_the_range_of_the_instruments() {
    let registry = Registry::builtin();
    for name in names().into_iter().filter(|name| shipped(name).program(false).range() < READING_BOUND) {
        let mut model = loaded(name).model;
        let size = registry.sweeps(&model.config).expect("a problem").size;
        let changes = [format!("swarm.sensor_noise={}", 0.03 * size), "swarm.delay=5".into(), "swarm.lost.readings=0.2".into()];
        let changes = Overlay::from_pairs(changes).expect("settings");
        model.config = registry.change(&model.config, &changes).expect("settings");
        let (problem, policy) = model.build(&registry).expect("a problem");
        let case = Case { model, problem, policy };
        let (mut env, program) = (env(&case), case.program(false));
        let mut largest = vec![0.0; program.inputs().len()];
        for _ in 0..case.problem.ticks {
            for i in 0..EPISODES {
                for mut row in env.readings(i).chunks_exact(program.readings()) {
                    for (input, largest) in program.inputs().iter().zip(&mut largest) {
                        let (own, rest) = row.split_at(input.instrument.count);
                        *largest = own.iter().fold(*largest, |most: Real, x| most.max(x.abs()));
                        row = rest;
                    }
                }
            }
            env.run(&*case.policy, &case.model.params, 1, &mut |_| {});
        }
        let names = program.inputs().iter().map(|input| input.instrument.name);
        let all: Vec<String> = names.zip(&largest).map(|(name, most)| format!("{name} {most:.2}")).collect();
        println!("{name}: range {}, largest {}", program.range(), all.join(", "));
        assert!(largest.iter().all(|most| *most < 0.75 * program.range()), "{name}: {all:?}");
    }
}
