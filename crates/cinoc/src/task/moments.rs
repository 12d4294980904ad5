//! Transport of a density to a target, by matching moments.

use super::tracking::mean_square;
use super::{Collision, Effort, FinalError, Instance, SquaredError, Status, Task, Transition};
use crate::measure::Wasserstein2;
use crate::random::{Rng, Split};
use crate::{Real, settings};
use cinoc_pde::Grid;
use cinoc_pde::calculus::Moments;
use cinoc_tape::{Cotangents, Inputs, Op, Shape, Var};
use std::sync::Arc;

/// Weight of a difference in spread, relative to one in position.
const SPREAD: f64 = 0.5;

/// Density below which mass counts as zero, as in the equation.
const NOTHING: f64 = 1e-20;

/// `W = |μ − μ*| + ½|s − s*|` of the moments of a density and of its target, `[batch, 4]` each; output `[batch]`.
///
/// Its gradient points to the target even where supports do not overlap, where pointwise errors have no gradient.
pub struct MomentDistance;

/// Returns `(μ − μ*, |μ − μ*|, s − s*)` of one instance.
fn apart(m: &[Real], target: &[Real]) -> ([Real; 2], Real, Real) {
    let d = [m[1] - target[1], m[2] - target[2]];
    (d, (d[0] * d[0] + d[1] * d[1]).sqrt(), m[3] - target[3])
}

impl Op for MomentDistance {
    fn name(&self) -> &'static str {
        "moment distance"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        assert!(x[0] == x[1] && x[0].last() == Moments::COUNT, "moment distance: {:?} and {:?}", x[0], x[1]);
        Shape::new(&[x[0].rows()])
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], _: &mut [Real]) {
        let each = x[0].chunks_exact(Moments::COUNT).zip(x[1].chunks_exact(Moments::COUNT));
        for (y, (m, target)) in y.iter_mut().zip(each) {
            let (_, distance, spread) = apart(m, target);
            *y = distance + SPREAD as Real * spread.abs();
        }
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, _: &mut [Real]) {
        for (input, sign) in [(0, 1.0), (1, -1.0)] {
            let Some(bar) = bars.get(input) else { continue };
            for (b, bar) in bar.chunks_exact_mut(Moments::COUNT).enumerate() {
                let part = b * Moments::COUNT..(b + 1) * Moments::COUNT;
                let (d, distance, spread) = apart(&x[0][part.clone()], &x[1][part]);
                // At the target there is no direction: the derivative of the norm at zero is zero.
                let scale = if distance > 0.0 { sign * y_bar[b] / distance } else { 0.0 };
                bar[1] += scale * d[0];
                bar[2] += scale * d[1];
                if spread != 0.0 {
                    bar[3] += sign * SPREAD as Real * y_bar[b] * spread.signum();
                }
            }
        }
    }
}

/// Sum over the nodes of a field, in double precision. Input `[batch, …]`; output `[batch]`.
struct Mass;

impl Op for Mass {
    fn name(&self) -> &'static str {
        "mass"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        Shape::new(&x[0].sizes()[..1])
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], _: &mut [Real]) {
        let nodes = x[0].len() / y.len();
        for (y, field) in y.iter_mut().zip(x[0].chunks_exact(nodes)) {
            *y = field.iter().map(|&z| z as f64).sum::<f64>() as Real;
        }
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, _: &mut [Real]) {
        let nodes = x[0].len() / y_bar.len();
        let Some(bar) = bars.get(0) else { return };
        bar.chunks_exact_mut(nodes).zip(y_bar).for_each(|(bar, y_bar)| bar.iter_mut().for_each(|bar| *bar += y_bar));
    }
}

settings! {
    /// Positions and sizes of Gaussian blobs. Initial field and target are the same blob at two positions.
    pub struct BlobData {
        /// Range of both coordinates of the initial centre.
        start: [f64; 2] = -1e3..=1e3,
        /// Range of the target's centre along x.
        target_x: [f64; 2] = -1e3..=1e3,
        /// Range of the target's centre along y.
        target_y: [f64; 2] = -1e3..=1e3,
        /// Smallest distance of the two centres (given up after a thousand draws).
        apart: f64 = 0.0..=1e3,
        /// Width of a blob.
        sigma: [f64; 2] = 1e-3..=1e3,
        /// Height of a blob.
        amplitude: [f64; 2] = 1e-6..=1e6,
    }
}

