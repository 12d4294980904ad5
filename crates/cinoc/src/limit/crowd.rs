//! Reduction of pushes in crowds.

use crate::Real;
use crate::geometry::{Runs, cells_of_chunk};
use cinoc_pde::Grid;
use cinoc_tape::kernel::chunk::{LANES, load};
use cinoc_tape::kernel::math::sum_lanes;
use cinoc_tape::kernel::{parallel, vectorise};
use cinoc_tape::{Cotangents, Inputs, Op, Shape, Var};

/// Number of agents in a domain with a periodic axis up to which all pairs are tested; beyond, only those in neighbouring cells.
/// Both give the same sums up to the order of terms.
const ALL_PAIRS: usize = 1024;

/// Settings of the reduction of pushes in crowds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrowdSettings {
    /// Crowding above which agents push less: an agent counts 1 for itself, each neighbour up to 1. 0 disables the
    /// reduction.
    pub crowd: f64,
    /// Range within which neighbours count, in widths of a push: 1 if pushes overlap, more if agents are too far apart
    /// for that.
    pub crowd_width: f64,
}

/// Division of each agent's strength by the crowding around it, above the threshold `threshold`.
///
/// The crowding of agent i is `Σⱼ (1 − |ξᵢ−ξⱼ|²/6σ²)²` over all active agents closer than `√6σ`, itself included: a
/// bump of compact support with the integral of a push of width σ in the plane (within 4 % on a line). Each strength is
/// divided by `max(1, crowd/threshold)`. The joint push of agents in one region is then independent of their number, so
/// that a policy trained with few agents applies to many.
/// Inputs: strength `[batch, agents]`, positions `[batch, agents, d]`; output: strength.
pub struct Crowd {
    threshold: Real,
    reach: Real,
    /// Lengths of periodic axes.
    around: Vec<Option<Real>>,
}

impl Crowd {
    /// Creates the operation that the settings ask for, if any, for pushes of width `sigma`.
    pub fn of(grid: &Grid, sigma: f64, settings: CrowdSettings) -> Option<Self> {
        (settings.crowd > 0.0).then(|| Self::new(grid, settings.crowd_width * sigma, settings.crowd))
    }

    /// Creates the operation for pushes of width `sigma` on `grid`; crowding up to `threshold` has no effect.
    ///
    /// # Panics
    /// In more than two dimensions.
    pub fn new(grid: &Grid, sigma: f64, threshold: f64) -> Self {
        let d = grid.dimensions();
        assert!((1..=2).contains(&d), "crowding needs a line or a plane, not {d} dimensions");
        let around = grid.periodic.iter().zip(&grid.lengths).map(|(periodic, length)| periodic.then_some(*length)).collect();
        Self { threshold: threshold as Real, reach: (6f64.sqrt() * sigma) as Real, around }
    }

    /// Distance within which neighbours count.
    #[doc(hidden)]
    pub fn reach(&self) -> Real {
        self.reach
    }

    /// Returns the crowding of each agent, `[batch, agents]`, from strengths and positions as the operation takes them.
    #[doc(hidden)]
    pub fn reading<'t>(&self, strength: Var<'t>, xi: Var<'t>) -> Var<'t> {
        let &[batch, agents, d] = xi.shape().sizes() else { panic!("crowd: positions {:?}", xi.shape()) };
        let (strengths, positions, metric) = (strength.value(), xi.value(), self.metric());
        let at = |m: usize| [if d == 2 { positions[2 * m] } else { 0.0 }, positions[d * m + d - 1]];
        let near = |i: usize, j: usize| match self.wraps() {
            true => metric.apart::<true>(at(i), at(j))[2],
            false => metric.apart::<false>(at(i), at(j))[2],
        };
        let crowd = |i: usize| -> Real {
            let others = i / agents * agents..(i / agents + 1) * agents;
            // A failed agent counts itself, which has no effect: its action is zero.
            others.map(|j| if j == i { 1.0 } else { active_indicator(strengths[j]) * near(i, j) * near(i, j) }).sum()
        };
        xi.tape().placeholder([batch, agents], &(0..batch * agents).map(crowd).collect::<Vec<_>>())
    }

    /// Returns the reduced strength of agents whose crowding is given.
    pub fn divided<'t>(&self, strength: Var<'t>, crowd: Var<'t>) -> Var<'t> {
        strength / (crowd.affine(1.0 / self.threshold, -1.0).relu() + 1.0)
    }

