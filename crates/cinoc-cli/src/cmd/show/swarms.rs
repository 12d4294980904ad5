//! One instance with several swarms.

use super::Subject;
use super::episode::episode;
use crate::draw::Scene;
use anyhow::{Result, bail};
use cinoc::Problem;
use cinoc::evaluate::Request;

/// Share of the agents that fail unless given.
const FAIL: f64 = 0.33;

/// All agents, half of them, and all with some failing.
pub fn scenes(subject: &Subject, before: usize) -> Result<Vec<Scene>> {
    let Subject { problem, request, .. } = subject;
    let all = request.agents;
    if all < 2 {
        bail!("--swarms cannot halve {all} agent; add --agents 2 or more");
    }
    let fail = if request.fail > 0.0 { request.fail } else { FAIL };
    let healthy = Request { fail: 0.0, ..request.clone() };
    let swarms = [healthy.clone(), Request { agents: all / 2, ..healthy.clone() }, Request { fail, ..request.clone() }];
    let free = subject.uncontrolled(&healthy, before)?;
    if free.z.len() <= before + problem.ticks {
        bail!("this episode diverged before control was switched on; try another --instance or a smaller --before");
    }
    let scene = |request: &Request| {
        let controlled = subject.controlled(request, before)?;
        let agents = format!("{} agent{}", request.agents, if request.agents == 1 { "" } else { "s" });
        let name = match request.failed_agents() {
            0 => agents,
            1 => format!("{agents}, 1 fails at tick {}", request.failed_from(problem)),
            failed => format!("{agents}, {failed} fail at tick {}", request.failed_from(problem)),
        };
        let result = match controlled.diverged {
            Some(tick) => format!("diverged at tick {tick}"),
            None => format!("{} {}", score(problem), two_digits(controlled.score)),
        };
        Ok(Scene { episode: episode(problem, name.clone(), controlled, &free)?, name, result })
    };
    swarms.iter().map(scene).collect()
}

/// The score in a word or two.
fn score(problem: &Problem) -> String {
    let (task, at) = (&problem.task, problem.task.scored_at(problem.ticks));
    let what = task.plot_labels().title.split(' ').next().unwrap_or_default();
    // A score that is not of one tick is the mean over all.
    if task.square_in_score(at, problem.ticks) == Some(1.0) { what.into() } else { format!("mean {what}") }
}

/// Formats a number with two digits.
pub fn two_digits(x: f64) -> String {
    match x.abs() {
        size if (9.95..1e4).contains(&size) => format!("{x:.0}"),
        size if (0.995..9.95).contains(&size) => format!("{x:.1}"),
        size if (0.0995..0.995).contains(&size) => format!("{x:.2}"),
        size if (0.00995..0.0995).contains(&size) => format!("{x:.3}"),
        _ => format!("{x:.1e}"),
    }
}
