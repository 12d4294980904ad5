//! Loops over slices that several rooms share.

use crate::Real;

// A loop over indices: inside a function compiled for one instruction set, iterator adapters are not always inlined.

/// `to += factor·from`.
#[inline(always)]
pub fn add(to: &mut [Real], from: &[Real], factor: Real) {
    let to = &mut to[..from.len()];
    for i in 0..from.len() {
        to[i] += factor * from[i];
    }
}