    /// Sorts agents such that neighbours are contiguous, and splits off space for two more values per agent; small
    /// swarms in a domain with a periodic axis are not sorted.
    fn sorted<'a>(&self, xi: &[Real], d: usize, work: &'a mut [Real]) -> (Runs<'a>, [&'a mut [Real]; 2]) {
        let agents = xi.len() / d;
        let (own, work) = work.split_at_mut(2 * agents);
        let (a, b) = own.split_at_mut(agents);
        let runs = match self.wraps() && agents <= ALL_PAIRS {
            true => Runs::unsorted(xi, d, work),
            false => Runs::new(xi, d, self.reach, &self.around, work),
        };
        (runs, [a, b])
    }

    /// Returns true if an axis is periodic.
    fn wraps(&self) -> bool {
        self.around.iter().any(Option::is_some)
    }

    fn metric(&self) -> Metric {
        // On a line the first axis is absent.
        let absent = 2 - self.around.len();
        let length = |axis: usize| axis.checked_sub(absent).and_then(|axis| self.around[axis]).unwrap_or(0.0);
        let ring = |axis: usize| [length(axis), if length(axis) > 0.0 { 1.0 / length(axis) } else { 0.0 }];
        Metric { rings: [ring(0), ring(1)], per_reach: 1.0 / (self.reach * self.reach) }
    }
}

/// Differences of positions with periodic wrapping: the lengths of periodic axes and their inverses, or zeros.
#[derive(Clone, Copy)]
struct Metric {
    rings: [[Real; 2]; 2],
    per_reach: Real,
}

impl Metric {
    /// Differences along x and y, and `1 − |d|²/reach²` or zero. Vectorises: plain arithmetic, and rounding only if
    /// `AROUND`.
    #[inline(always)]
    fn apart<const AROUND: bool>(&self, from: [Real; 2], to: [Real; 2]) -> [Real; 3] {
        let (mut dx, mut dy) = (from[0] - to[0], from[1] - to[1]);
        if AROUND {
            dx -= self.rings[0][0] * round(dx * self.rings[0][1]);
            dy -= self.rings[1][0] * round(dy * self.rings[1][1]);
        }
        [dx, dy, (1.0 - (dx * dx + dy * dy) * self.per_reach).max(0.0)]
    }

    /// Sum `Σ active·near²` over a run.
    #[inline(always)]
    fn crowd<const AROUND: bool>(&self, at: [Real; 2], [x, y, activity]: [&[Real]; 3]) -> Real {
        let mut sums = [0.0; LANES];
        for j in (0..x.len()).step_by(LANES) {
            let (x, y, active) = (load(x, j), load(y, j), load(activity, j));
            for l in 0..LANES {
                let [_, _, near] = self.apart::<AROUND>(at, [x[l], y[l]]);
                sums[l] += active[l] * near * near;
            }
        }
        sum_lanes(sums)
    }

    /// Sum `Σ near·(active·own bar + own active·bar)·d` over a run, along x and y.
    #[inline(always)]
    fn pull<const AROUND: bool>(&self, at: [Real; 2], own: [Real; 2], [x, y, activity, bars]: [&[Real]; 4]) -> [Real; 2] {
        let mut sums = [[0.0; LANES]; 2];
        for j in (0..x.len()).step_by(LANES) {
            let (x, y, active, bar) = (load(x, j), load(y, j), load(activity, j), load(bars, j));
            for l in 0..LANES {
                let [dx, dy, near] = self.apart::<AROUND>(at, [x[l], y[l]]);
                let term = near * (active[l] * own[1] + own[0] * bar[l]);
                sums[0][l] += term * dx;
                sums[1][l] += term * dy;
            }
        }
        [sum_lanes(sums[0]), sum_lanes(sums[1])]
    }

    fn crowds<const AROUND: bool>(&self, runs: &Runs, activity: &[Real], crowd: &mut [Real]) {
        let [x, y] = [&*runs.xi[0], &*runs.xi[1]];
        let agents = crowd.len();
        let cells = cells_of_chunk(&runs.order, agents, 9 * agents.div_ceil(runs.cells()) + 32);
        parallel::for_each_part(runs.order.scatter(crowd, 1, cells), |part, mut crowd| {
            vectorise(
                #[inline(always)]
                || {
                    for cell in part * cells..((part + 1) * cells).min(runs.cells()) {
                        let (own, beside) = runs.around(cell);
                        for i in own {
                            let mut sum = 0.0;
                            for run in beside.runs() {
                                let run = run.start..run.end;
                                sum += self.crowd::<AROUND>([x[i], y[i]], [&x[run.clone()], &y[run.clone()], &activity[run]]);
                            }
                            crowd.row(i)[0] = sum;
                        }
                    }
                },
            );
        });
    }

