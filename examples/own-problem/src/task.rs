//! From one random pattern of phases to another, which is then held: without control it would decay.

use cinoc::prelude::*;

// Nodes of the ring.
pub const NODES: usize = 64;

settings! {
    /// Initial and target patterns, and the cost of pushes.
    pub struct Hold {
        /// Number of waves in a pattern.
        waves: usize = 1..=32,
        /// Weight of the mean of u², relative to the squared error.
        effort: f64 = 0.0..=1e6,
    }
}

impl Hold {
    fn pattern(&self, rng: &mut Rng) -> Vec<Real> {
        let waves: Vec<_> = (1..=self.waves).map(|k| (std::f64::consts::TAU * k as f64, rng.normal(), rng.normal())).collect();
        let sum = |x: f64| waves.iter().map(|(k, a, b)| a * (k * x).cos() + b * (k * x).sin()).sum::<f64>();
        (0..NODES).map(|i| sum(i as f64 / NODES as f64).tanh() as Real).collect()
    }
}

impl Task for Hold {
    fn sample(&self, rng: &mut Rng, _: Split) -> Instance {
        Instance { start: self.pattern(rng), target: self.pattern(rng) }
    }

    fn terms(&self) -> &[&'static str] {
        &["error", "effort"]
    }

    fn cost<'t>(&self, after: &Transition<'t>, add: &mut dyn FnMut(Var<'t>)) {
        add((after.z - after.target).square().mean_keeping(1));
        add(after.action.square().mean_keeping(1) * self.effort as Real);
    }

    fn measures(&self) -> &[&'static str] {
        &["held", "last"]
    }

    fn measure(&self, status: &Status, measures: &mut [f64]) {
        measures[1] = mean_square(status.z, status.target);
        measures[0] += if status.tick > status.ticks / 2 { measures[1] / status.ticks.div_ceil(2) as f64 } else { 0.0 };
    }
}
