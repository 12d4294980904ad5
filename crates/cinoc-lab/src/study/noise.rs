//! `noise`: noise of sensors and actuators, in use only, and in training and use.

use super::{Case, Chart, RATIO, Scale, Study, Subject, score};
use cinoc::Error;

pub const STUDY: Study = Study {
    name: "noise",
    about: "Noise of sensors (on every value of the field) and of actuators (on every push): in use only, and in training too.",
    x: Scale::log("standard deviation, of the field's or the push's size"),
    y: RATIO,
    chart: Chart::Lines,
    effort: false,
    cases,
    measure: score,
};

/// Standard deviations relative to the size of the disturbed quantity.
const SIZES: [f64; 5] = [1e-4, 1e-3, 0.01, 0.03, 0.1];

/// Standard deviation that policies are trained with.
const LEARNT: f64 = 0.01;

fn cases(subject: &Subject) -> Result<Vec<Case>, Error> {
    let mut cases = Vec::new();
    // Fields are of order one, except vorticity; pushes have a limit, as have velocities where agents act by moving.
    let kinds = [
        ("sensors", "swarm.sensor_noise", Some(subject.registry.sweeps(subject.config)?.size)),
        ("actuators", "swarm.actuator_noise", subject.number("swarm.u_limit").or(subject.number("swarm.v_limit"))),
    ];
    for (name, key, size) in kinds {
        let Some(size) = size.filter(|size| subject.allows(&[format!("{key}={size:?}")])) else { continue };
        for learnt in [false, true] {
            let trained = learnt.then(|| vec![format!("{key}={:?}", LEARNT * size)]);
            let line = if learnt { format!("{name}, trained with {LEARNT}") } else { name.to_owned() };
            for x in SIZES {
                let used = vec![format!("{key}={:?}", x * size)];
                cases.push(Case { line: line.clone(), x, trained: trained.clone(), used, ..Case::default() });
            }
        }
    }
    Ok(cases)
}
