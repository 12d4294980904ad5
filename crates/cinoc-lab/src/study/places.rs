//! `positions`: random initial positions, and static agents.

use super::{Case, Chart, IMMOBILE, RATIO, Scale, Study, Subject, score};
use cinoc::Error;
use cinoc::internal::place::Placement;

pub const STUDY: Study = Study {
    name: "positions",
    about: "Agents that begin at random positions or in a cluster; agents that cannot move, in use only and in training too.",
    x: Scale::log("agents"),
    y: RATIO,
    chart: Chart::Lines,
    effort: false,
    cases,
    measure: score,
};

fn cases(subject: &Subject) -> Result<Vec<Case>, Error> {
    let still = vec![IMMOBILE.to_owned()];
    let moves = subject.number("swarm.v_limit").is_some() && subject.number("swarm.u_limit").is_some();
    let base = |line: &str| Case { line: line.into(), ..Case::default() };
    let mut lines = vec![
        base("on a lattice"),
        Case { places: Placement::Random, ..base("at random positions") },
        Case { places: Placement::Clustered, ..base("in a cluster") },
    ];
    if moves {
        lines.push(Case { used: still.clone(), ..base("immobile") });
        lines.push(Case { trained: Some(still), ..base("immobile, trained immobile") });
    }
    let with = |case: &Case, times: f64| {
        let agents = subject.agents(times);
        Case { x: agents as f64, agents: Some(agents), instances: subject.fewer(times), ..case.clone() }
    };
    Ok(lines.iter().flat_map(|case| [0.5, 1.0, 2.0, 4.0].map(|times| with(case, times))).collect())
}
