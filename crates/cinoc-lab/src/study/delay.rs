//! `delay`: actions that take effect some ticks after they were decided.

use super::{Case, Chart, RATIO, Scale, Study, Subject, score};
use cinoc::Error;

pub const STUDY: Study = Study {
    name: "delay",
    about: "Actions that take effect some ticks after they were decided: in use only, and in training too.",
    x: Scale::linear("delay in ticks"),
    y: RATIO,
    chart: Chart::Lines,
    effort: false,
    cases,
    measure: score,
};

/// Delay that policies are trained with.
const LEARNT: usize = 3;

fn cases(_: &Subject) -> Result<Vec<Case>, Error> {
    let case = |learnt: bool, ticks: usize| Case {
        line: if learnt { format!("trained with {LEARNT}") } else { "trained without delay".into() },
        x: ticks as f64,
        trained: learnt.then(|| vec![format!("swarm.delay={LEARNT}")]),
        used: vec![format!("swarm.delay={ticks}")],
        ..Case::default()
    };
    Ok([false, true].into_iter().flat_map(|learnt| (0..=5).map(move |ticks| case(learnt, ticks))).collect())
}
