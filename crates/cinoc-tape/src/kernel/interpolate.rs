//! Linear interpolation at many places of one row of numbers, and its adjoint.
//!
//! Indices are checked once for all of them, so that the loops gather without a branch per place.
//! All are to be called from inside [`vectorise`](super::vectorise).

use crate::Real;

#[inline(always)]
fn check(row: &[Real], left: &[u32], others: &[usize]) {
    let largest = left.iter().fold(0, |a, &b| a.max(b)) as usize;
    assert!(largest + 1 < row.len(), "a place beyond the last of {} nodes", row.len());
    assert!(others.iter().all(|&n| n == left.len()), "places and values of different number");
}

/// `y[j] = (1−w)·row[i] + w·row[i+1]` with `i = left[j]`, `w = weight[j]`.
///
/// # Panics
/// When an index has no right neighbour in the row, or the lengths differ.
#[inline(always)]
pub fn interpolate(row: &[Real], left: &[u32], weight: &[Real], y: &mut [Real]) {
    check(row, left, &[weight.len(), y.len()]);
    for j in 0..left.len() {
        let i = left[j] as usize;
        // SAFETY: `check` has seen that every index and its right neighbour lie inside the row.
        let (a, b) = unsafe { (*row.get_unchecked(i), *row.get_unchecked(i + 1)) };
        y[j] = a + weight[j] * (b - a);
    }
}

/// Adds the cotangents of interpolated values to those of the row.
///
/// # Panics
/// As [`interpolate`].
#[inline(always)]
pub fn interpolate_back(row_bar: &mut [Real], left: &[u32], weight: &[Real], y_bar: &[Real]) {
    check(row_bar, left, &[weight.len(), y_bar.len()]);
    for j in 0..left.len() {
        let (i, w) = (left[j] as usize, weight[j]);
        // SAFETY: as in `interpolate`.
        unsafe {
            *row_bar.get_unchecked_mut(i) += (1.0 - w) * y_bar[j];
            *row_bar.get_unchecked_mut(i + 1) += w * y_bar[j];
        }
    }
}

/// `Σ_j y_bar[j]·free[j]·(row[i+1] − row[i])`: how the interpolated values change when all free places move together by one node.
///
/// # Panics
/// As [`interpolate`].
#[inline(always)]
pub fn slide(row: &[Real], left: &[u32], free: &[Real], y_bar: &[Real]) -> Real {
    check(row, left, &[free.len(), y_bar.len()]);
    let mut sum = 0.0;
    for j in 0..left.len() {
        let i = left[j] as usize;
        // SAFETY: as in `interpolate`.
        let step = unsafe { row.get_unchecked(i + 1) - row.get_unchecked(i) };
        sum += y_bar[j] * free[j] * step;
    }
    sum
}
