//! `cardinality`: numbers of agents other than the trained one, without retraining.

use super::{Case, Chart, RATIO, Scale, Study, Subject, score};
use cinoc::Error;

/// Multiples of the trained number.
const TIMES: &[f64] = &[0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];

pub const STUDY: Study = Study {
    name: "cardinality",
    about: "Other numbers of agents than the trained one, from a quarter to 64 times, and those of the published curve.",
    x: Scale::log("agents over trained agents"),
    y: RATIO,
    chart: Chart::Lines,
    effort: true,
    cases,
    measure: score,
};

fn cases(subject: &Subject) -> Result<Vec<Case>, Error> {
    let trained = subject.problem.agents;
    let mut counts: Vec<usize> = TIMES.iter().map(|times| subject.agents(*times)).collect();
    // At the published numbers themselves too, not only at the same multiples.
    let published = subject.registry.sweeps(subject.config)?.published;
    counts.extend(published.iter().flat_map(|published| published.percent).map(|(agents, _)| *agents));
    counts.sort_unstable();
    counts.dedup();
    let case = |agents: usize| {
        let x = agents as f64 / trained as f64;
        Case { line: "ours".into(), x, agents: Some(agents), instances: subject.fewer(x), ..Case::default() }
    };
    Ok(counts.into_iter().map(case).collect())
}