    fn pulls<const AROUND: bool>(&self, runs: &Runs, activity: &[Real], bars: &[Real], d: usize, xi_bar: &mut [Real]) {
        let [x, y] = [&*runs.xi[0], &*runs.xi[1]];
        let slope = -4.0 * self.per_reach;
        vectorise(
            #[inline(always)]
            || {
                for cell in 0..runs.cells() {
                    let (own, beside) = runs.around(cell);
                    for i in own {
                        let mut sum = [0.0; 2];
                        for run in beside.runs() {
                            let run = run.start..run.end;
                            let rows = [&x[run.clone()], &y[run.clone()], &activity[run.clone()], &bars[run]];
                            let found = self.pull::<AROUND>([x[i], y[i]], [activity[i], bars[i]], rows);
                            sum[0] += found[0];
                            sum[1] += found[1];
                        }
                        let m = runs.order.get(i);
                        for c in 0..d {
                            xi_bar[m * d + c] += slope * sum[c + 2 - d];
                        }
                    }
                }
            },
        );
    }
}

/// Rounds `x` to the nearest integer, for |x| below 0.5/ε. After adding `SHIFT` no bits are left for a fraction, so the
/// sum is rounded to an integer; unlike `Real::round`, these two additions vectorise.
#[inline(always)]
fn round(x: Real) -> Real {
    const SHIFT: Real = 1.5 / Real::EPSILON;
    (x + SHIFT) - SHIFT
}

/// Returns 1 for an active agent, 0 for a failed one.
fn active_indicator(strength: Real) -> Real {
    if strength > 0.0 { 1.0 } else { 0.0 }
}

impl Op for Crowd {
    fn name(&self) -> &'static str {
        "crowd"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        assert!(x[1].rows() == x[0].count() && x[1].last() <= 2, "crowd: strength {:?}, positions {:?}", x[0], x[1]);
        x[0]
    }

    /// Crowding of each agent.
    fn saved(&self, x: &[Shape]) -> usize {
        x[0].count()
    }

    fn scratch(&self, x: &[Shape]) -> usize {
        let agents = x[0].last();
        2 * agents + Runs::work(agents)
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], crowds: &mut [Real], work: &mut [Real]) {
        let &[_, agents, d] = x.shape(1).sizes() else { unreachable!("checked") };
        let instances = x[0].chunks_exact(agents).zip(x[1].chunks_exact(agents * d));
        for ((strength, xi), crowd) in instances.zip(crowds.chunks_exact_mut(agents)) {
            let (runs, [activity, _]) = self.sorted(xi, d, work);
            activity.iter_mut().enumerate().for_each(|(i, activity)| *activity = active_indicator(strength[runs.order.get(i)]));
            match self.wraps() {
                true => self.metric().crowds::<true>(&runs, activity, crowd),
                false => self.metric().crowds::<false>(&runs, activity, crowd),
            }
        }
        for ((y, strength), crowd) in y.iter_mut().zip(&x[0]).zip(&*crowds) {
            *y = strength / (crowd / self.threshold).max(1.0);
        }
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], crowds: &[Real], bars: &mut Cotangents, work: &mut [Real]) {
        let &[_, agents, d] = x.shape(1).sizes() else { unreachable!("checked") };
        if let Some(bar) = bars.get(0) {
            for ((bar, y_bar), crowd) in bar.iter_mut().zip(y_bar).zip(crowds) {
                *bar += y_bar / (crowd / self.threshold).max(1.0);
            }
        }
        let Some(bar) = bars.get(1) else { return };
        for (b, (bar, xi)) in bar.chunks_exact_mut(agents * d).zip(x[1].chunks_exact(agents * d)).enumerate() {
            let here = b * agents..(b + 1) * agents;
            let (strength, crowd, y_bar) = (&x[0][here.clone()], &crowds[here.clone()], &y_bar[here]);
            let (runs, [activity, crowd_bar]) = self.sorted(xi, d, work);
            for i in 0..agents {
                let m = runs.order.get(i);
                activity[i] = active_indicator(strength[m]);
                // y = s·threshold/crowd
                let reduced = crowd[m] > self.threshold;
                crowd_bar[i] = if reduced { -y_bar[m] * strength[m] * self.threshold / (crowd[m] * crowd[m]) } else { 0.0 };
            }
            match self.wraps() {
                true => self.metric().pulls::<true>(&runs, activity, crowd_bar, d, bar),
                false => self.metric().pulls::<false>(&runs, activity, crowd_bar, d, bar),
            }
        }
    }
}
