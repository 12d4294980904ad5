//! Prefetching.

use crate::Real;

/// Prefetches numbers into the cache.
///
/// The sweep over an episode moves from the arena of one tick to that of another, which hardware does not predict.
#[inline(always)]
pub fn prefetch(values: &[Real]) {
    #[cfg(target_arch = "x86_64")]
    for line in values.chunks(64 / size_of::<Real>()) {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        // SAFETY: a prefetch never faults, the address is that of a live slice, and every x86-64 processor has the
        // instruction.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(line.as_ptr().cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = values;
}
