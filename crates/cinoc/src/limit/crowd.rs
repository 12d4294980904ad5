//! Agents that push less where they are many.

use crate::Real;
use crate::geometry::{Runs, cells_of_chunk};
use cinoc_pde::Grid;
use cinoc_tape::kernel::chunk::{LANES, load};
use cinoc_tape::kernel::math::sum_lanes;
use cinoc_tape::kernel::{crew, vectorise};
use cinoc_tape::{Cotangents, Inputs, Op, Shape, Var};

/// Up to this many agents on a ring or a torus all pairs are looked at; beyond, only those in neighbouring cells. Either way the sums are the
/// same but for the order of their terms.
const ALL_PAIRS: usize = 1024;

/// When agents push less because there are many of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrowdSettings {
    /// How crowded a place may be before agents there push less: an agent by itself counts 1, others near it up to 1 each. 0: they never do.
    pub crowd: f64,
    /// How far others count, in widths of a push: 1 where pushes overlap, more where agents stand too far apart for that.
    pub crowd_width: f64,
}

/// The strength of each agent divided by how crowded its place is, where it is more crowded than `alone` says.
///
/// The crowd around agent i is `Σⱼ (1 − |ξᵢ−ξⱼ|²/6σ²)²` over all living agents nearer than `√6σ`, itself included: a bump with the integral
/// of a push of width σ in the plane (within 4 % on a line) that ends somewhere. Each strength is divided by `max(1, crowd/alone)`.
/// Whatever their number, the agents at a place then push as strongly together as a few would: what a policy learned with few holds with many.
/// Inputs: strength `[batch, agents]`, positions `[batch, agents, d]`; output: strength.
pub struct Crowd {
    alone: Real,
    reach: Real,
    /// Lengths of the domain along its axes, where leaving at one end means entering at the other.
    around: Option<Vec<Real>>,
}

impl Crowd {
    /// What the settings ask for, if anything, for pushes of width `sigma`.
    pub fn of(grid: &Grid, sigma: f64, settings: CrowdSettings) -> Option<Self> {
        (settings.crowd > 0.0).then(|| Self::new(grid, settings.crowd_width * sigma, settings.crowd))
    }

    /// For pushes of width `sigma` on `grid`; a crowd up to `alone` is none.
    ///
    /// # Panics
    /// In more than two dimensions.
    pub fn new(grid: &Grid, sigma: f64, alone: f64) -> Self {
        let d = grid.dimensions();
        assert!((1..=2).contains(&d), "crowds are counted on a line or in the plane, not in {d} dimensions");
        let around = grid.periodic.then(|| grid.lengths.clone());
        Self { alone: alone as Real, reach: (6f64.sqrt() * sigma) as Real, around }
    }

    /// Up to which distance others count.
    pub fn reach(&self) -> Real {
        self.reach
    }

    /// The crowd around each agent, `[batch, agents]`; of strengths and positions as the operation takes them.
    pub fn reading<'t>(&self, strength: Var<'t>, xi: Var<'t>) -> Var<'t> {
        let &[batch, agents, d] = xi.shape().sizes() else { panic!("crowd: positions {:?}", xi.shape()) };
        let (lives, places, ways) = (strength.value(), xi.value(), self.ways());
        let at = |m: usize| [if d == 2 { places[2 * m] } else { 0.0 }, places[d * m + d - 1]];
        let near = |i: usize, j: usize| match self.around {
            Some(_) => ways.apart::<true>(at(i), at(j))[2],
            None => ways.apart::<false>(at(i), at(j))[2],
        };
        let crowd = |i: usize| -> Real {
            let others = i / agents * agents..(i / agents + 1) * agents;
            // A dead agent, which does nothing, takes itself to be there.
            others.map(|j| if j == i { 1.0 } else { alive(lives[j]) * near(i, j) * near(i, j) }).sum()
        };
        xi.tape().given([batch, agents], &(0..batch * agents).map(crowd).collect::<Vec<_>>())
    }

