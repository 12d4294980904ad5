//! Asking for memory before it is needed.

use crate::Real;

/// Starts bringing numbers into the cache; changes nothing but the time their next use takes.
///
/// The sweep over an episode goes from one tick's memory to another's, which no processor foresees.
#[inline(always)]
pub fn prefetch(values: &[Real]) {
    #[cfg(target_arch = "x86_64")]
    for line in values.chunks(64 / size_of::<Real>()) {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        // SAFETY: a hint never faults, and the address is that of a live slice. The instruction is part of every x86-64 processor.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(line.as_ptr().cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = values;
}
