//! Upwind values on faces along a line of cells, with the limiter of van Leer.

use crate::Real;

/// Limited difference from those before and after a cell: their harmonic mean, or 0 if their signs differ.
#[inline(always)]
fn limited(before: Real, after: Real) -> Real {
    if before * after > 0.0 { 2.0 * before * (after / (before + after)) } else { 0.0 }
}

/// Derivatives of [`limited`].
#[inline(always)]
fn limited_slopes(before: Real, after: Real) -> [Real; 2] {
    let share = before / (before + after);
    if before * after > 0.0 { [2.0 * (1.0 - share) * (1.0 - share), 2.0 * share * share] } else { [0.0; 2] }
}

/// Number that passes a face, or 0 if it is closed.
#[inline(always)]
fn through(open: Real, x: Real) -> Real {
    if open > 0.0 { x } else { 0.0 }
}

/// A face between the second and the third of four cells: their values, whether the three faces between them are open,
/// and the velocity, 0 if the face is closed.
struct Face {
    z: [Real; 4],
    open: [Real; 3],
    v: Real,
}

impl Face {
    /// Differences before and after the upwind cell.
    #[inline(always)]
    fn differences(&self) -> [Real; 2] {
        let [a, b, c] = [0, 1, 2].map(|i| through(self.open[i], self.z[i + 1] - self.z[i]));
        if self.v > 0.0 { [a, b] } else { [b, c] }
    }

    /// Value of the upwind cell, extrapolated to the face.
    #[inline(always)]
    fn value(&self) -> Real {
        let [before, after] = self.differences();
        let half = 0.5 * limited(before, after);
        if self.v > 0.0 { self.z[1] + half } else { self.z[2] - half }
    }
}

/// Faces before the cells of a line along an axis, or behind them: the values of two cells before and two behind each
/// face, the openings of the faces between them, and the velocities of the cells beside it; `half` is `1/(2·dx)`.
///
/// With `CONSERVATIVE` the rates are those of `div(v z)`, else of `v·grad z`, in which the value of the cell is
/// subtracted.
#[derive(Clone, Copy)]
pub(super) struct Faces<'a> {
    pub z: [&'a [Real]; 4],
    pub open: [&'a [Real]; 3],
    pub v: [&'a [Real]; 2],
    pub half: Real,
}

impl Faces<'_> {
    #[inline(always)]
    fn cut(self, n: usize) -> Self {
        let (z, open, v) = (self.z.map(|z| &z[..n]), self.open.map(|open| &open[..n]), self.v.map(|v| &v[..n]));
        Self { z, open, v, half: self.half }
    }

    #[inline(always)]
    fn face(&self, j: usize) -> Face {
        let (z, open) = (self.z.map(|z| z[j]), self.open.map(|open| open[j]));
        Face { v: through(open[1], self.half * (self.v[1][j] + self.v[0][j])), z, open }
    }

    /// Adds what leaves the cells before the faces, or subtracts with `BEFORE` what enters those that the faces are
    /// before.
    // One loop for each kind of face: both in one have more values than there are registers.
    #[inline(always)]
    pub fn add_rates<const CONSERVATIVE: bool, const BEFORE: bool>(self, y: &mut [Real]) {
        let all = self.cut(y.len());
        for (j, y) in y.iter_mut().enumerate() {
            let face = all.face(j);
            let own = if CONSERVATIVE { 0.0 } else { face.z[if BEFORE { 2 } else { 1 }] };
            let flow = face.v * (face.value() - own);
            *y += if BEFORE { -flow } else { flow };
        }
    }

    /// Computes the cotangents of the four values from those of the rates in the cells beside the faces, `w`.
    #[inline(always)]
    pub fn pull<const CONSERVATIVE: bool>(self, w: [&[Real]; 2], bars: [&mut [Real]; 4]) {
        let n = bars[0].len();
        let [a, b, c, d] = bars.map(|bars| &mut bars[..n]);
        let (all, w) = (self.cut(n), w.map(|w| &w[..n]));
        for j in 0..n {
            let (face, w) = (all.face(j), [w[0][j], w[1][j]]);
            let forwards = face.v > 0.0;
            let [before, after] = face.differences();
            let by = limited_slopes(before, after);
            let bar = face.v * (w[0] - w[1]);
            let half = if forwards { 0.5 * bar } else { -0.5 * bar };
            let (before, after) = (half * by[0], half * by[1]);
            let upwind = bar + before - after;
            let own = if CONSERVATIVE { [0.0; 2] } else { w.map(|w| face.v * w) };
            a[j] = if forwards { -before } else { 0.0 };
            b[j] = (if forwards { upwind } else { -before }) - own[0];
            c[j] = (if forwards { after } else { upwind }) + own[1];
            d[j] = if forwards { 0.0 } else { after };
        }
    }

    /// Computes the cotangents of the velocities of both cells, which are the same.
    #[inline(always)]
    pub fn pull_velocity<const CONSERVATIVE: bool>(self, w: [&[Real]; 2], bars: &mut [Real]) {
        let (all, w) = (self.cut(bars.len()), w.map(|w| &w[..bars.len()]));
        for (j, bar) in bars.iter_mut().enumerate() {
            let (face, w) = (all.face(j), [w[0][j], w[1][j]]);
            let (value, own) = (face.value(), if CONSERVATIVE { [0.0; 2] } else { [face.z[1], face.z[2]] });
            *bar = through(face.open[1], all.half * (w[0] * (value - own[0]) - w[1] * (value - own[1])));
        }
    }
}
