//! The same instance with several swarms.

use super::episode::episode;
use crate::draw::Scene;
use anyhow::{Result, bail};
use cinoc::Problem;
use cinoc::evaluate::Request;
use cinoc::policy::{Idle, Policy};
use cinoc::tape::Params;
use cinoc::trace::trace;
use std::sync::Arc;

/// Share of the agents that die unless told otherwise.
const FAIL: f64 = 0.33;

/// Who acts in which instance.
pub struct Question<'a> {
    /// The policy.
    pub policy: &'a dyn Policy,
    /// Its parameters.
    pub params: &'a Params,
    /// All agents, and how they die if the user has said so.
    pub request: Request,
    /// Which instance.
    pub instance: usize,
    /// Ticks before control is switched on.
    pub before: usize,
}

/// All agents, half of them, and all of which some die.
pub fn scenes(problem: &Arc<Problem>, question: &Question) -> Result<Vec<Scene>> {
    let Question { request, instance, before, .. } = question;
    let all = request.agents;
    if all < 2 {
        bail!("--swarms cannot halve {all} agent; add --agents 2 or more");
    }
    let fail = if request.fail > 0.0 { request.fail } else { FAIL };
    let healthy = Request { fail: 0.0, ..request.clone() };
    let swarms = [healthy.clone(), Request { agents: all / 2, ..healthy.clone() }, Request { fail, ..request.clone() }];
    let nobody = Idle { action_width: problem.swarm.action_width() };
    let free = trace(problem, &nobody, &Params::default(), &healthy, *instance, *before)?;
    if free.z.len() <= before + problem.ticks {
        bail!("this episode diverged before control was switched on; try another --instance or a smaller --before");
    }
    let scene = |request: &Request| {
        let controlled = trace(problem, question.policy, question.params, request, *instance, *before)?;
        let agents = format!("{} agent{}", request.agents, if request.agents == 1 { "" } else { "s" });
        let name = match request.dead() {
            0 => agents,
            1 => format!("{agents}, 1 dies at tick {}", request.dead_from(problem)),
            dead => format!("{agents}, {dead} die at tick {}", request.dead_from(problem)),
        };
        let result = match controlled.diverged {
            Some(tick) => format!("diverged at tick {tick}"),
            None => format!("{} {}", score(problem), two_digits(controlled.score)),
        };
        Ok(Scene { episode: episode(problem, name.clone(), controlled, &free)?, name, result })
    };
    swarms.iter().map(scene).collect()
}

/// What the score is, in a word or two.
fn score(problem: &Problem) -> String {
    let (task, at) = (&problem.task, problem.task.scored_at(problem.ticks));
    let what = task.reading().title.split(' ').next().unwrap_or_default();
    // A score that is not the square at one tick is that of all.
    if task.square_in_score(at, problem.ticks) == Some(1.0) { what.into() } else { format!("mean {what}") }
}

/// A number with two digits, as one writes it.
fn two_digits(x: f64) -> String {
    match x.abs() {
        size if (9.95..1e4).contains(&size) => format!("{x:.0}"),
        size if (0.995..9.95).contains(&size) => format!("{x:.1}"),
        size if (0.0995..0.995).contains(&size) => format!("{x:.2}"),
        size if (0.00995..0.0995).contains(&size) => format!("{x:.3}"),
        _ => format!("{x:.1e}"),
    }
}
