//! The hot loops: matrix products, Fourier transforms, activations, aligned memory, and threads that share a loop. The only module with `unsafe`.
//!
//! Instruction sets are chosen at run time (`pulp`), so one binary is fast on AVX2 and AVX-512 machines and correct on any.
//! Two styles are used. Register-blocked products need explicit vectors ([`gemm`], [`conv`], [`fft`]). Element-wise loops are written plainly
//! and compiled once per instruction set by [`vectorise`].
#![allow(unsafe_code)]

pub mod buffer;
pub mod chunk;
pub mod conv;
pub mod conv_back;
pub mod conv_spread;
pub mod crew;
pub mod fft;
pub mod gemm;
pub mod math;
pub mod order;
pub mod peak;
pub mod prefetch;
pub mod transpose;

mod lane;

use std::sync::OnceLock;

/// `rows` rows of `width` numbers that start `apart` numbers from one another: how many numbers a slice must have to hold them. Sizes whose
/// product no `usize` holds give `usize::MAX`, which no slice has: checks against it fail instead of wrapping around.
pub(crate) fn extent(rows: usize, apart: usize, width: usize) -> usize {
    match rows {
        0 => 0,
        _ => (rows - 1).saturating_mul(apart).saturating_add(width),
    }
}

/// The instruction set of this machine, detected once. In a browser it is that of the build, which the compiler knows: it leaves out the others.
#[inline(always)]
pub fn arch() -> pulp::Arch {
    if cfg!(target_family = "wasm") {
        return pulp::Arch::new();
    }
    static ARCH: OnceLock<pulp::Arch> = OnceLock::new();
    *ARCH.get_or_init(pulp::Arch::new)
}

/// Runs a closure compiled for this machine's instruction set: its loops are vectorised with the widest registers there are.
#[inline(always)]
pub fn vectorise<T>(work: impl FnOnce() -> T) -> T {
    struct Once<F>(F);
    impl<T, F: FnOnce() -> T> pulp::WithSimd for Once<F> {
        type Output = T;
        #[inline(always)]
        fn with_simd<S: pulp::Simd>(self, _: S) -> T {
            self.0()
        }
    }
    arch().dispatch(Once(work))
}
