//! `robust`: the scorecard of a policy, one disturbance after another.

use super::{Case, Chart, RATIO, Scale, Study, Subject, score};
use cinoc::Error;
use cinoc::internal::place::Placement;

pub const STUDY: Study = Study {
    name: "robust",
    about: "Scorecard: noise, bias, delay, lost readings, gains, coefficients, a load, failures, positions, numbers of agents.",
    x: Scale::linear("row"),
    y: RATIO,
    chart: Chart::Card,
    effort: false,
    cases,
    measure: score,
};

/// Sensor noise and bias, relative to the size of the field.
const NOISES: [f64; 3] = [0.001, 0.01, 0.03];
const BIASES: [f64; 2] = [0.001, 0.01];

/// Bias of pushes, relative to their limit.
const LOAD: f64 = 0.02;

/// Long days: episodes, and instances at most.
const EPISODES: usize = 10;
const LONG_INSTANCES: usize = 32;

/// Rows of the card in order.
struct Card<'a> {
    subject: &'a Subject<'a>,
    rows: Vec<Case>,
}

impl Card<'_> {
    /// Adds a row, if the problem has all settings that it changes.
    fn add(&mut self, line: impl Into<String>, used: &[String], case: Case) {
        if self.subject.allows(used) {
            let x = self.rows.len() as f64 + 1.0;
            self.rows.push(Case { line: line.into(), x, used: used.to_vec(), ..case });
        }
    }
}

fn cases(subject: &Subject) -> Result<Vec<Case>, Error> {
    let sweeps = subject.registry.sweeps(subject.config)?;
    let (size, usual) = (sweeps.size, Case::default);
    let noise = |share: f64| format!("swarm.sensor_noise={:?}", share * size);
    let bias = |share: f64| format!("swarm.sensor_bias={:?}", share * size);
    let delay = |ticks: usize| format!("swarm.delay={ticks}");
    let lost = |what: &str, share: f64| format!("swarm.lost.{what}={share:?}");
    let gain = |times: f64| format!("policy.output_gain={:?}", times * subject.number("policy.output_gain").unwrap_or(1.0));
    let push = subject.number("swarm.u_limit").or(subject.number("swarm.v_limit")).unwrap_or(0.0);
    let load = |share: f64| format!("swarm.actuator_bias={:?}", share * LOAD * push);
    // Agents are told the trained coefficient, if any, never the true one.
    let coefficient = |sweep: &cinoc::problem::Sweep, times: f64| {
        let trained = subject.number(sweep.key).unwrap_or_default();
        let belief = sweep.believed.map(|key| format!("{key}={trained:?}"));
        let belief = belief.filter(|pair| subject.allows(std::slice::from_ref(pair)));
        belief.into_iter().chain([format!("{}={:?}", sweep.key, times * trained)]).collect::<Vec<_>>()
    };
    let mut card = Card { subject, rows: Vec::new() };
    card.add("undisturbed", &[], usual());
    NOISES.into_iter().for_each(|share| card.add(format!("sensor noise {share}"), &[noise(share)], usual()));
    BIASES.into_iter().for_each(|share| card.add(format!("sensor bias {share}"), &[bias(share)], usual()));
    [1, 2, 5, 7].into_iter().for_each(|ticks| card.add(format!("delay {ticks}"), &[delay(ticks)], usual()));
    for (share, ticks) in [(0.01, 5), (0.03, 5)] {
        card.add(format!("noise {share}, delay {ticks}"), &[noise(share), delay(ticks)], usual());
    }
    card.add("30 % of views late", &[lost("views", 0.3)], usual());
    for share in [0.05, 0.2, 0.5] {
        card.add(format!("{:.0} % of readings lost", 100.0 * share), &[lost("readings", share)], usual());
    }
    card.add("10 % of sensors fail", &[lost("sensors", 0.1)], usual());
    card.add("10 % of agents go blind", &[lost("blind", 0.1)], usual());
    [0.5, 2.0].into_iter().for_each(|times| card.add(format!("gain × {times}"), &[gain(times)], usual()));
    for sweep in sweeps.physics {
        for times in [0.5, 2.0] {
            card.add(format!("{} × {times}", sweep.symbol), &coefficient(sweep, times), usual());
        }
    }
    card.add(format!("load of {LOAD} of the limit"), &[load(1.0)], usual());
    for (fail_at, when) in [(0.0, "at the start"), (0.5, "halfway"), (0.9, "late")] {
        card.add(format!("30 % fail {when}"), &[], Case { fail: 0.3, fail_at, ..usual() });
    }
    card.add("random positions", &[], Case { places: Placement::Random, ..usual() });
    for (times, what) in [(0.5, "half the agents"), (2.0, "twice the agents"), (4.0, "four times the agents")] {
        card.add(what, &[], Case { agents: Some(subject.agents(times)), ..usual() });
    }
    let half = [noise(0.005), bias(0.0005), delay(2), lost("readings", 0.1), lost("sensors", 0.05), gain(0.75), load(0.5)];
    let mixed = sweeps.physics.first().map_or_else(Vec::new, |sweep| coefficient(sweep, 1.4));
    card.add("all at half strength", &[&half[..], &mixed].concat(), Case { fail: 0.15, fail_at: 0.5, ..usual() });
    // The field at rest or at its target for a long time, clean and disturbed, each beside one episode of these instances.
    let episode = subject.number("physics.ticks").unwrap_or_default() as usize;
    let disturbed = [noise(0.01), delay(3)];
    // Not where the score is that of an earlier tick.
    let lengths = [(1, "one episode"), (EPISODES, "ten episodes")];
    for (episodes, what) in lengths.into_iter().filter(|_| subject.problem.task.scored_at(episode) == episode) {
        let ticks = format!("physics.ticks={}", episodes * episode);
        let long = || Case { instances: Some(LONG_INSTANCES), ..usual() };
        card.add(what, std::slice::from_ref(&ticks), long());
        card.add(format!("{what}, noise 0.01, delay 3"), &[&disturbed[..], &[ticks]].concat(), long());
    }
    Ok(card.rows)
}
