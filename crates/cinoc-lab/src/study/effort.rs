//! `effort`: the weight of effort in the cost, trained for each; and the total effort of a swarm against its size.

use super::{Case, Chart, RATIO, Scale, Study, Subject, score};
use cinoc::Error;

pub const STUDY: Study = Study {
    name: "effort",
    about: "The weight of effort in the cost, trained for each; effort against the number of agents.",
    x: Scale::log("agents"),
    y: RATIO,
    chart: Chart::Lines,
    effort: true,
    cases,
    measure: score,
};

fn cases(subject: &Subject) -> Result<Vec<Case>, Error> {
    let Some(trained) = subject.number("cost.effort") else { return Ok(Vec::new()) };
    let mut cases = Vec::new();
    for factor in [0.1, 1.0, 10.0, 100.0, 1000.0] {
        let weight = factor * trained;
        for times in [0.5, 1.0, 2.0, 4.0] {
            let agents = subject.agents(times);
            cases.push(Case {
                line: format!("λ = {weight:.0e}"),
                x: agents as f64,
                trained: Some(vec![format!("cost.effort={weight:e}")]),
                agents: Some(agents),
                instances: subject.fewer(times),
                ..Case::default()
            });
        }
    }
    Ok(cases)
}