impl Default for BlobData {
    /// The paper's settings.
    fn default() -> Self {
        Self {
            start: [0.2, 0.5],
            target_x: [0.4, 0.8],
            target_y: [0.5, 1.0],
            apart: 0.25,
            sigma: [0.08, 0.14],
            amplitude: [0.7, 1.0],
        }
    }
}

settings! {
    /// Weights of the cost of transporting a density. W is the distance of centroids plus half that of spreads.
    pub struct MomentCost {
        /// Weight of the mean of W over all ticks.
        w_mean: f64 = 0.0..=1e9,
        /// Weight of W after the last tick.
        w_last: f64 = 0.0..=1e9,
        /// Weight of the squared relative change of mass.
        mass: f64 = 0.0..=1e9,
        /// Weight of the mean of (ρ − ρ*)² over all ticks, doubled after the last; 0: off.
        track: f64 = 0.0..=1e9,
        /// Weight of the mean of |v|².
        effort: f64 = 0.0..=1e9,
        /// Weight of agents closer to each other than the radius.
        collide: f64 = 0.0..=1e9,
        /// Weight of changes of velocity between ticks.
        accel: f64 = 0.0..=1e9,
        /// Distance of agents below which they incur a collision cost.
        radius: f64 = 1e-9..=1e3,
        /// Weight of ln(e + 1e-5), e being the final mean of (ρ − ρ*)²; it rewards reducing small errors further.
        #[absent = 0.0]
        final_log: f64 = 0.0..=1e9,
    }
}

/// Terms of every cost; "track" and "final" are optional.
const TERMS: [&str; 6] = ["w_mean", "w_last", "mass", "effort", "collide", "accel"];

/// Mean square below which there is little further reward.
const FLOOR: f64 = 1e-5;

impl Default for MomentCost {
    /// The paper's settings.
    fn default() -> Self {
        Self {
            w_mean: 4.0,
            w_last: 8.0,
            mass: 6.0,
            track: 0.0,
            effort: 1e-3,
            collide: 14.0,
            accel: 0.1,
            radius: 0.15,
            final_log: 0.0,
        }
    }
}

/// Moment matching: a Gaussian blob is transported to another position by agents whose action is their velocity.
pub struct MomentMatching {
    x: Vec<f64>,
    y: Vec<f64>,
    data: BlobData,
    terms: Vec<&'static str>,
    /// Weight of each term.
    weights: Vec<f64>,
    moments: Arc<Moments>,
    mass: Arc<Mass>,
    distance: Arc<MomentDistance>,
    effort: Arc<Effort>,
    collision: Arc<Collision>,
    error: Arc<SquaredError>,
    last: Arc<FinalError>,
    wasserstein: Wasserstein2,
}

impl MomentMatching {
    /// Creates the task for densities on `grid`.
    pub fn new(grid: &Grid, data: &BlobData, cost: &MomentCost) -> Self {
        let mut terms = TERMS.to_vec();
        let mut weights = vec![cost.w_mean, cost.w_last, cost.mass, cost.effort, cost.collide, cost.accel];
        // Two separate piles can have the moments of one blob; the pointwise error distinguishes them.
        if cost.track > 0.0 {
            terms.push("track");
            weights.push(cost.track);
        }
        if cost.final_log > 0.0 {
            terms.push("final");
            weights.push(cost.final_log);
        }
        Self {
            x: grid.positions(0),
            y: grid.positions(1),
            data: data.clone(),
            terms,
            weights,
            moments: Arc::new(Moments::new(grid)),
            mass: Arc::new(Mass),
            distance: Arc::new(MomentDistance),
            effort: Arc::new(Effort { weights: vec![1.0, 1.0] }),
            collision: Arc::new(Collision { radius: cost.radius as Real }),
            error: Arc::new(SquaredError),
            last: Arc::new(FinalError { log: 1.0, floor: FLOOR as Real, root: 0.0 }),
            wasserstein: Wasserstein2::new(grid),
        }
    }

