//! `view`: range of view of the agents, trained for each.

use super::{Case, Chart, RATIO, Scale, Study, Subject, score};
use cinoc::Error;

pub const STUDY: Study = Study {
    name: "view",
    about: "Agents that see half as far up to the whole field; policies are trained for each.",
    x: Scale::log("agents"),
    y: RATIO,
    chart: Chart::Lines,
    effort: false,
    cases,
    measure: score,
};

fn cases(subject: &Subject) -> Result<Vec<Case>, Error> {
    // On a rectangle a window is at most as wide as the shorter side.
    let side = |axis| subject.number(&format!("physics.length{axis}"));
    let length = side("").or_else(|| Some(side("_x")?.min(side("_y")?)));
    let (Some(window), Some(length)) = (subject.number("observe.window"), length) else {
        return Ok(Vec::new());
    };
    let mut windows: Vec<f64> = [0.5, 1.0, 2.0, 4.0].map(|times| times * window).into();
    windows.retain(|wide| *wide < 0.9 * length);
    windows.push(length);
    let mut cases = Vec::new();
    for wide in windows {
        let trained = vec![format!("observe.window={wide:?}")];
        if !subject.allows(&trained) {
            continue;
        }
        for times in [0.5, 1.0, 2.0, 4.0] {
            let agents = subject.agents(times);
            let line = format!("window {wide:.3}").trim_end_matches('0').trim_end_matches('.').to_owned();
            let instances = subject.fewer(times);
            let trained = Some(trained.clone());
            cases.push(Case { line, x: agents as f64, trained, agents: Some(agents), instances, ..Case::default() });
        }
    }
    Ok(cases)
}
