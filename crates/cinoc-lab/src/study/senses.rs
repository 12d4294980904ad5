//! `senses`: what agents sense of their own state, remember and hear, each left out or added in training.

use super::{Case, Chart, RATIO, Scale, Study, Subject, score};
use cinoc::Error;

pub const STUDY: Study = Study {
    name: "senses",
    about: "Ages, roughness, fitted slopes, the last push, a gate and messages, each left out or added; trained for each.",
    x: Scale::linear("row"),
    y: RATIO,
    chart: Chart::Card,
    effort: false,
    cases,
    measure: score,
};

/// Inputs of a policy and the settings that switch them.
const SENSES: [(&str, &str); 5] = [
    ("ages", "observe.ages"),
    ("roughness", "observe.roughness"),
    ("fitted slopes", "observe.fitted_slopes"),
    ("last push", "policy.own_push"),
    ("gated memory", "policy.memory_gate"),
];

fn cases(subject: &Subject) -> Result<Vec<Case>, Error> {
    let size = subject.registry.sweeps(subject.config)?.size;
    let has = |key: &str| subject.config.get(key).and_then(|value| value.as_bool()).unwrap_or(false);
    let mut policies = vec![("as trained".to_owned(), String::new())];
    for (what, key) in SENSES {
        let how = if has(key) { "without" } else { "with" };
        policies.push((format!("{how} {what}"), format!("{key}={}", !has(key))));
    }
    for numbers in [2, 4] {
        policies.push((format!("with messages of {numbers} numbers"), format!("policy.messages={numbers}")));
    }
    let noise = format!("swarm.sensor_noise={:?}", 0.01 * size);
    let uses =
        [("", vec![]), (", noise 0.01", vec![noise.clone()]), (", noise 0.01, delay 5", vec![noise, "swarm.delay=5".into()])];
    let mut cases = Vec::new();
    for (what, pair) in &policies {
        let trained: Vec<String> = if pair.is_empty() { Vec::new() } else { vec![pair.clone()] };
        if !subject.allows(&trained) {
            continue;
        }
        for (words, used) in &uses {
            let (x, line) = (cases.len() as f64 + 1.0, format!("{what}{words}"));
            cases.push(Case { line, x, trained: Some(trained.clone()), used: used.clone(), ..Case::default() });
        }
    }
    Ok(cases)
}
