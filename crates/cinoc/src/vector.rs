//! Shared loops over slices.

use crate::Real;

// A loop over indices: inside a function compiled for one instruction set, iterator adapters are not always inlined.

/// Computes `to += factor·from`.
#[inline(always)]
pub fn add(to: &mut [Real], from: &[Real], factor: Real) {
    let to = &mut to[..from.len()];
    for i in 0..from.len() {
        to[i] += factor * from[i];
    }
}

/// Copies a short slice without calling a function, in fours.
#[inline(always)]
pub fn copy(to: &mut [Real], from: &[Real]) {
    let (to4, to1) = to.as_chunks_mut::<4>();
    let (from4, from1) = from[..4 * to4.len() + to1.len()].as_chunks::<4>();
    to4.iter_mut().zip(from4).for_each(|(to, from)| *to = *from);
    to1.iter_mut().zip(from1).for_each(|(to, from)| *to = *from);
}
