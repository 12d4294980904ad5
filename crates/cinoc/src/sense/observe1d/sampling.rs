//! Samples around an agent on an interval, and their adjoints.

use super::Observe1d;
use super::positions::{LinePositions, STEPS, hat};
use crate::Real;
use crate::vector::copy;
use cinoc_tape::kernel::chunk::LANES;
use cinoc_tape::kernel::math::{fma, sum_lanes};

impl Observe1d {
    /// Computes the sample positions of an agent at `xi`; outside the walls the view is that from the wall.
    #[inline(always)]
    pub(super) fn positions<const G: usize>(&self, xi: Real, positions: &mut LinePositions) {
        let (offsets, _) = self.offsets.as_chunks::<LANES>();
        let top = (self.nodes - 1) as Real;
        let at = if self.periodic { self.cell(xi) } else { xi * self.inverse_dx };
        let clamp = |t: Real| if self.periodic { t } else { t.max(0.0).min(top) };
        for group in 0..G {
            for l in 0..LANES {
                positions.t[group][l] = clamp(at + offsets[group][l]);
            }
        }
        positions.at = at;
        positions.first = clamp(at + self.offsets[0]) as usize;
        let after = clamp(at + self.offsets[self.points - 1]) as usize + 1;
        positions.last = if self.periodic { after } else { after.min(self.nodes - 1) };
    }

    /// Computes the patch of one agent from `e` and `g`.
    #[inline(always)]
    pub(super) fn sample<const G: usize>(&self, positions: &LinePositions, e: &[Real], g: &[Real], seen: &mut [Real]) {
        let (mut seen_e, mut seen_g) = ([[0.0; LANES]; G], [[0.0; LANES]; G]);
        for i in positions.first..=positions.last {
            let (node, e, g) = (i as Real, e[i], g[i]);
            for group in 0..G {
                for l in 0..LANES {
                    let weight = hat(positions.t[group][l] - node);
                    seen_e[group][l] = fma(weight, e, seen_e[group][l]);
                    seen_g[group][l] = fma(weight, g, seen_g[group][l]);
                }
            }
        }
        let (out_e, out_g) = seen.split_at_mut(self.points);
        copy(out_e, seen_e.as_flattened());
        copy(out_g, seen_g.as_flattened());
    }

    /// Adjoint of [`sample`](Self::sample) with respect to `e` and `g`.
    #[inline(always)]
    pub(super) fn spread(&self, positions: &LinePositions, seen_bar: &[Real], e_bar: &mut [Real], g_bar: &mut [Real]) {
        let (bar_e, bar_g) = seen_bar.split_at(self.points);
        let t = &positions.t.as_flattened()[..self.points];
        for base in (positions.first..=positions.last).step_by(LANES) {
            let (mut sum_e, mut sum_g) = ([0.0; LANES], [0.0; LANES]);
            for j in 0..self.points {
                let from_base = t[j] - base as Real;
                for l in 0..LANES {
                    let weight = hat(from_base - STEPS[l]);
                    sum_e[l] = fma(weight, bar_e[j], sum_e[l]);
                    sum_g[l] = fma(weight, bar_g[j], sum_g[l]);
                }
            }
            let (e_bar, g_bar) = (&mut e_bar[base..base + LANES], &mut g_bar[base..base + LANES]);
            for l in 0..LANES {
                e_bar[l] += sum_e[l];
                g_bar[l] += sum_g[l];
            }
        }
    }

    /// Adjoint of [`sample`](Self::sample) with respect to the agent's position.
    #[allow(clippy::manual_range_contains, reason = "`contains` compares with a branch, which does not vectorise")]
    #[inline(always)]
    pub(super) fn slide<const G: usize>(&self, positions: &LinePositions, e: &[Real], g: &[Real], seen_bar: &[Real]) -> Real {
        let (bar_e, bar_g) = seen_bar.split_at(self.points);
        let (mut pad_e, mut pad_g) = ([[0.0; LANES]; G], [[0.0; LANES]; G]);
        copy(&mut pad_e.as_flattened_mut()[..self.points], bar_e);
        copy(&mut pad_g.as_flattened_mut()[..self.points], bar_g);
        let (offsets, _) = self.offsets.as_chunks::<LANES>();
        // A sample clamped to a wall does not move with the agent.
        let limit = if self.periodic { Real::INFINITY } else { (self.nodes - 1) as Real };
        for group in 0..G {
            for l in 0..LANES {
                let t = positions.at + offsets[group][l];
                let free = if (t == positions.t[group][l]) & (t < limit) { 1.0 } else { 0.0 };
                pad_e[group][l] *= free;
                pad_g[group][l] *= free;
            }
        }
        // A sample between two nodes changes by their difference; one on a node belongs to the cell to its right.
        let mut sums = [[0.0; LANES]; G];
        for i in positions.first..positions.last {
            let (node, e, g) = (i as Real, e[i + 1] - e[i], g[i + 1] - g[i]);
            for group in 0..G {
                for l in 0..LANES {
                    let s = positions.t[group][l] - node;
                    let change = fma(pad_e[group][l], e, pad_g[group][l] * g);
                    sums[group][l] += if (s >= 0.0) & (s < 1.0) { change } else { 0.0 };
                }
            }
        }
        let mut sum = [0.0; LANES];
        sums.iter().for_each(|group| (0..LANES).for_each(|l| sum[l] += group[l]));
        self.inverse_dx * sum_lanes(sum)
    }
}