    /// The strength of agents in a crowd of which they know how large it is.
    pub fn divided<'t>(&self, strength: Var<'t>, crowd: Var<'t>) -> Var<'t> {
        strength / (crowd.affine(1.0 / self.alone, -1.0).relu() + 1.0)
    }

    /// Agents in an order in which neighbours follow one another, with room for two more numbers of each; few on a ring, as they are.
    fn sorted<'a>(&self, xi: &[Real], d: usize, work: &'a mut [Real]) -> (Runs<'a>, [&'a mut [Real]; 2]) {
        let agents = xi.len() / d;
        let (own, work) = work.split_at_mut(2 * agents);
        let (a, b) = own.split_at_mut(agents);
        let runs = match &self.around {
            Some(_) if agents <= ALL_PAIRS => Runs::unsorted(xi, d, work),
            around => Runs::new(xi, d, self.reach, around.as_deref(), work),
        };
        (runs, [a, b])
    }

    fn ways(&self) -> Ways {
        let length = |axis: usize| match &self.around {
            Some(lengths) if lengths.len() == 2 => lengths[axis],
            Some(lengths) => [0.0, lengths[0]][axis],
            None => 0.0,
        };
        let ring = |axis: usize| [length(axis), if length(axis) > 0.0 { 1.0 / length(axis) } else { 0.0 }];
        Ways { rings: [ring(0), ring(1)], per_reach: 1.0 / (self.reach * self.reach) }
    }
}

/// Differences of positions, where there may be a way around: lengths of the domain and one over them, or zeros.
#[derive(Clone, Copy)]
struct Ways {
    rings: [[Real; 2]; 2],
    per_reach: Real,
}

impl Ways {
    /// Differences along x and y, and `1 − |d|²/reach²` or zero. Inside vectors: plain arithmetic, and rounding only `AROUND` rings.
    #[inline(always)]
    fn apart<const AROUND: bool>(&self, from: [Real; 2], to: [Real; 2]) -> [Real; 3] {
        let (mut dx, mut dy) = (from[0] - to[0], from[1] - to[1]);
        if AROUND {
            dx -= self.rings[0][0] * nearest_whole(dx * self.rings[0][1]);
            dy -= self.rings[1][0] * nearest_whole(dy * self.rings[1][1]);
        }
        [dx, dy, (1.0 - (dx * dx + dy * dy) * self.per_reach).max(0.0)]
    }

    /// `Σ life·near²` over a run.
    #[inline(always)]
    fn crowd<const AROUND: bool>(&self, at: [Real; 2], [x, y, lives]: [&[Real]; 3]) -> Real {
        let mut sums = [0.0; LANES];
        for j in (0..x.len()).step_by(LANES) {
            let (x, y, life) = (load(x, j), load(y, j), load(lives, j));
            for l in 0..LANES {
                let [_, _, near] = self.apart::<AROUND>(at, [x[l], y[l]]);
                sums[l] += life[l] * near * near;
            }
        }
        sum_lanes(sums)
    }

    /// `Σ near·(life·own bar + own life·bar)·d` over a run, along x and y.
    #[inline(always)]
    fn pull<const AROUND: bool>(&self, at: [Real; 2], own: [Real; 2], [x, y, lives, bars]: [&[Real]; 4]) -> [Real; 2] {
        let mut sums = [[0.0; LANES]; 2];
        for j in (0..x.len()).step_by(LANES) {
            let (x, y, life, bar) = (load(x, j), load(y, j), load(lives, j), load(bars, j));
            for l in 0..LANES {
                let [dx, dy, near] = self.apart::<AROUND>(at, [x[l], y[l]]);
                let felt = near * (life[l] * own[1] + own[0] * bar[l]);
                sums[0][l] += felt * dx;
                sums[1][l] += felt * dy;
            }
        }
        [sum_lanes(sums[0]), sum_lanes(sums[1])]
    }

