//! `physics`: coefficients of the equation other than the trained ones.

use super::{Case, Chart, RATIO, Scale, Study, Subject, score};
use cinoc::Error;

pub const STUDY: Study = Study {
    name: "physics",
    about: "Other coefficients of the equation than the trained ones, with several numbers of agents.",
    x: Scale::log("agents"),
    y: RATIO,
    chart: Chart::Lines,
    effort: false,
    cases,
    measure: score,
};

fn cases(subject: &Subject) -> Result<Vec<Case>, Error> {
    let mut cases = Vec::new();
    for sweep in subject.registry.sweeps(subject.config)?.physics {
        // Agents are told the trained coefficient, if any, never the true one.
        let trained = subject.number(sweep.key).unwrap_or_default();
        let belief =
            sweep.believed.map(|key| format!("{key}={trained:?}")).filter(|pair| subject.allows(std::slice::from_ref(pair)));
        for value in sweep.values {
            for times in [0.5, 1.0, 2.0, 4.0] {
                let agents = subject.agents(times);
                cases.push(Case {
                    line: format!("{} = {value}", sweep.symbol),
                    x: agents as f64,
                    used: belief.iter().cloned().chain([format!("{}={value:?}", sweep.key)]).collect(),
                    agents: Some(agents),
                    instances: subject.fewer(times),
                    ..Case::default()
                });
            }
        }
    }
    Ok(cases)
}
