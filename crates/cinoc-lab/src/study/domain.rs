//! `domain`: domains larger than the trained one, with equal numbers of agents per area.

use super::{Case, Chart, RATIO, Scale, Study, Subject, score};
use cinoc::Error;

/// Instances on domains that are much larger than the trained one.
const FEW: usize = 16;

pub const STUDY: Study = Study {
    name: "domain",
    about: "Domains several times as long as the trained one, with equal numbers of agents and nodes per area.",
    x: Scale::log("length over trained length"),
    y: RATIO,
    chart: Chart::Lines,
    effort: false,
    cases,
    measure: score,
};

fn cases(subject: &Subject) -> Result<Vec<Case>, Error> {
    let d = subject.problem.swarm.dimensions() as i32;
    let times: &[usize] = if d == 1 { &[1, 2, 4, 8, 16] } else { &[1, 2, 4] };
    let offered = times.iter().filter(|times| subject.registry.enlarge(subject.config, **times).is_ok());
    // Uncontrolled runs on large domains take long: no more states than instances.
    let few = vec![format!("data.test_states={FEW}")];
    let case = |times: &usize| {
        let instances = subject.fewer((*times as f64).powi(d)).map(|n| n.min(FEW));
        let used = if instances.is_some() && subject.allows(&few) { few.clone() } else { Vec::new() };
        let line = "agents per area as trained".into();
        Case { line, x: *times as f64, used, enlarged: Some(*times), instances, ..Case::default() }
    };
    Ok(offered.map(case).collect())
}