    fn crowds<const AROUND: bool>(&self, runs: &Runs, lives: &[Real], crowd: &mut [Real]) {
        let [x, y] = [&*runs.xi[0], &*runs.xi[1]];
        let agents = crowd.len();
        let cells = cells_of_chunk(&runs.order, agents, 9 * agents.div_ceil(runs.cells()) + 32);
        crew::share(runs.order.scatter(crowd, 1, cells), |part, mut crowd| {
            vectorise(
                #[inline(always)]
                || {
                    for cell in part * cells..((part + 1) * cells).min(runs.cells()) {
                        let (own, beside) = runs.around(cell);
                        for i in own {
                            let mut sum = 0.0;
                            for run in beside.runs() {
                                let run = run.start..run.end;
                                sum += self.crowd::<AROUND>([x[i], y[i]], [&x[run.clone()], &y[run.clone()], &lives[run]]);
                            }
                            crowd.row(i)[0] = sum;
                        }
                    }
                },
            );
        });
    }

    fn pulls<const AROUND: bool>(&self, runs: &Runs, lives: &[Real], bars: &[Real], d: usize, xi_bar: &mut [Real]) {
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
                            let rows = [&x[run.clone()], &y[run.clone()], &lives[run.clone()], &bars[run]];
                            let found = self.pull::<AROUND>([x[i], y[i]], [lives[i], bars[i]], rows);
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

/// The nearest whole number to `x`, for |x| below 0.5/ε. After adding `SHIFT` there is no bit left for a fraction, so the sum is rounded to a
/// whole number; unlike `round`, this is two additions that a loop can vectorise.
#[inline(always)]
fn nearest_whole(x: Real) -> Real {
    const SHIFT: Real = 1.5 / Real::EPSILON;
    (x + SHIFT) - SHIFT
}

fn alive(strength: Real) -> Real {
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

    /// The crowd around each agent.
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
            let (runs, [lives, _]) = self.sorted(xi, d, work);
            lives.iter_mut().enumerate().for_each(|(i, lives)| *lives = alive(strength[runs.order.get(i)]));
            match self.around {
                Some(_) => self.ways().crowds::<true>(&runs, lives, crowd),
                None => self.ways().crowds::<false>(&runs, lives, crowd),
            }
        }
        for ((y, strength), crowd) in y.iter_mut().zip(&x[0]).zip(&*crowds) {
            *y = strength / (crowd / self.alone).max(1.0);
        }
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], crowds: &[Real], bars: &mut Cotangents, work: &mut [Real]) {
        let &[_, agents, d] = x.shape(1).sizes() else { unreachable!("checked") };
        if let Some(bar) = bars.get(0) {
            for ((bar, y_bar), crowd) in bar.iter_mut().zip(y_bar).zip(crowds) {
                *bar += y_bar / (crowd / self.alone).max(1.0);
            }
        }
        let Some(bar) = bars.get(1) else { return };
        for (b, (bar, xi)) in bar.chunks_exact_mut(agents * d).zip(x[1].chunks_exact(agents * d)).enumerate() {
            let here = b * agents..(b + 1) * agents;
            let (strength, crowd, y_bar) = (&x[0][here.clone()], &crowds[here.clone()], &y_bar[here]);
            let (runs, [lives, crowd_bar]) = self.sorted(xi, d, work);
            for i in 0..agents {
                let m = runs.order.get(i);
                lives[i] = alive(strength[m]);
                // y = s·alone/crowd
                let shares = crowd[m] > self.alone;
                crowd_bar[i] = if shares { -y_bar[m] * strength[m] * self.alone / (crowd[m] * crowd[m]) } else { 0.0 };
            }
            match self.around {
                Some(_) => self.ways().pulls::<true>(&runs, lives, crowd_bar, d, bar),
                None => self.ways().pulls::<false>(&runs, lives, crowd_bar, d, bar),
            }
        }
    }
}
