//! `failure`: failing agents, by share and time.

use super::{Case, Chart, RATIO, Scale, Study, Subject, score};
use cinoc::Error;

pub const STUDY: Study = Study {
    name: "failure",
    about: "Failing agents: share of them, and time of failure.",
    x: Scale::linear("share of failing agents"),
    y: RATIO,
    chart: Chart::Lines,
    effort: false,
    cases,
    measure: score,
};

fn cases(_: &Subject) -> Result<Vec<Case>, Error> {
    let moments = [(0.0, "from the start"), (0.25, "after a quarter"), (0.5, "halfway"), (0.75, "after three quarters")];
    let case = |(fail_at, line): (f64, &str), fail: f64| Case { line: line.into(), x: fail, fail, fail_at, ..Case::default() };
    Ok(moments.into_iter().flat_map(|moment| [0.0, 0.1, 0.2, 0.3, 0.5, 0.7].map(|share| case(moment, share))).collect())
}
