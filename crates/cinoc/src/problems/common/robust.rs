//! Recipes of robust policies: training with everything that may differ in use.

use crate::recipe::Train;
use crate::sense::Window;

/// Range of what a robust policy trains with.
pub struct Variation<'a> {
    /// Size of the field, the unit of sensor noise.
    pub size: f64,
    /// Largest push, or velocity where agents act by it: the unit of loads.
    pub push: f64,
    /// Coefficients of the equation that are halved and doubled.
    pub coefficients: &'a [(&'a str, f64)],
    /// Lengths of episodes, all equally likely.
    pub ticks: &'a [usize],
}

/// Longest actuation delay in training, in ticks.
const DELAY: usize = 5;

/// Range of the instruments, in sizes of the field.
pub const RANGE: f64 = 30.0;

/// Applies what all robust recipes have in common: agents sense age and roughness of their readings, their instruments
/// have a range, and they train with sensor noise, delay, lost readings, failing sensors, loads, other coefficients and
/// longer episodes.
pub fn harden(observe: &mut Window, train: &mut Train, variation: &Variation) {
    (observe.ages, observe.roughness, observe.range) = (true, true, RANGE * variation.size);
    vary(train, variation);
}

/// Applies what robust recipes have in common to training.
fn vary(train: &mut Train, &Variation { size, push, coefficients, ticks }: &Variation) {
    let noise = format!("{:?}..{:?}", 1e-3 * size, 0.03 * size);
    let lengths: Vec<String> = ticks.iter().map(usize::to_string).collect();
    train.vary = vec![
        format!("swarm.sensor_noise = 0 | {noise} | {noise} | {noise}"),
        format!("swarm.delay = 0..{DELAY}"),
        format!("physics.ticks = {}", lengths.join(" | ")),
        "swarm.lost.readings = 0 | 0 | 0.05..0.5".into(),
        "swarm.lost.sensors = 0 | 0 | 0 | 0.05..0.2".into(),
        format!("swarm.actuator_bias = 0 | 0 | 0 | {:?}..{:?}", 1e-3 * push, 0.02 * push),
    ];
    let halved_and_doubled = coefficients.iter().map(|(key, value)| format!("{key} = {:?}..{:?}", 0.5 * value, 2.0 * value));
    train.vary.extend(halved_and_doubled);
    train.variants = 64;
    train.scattered = 0.2;
    // One shard whose gradient explodes must not drown the others.
    (train.shard, train.clip_shard) = (4, 8.0);
    let noise = |share: f64| format!("swarm.sensor_noise={:?}", share * size);
    let longest = ticks.iter().max().copied().unwrap_or(2);
    train.validate_variants = vec![
        noise(0.01),
        format!("swarm.delay={DELAY} {}", noise(0.01)),
        "swarm.delay=2 swarm.lost.readings=0.2".into(),
        format!("physics.ticks={longest} swarm.delay=3 {}", noise(0.003)),
    ];
}