    fn blob(&self, centre: [f64; 2], sigma: f64, amplitude: f64) -> Vec<Real> {
        let bump = |d: f64| (-d * d / (2.0 * sigma * sigma)).exp();
        let density = |x: &f64, y: &f64| amplitude * bump(x - centre[0]) * bump(y - centre[1]);
        let cut = |z: f64| if z < NOTHING { 0.0 } else { z as Real };
        self.x.iter().flat_map(|x| self.y.iter().map(move |y| cut(density(x, y)))).collect()
    }
}

impl Task for MomentMatching {
    fn sample(&self, rng: &mut Rng, _: Split) -> Instance {
        let BlobData { start, target_x, target_y, apart, sigma, amplitude } = self.data;
        let mut draw = |[low, high]: [f64; 2]| rng.uniform(low, high);
        let (sigma, amplitude) = (draw(sigma), draw(amplitude));
        // Centres are sampled until they are far enough apart; where that is nearly impossible, the last draw is taken.
        let mut centres = [[0.0; 2]; 2];
        for _ in 0..1000 {
            centres = [[draw(start), draw(start)], [draw(target_x), draw(target_y)]];
            let [start, target] = centres;
            if (start[0] - target[0]).hypot(start[1] - target[1]) >= apart {
                break;
            }
        }
        let [start, target] = centres.map(|centre| self.blob(centre, sigma, amplitude));
        Instance { start, target }
    }

    fn terms(&self) -> &[&'static str] {
        &self.terms
    }

    fn weight(&self, term: usize, tick: usize, ticks: usize) -> f64 {
        let weight = self.weights[term];
        match self.terms[term] {
            "w_last" | "final" => weight * f64::from(u8::from(tick == ticks)),
            // Like the moments: the end counts twice as much as the mean.
            "track" => weight / ticks as f64 + if tick == ticks { 2.0 * weight } else { 0.0 },
            "accel" if tick == 1 => 0.0,
            "accel" => weight / (ticks - 1) as f64,
            _ => weight / ticks as f64,
        }
    }

    fn cost<'t>(&self, after: &Transition<'t>, add: &mut dyn FnMut(Var<'t>)) {
        let tape = after.z.tape();
        let moments = after.z.apply(&self.moments);
        let distance = tape.record(&self.distance, [moments, after.target.apply(&self.moments)]);
        add(distance);
        add(distance);
        let mass = after.start.apply(&self.mass);
        add((moments.columns(0, 1).reshape(mass.shape()) / mass - 1.0).square());
        add(after.action.apply(&self.effort));
        add(after.xi.apply(&self.collision));
        // The mean is over agents and both components, hence the factor two.
        add(tape.record(&self.error, [after.action, after.previous]) * 2.0);
        if self.terms.len() > TERMS.len() {
            let error = tape.record(&self.error, [after.z, after.target]);
            for term in &self.terms[TERMS.len()..] {
                add(if *term == "final" { error.apply(&self.last) } else { error });
            }
        }
    }

    fn measures(&self) -> &[&'static str] {
        &["mse", "w", "mass_drift", "w2"]
    }

    fn square_in_score(&self, tick: usize, ticks: usize) -> Option<f64> {
        Some(f64::from(u8::from(tick == ticks)))
    }

    fn measure(&self, status: &Status, measures: &mut [f64]) {
        if status.tick < status.ticks {
            return;
        }
        let [m, x, y, s] = self.moments.measure(status.z);
        let [_, x_target, y_target, s_target] = self.moments.measure(status.target);
        measures[0] = mean_square(status.z, status.target);
        measures[1] = (x - x_target).hypot(y - y_target) + SPREAD * (s - s_target).abs();
        measures[2] = (m / self.moments.measure(status.start)[0] - 1.0).abs();
        if status.thorough {
            measures[3] = self.wasserstein.distance(status.z, status.target);
        }
    }
}
