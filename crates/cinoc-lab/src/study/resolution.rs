//! `resolution`: grids other than the trained one.

use super::{Case, Chart, RATIO, Scale, Study, Subject, pairs, score};
use cinoc::Error;

pub const STUDY: Study = Study {
    name: "resolution",
    about: "Coarser and finer grids than the trained one, with several numbers of agents.",
    x: Scale::log("nodes along an axis"),
    y: RATIO,
    chart: Chart::Lines,
    effort: false,
    cases,
    measure: score,
};

fn cases(subject: &Subject) -> Result<Vec<Case>, Error> {
    let (trained, d) = (subject.number("physics.nodes").unwrap_or(1.0), subject.problem.swarm.dimensions() as i32);
    let mut cases = Vec::new();
    for times in [1.0, 2.0] {
        for (nodes, changes) in subject.registry.sweeps(subject.config)?.resolution {
            let agents = subject.agents(times);
            cases.push(Case {
                line: format!("{agents} agents"),
                x: *nodes as f64,
                used: pairs(changes),
                agents: Some(agents),
                instances: subject.fewer((*nodes as f64 / trained).powi(d)),
                ..Case::default()
            });
        }
    }
    Ok(cases)
}
