//! Channels of a field on an interval: the error and its slope.

use super::Observe1d;
use crate::Real;

impl Observe1d {
    /// Computes `e` and `w·∂e` of one instance.
    #[inline(always)]
    pub(super) fn channels(&self, z: &[Real], target: &[Real], e: &mut [Real], g: &mut [Real]) {
        let n = self.nodes;
        for i in 0..n {
            e[i] = self.gain * (z[i] - target[i]);
        }
        for i in 1..n - 1 {
            g[i] = self.slope * (e[i + 1] - e[i - 1]);
        }
        (g[0], g[n - 1]) = if self.periodic {
            (self.slope * (e[1] - e[n - 1]), self.slope * (e[0] - e[n - 2]))
        } else {
            (2.0 * self.slope * (e[1] - e[0]), 2.0 * self.slope * (e[n - 1] - e[n - 2]))
        };
        for i in n..e.len() {
            (e[i], g[i]) = if self.periodic { (e[i - n], g[i - n]) } else { (0.0, 0.0) };
        }
    }

    /// Adjoint of [`channels`](Self::channels): converts the cotangents of `e` and `g` to that of `z`, stored in
    /// `e_bar`.
    #[inline(always)]
    pub(super) fn channels_back(&self, e_bar: &mut [Real], g_bar: &mut [Real]) {
        let n = self.nodes;
        if self.periodic {
            for i in (n..e_bar.len()).rev() {
                e_bar[i - n] += e_bar[i];
                g_bar[i - n] += g_bar[i];
            }
        }
        for i in 2..n - 2 {
            e_bar[i] += self.slope * (g_bar[i - 1] - g_bar[i + 1]);
        }
        e_bar[0] -= self.slope * g_bar[1];
        e_bar[1] -= self.slope * g_bar[2];
        e_bar[n - 2] += self.slope * g_bar[n - 3];
        e_bar[n - 1] += self.slope * g_bar[n - 2];
        let (first, last) = (self.slope * g_bar[0], self.slope * g_bar[n - 1]);
        if self.periodic {
            e_bar[1] += first;
            e_bar[n - 1] -= first;
            e_bar[0] += last;
            e_bar[n - 2] -= last;
        } else {
            e_bar[1] += 2.0 * first;
            e_bar[0] -= 2.0 * first;
            e_bar[n - 1] += 2.0 * last;
            e_bar[n - 2] -= 2.0 * last;
        }
        e_bar.iter_mut().for_each(|e_bar| *e_bar *= self.gain);
    }
}
