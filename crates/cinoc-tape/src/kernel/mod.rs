//! Hot loops: matrix products, Fourier transforms, activations, aligned buffers and parallel loops. The only module
//! with `unsafe`.
//!
//! Instruction sets are chosen at run time (`pulp`), so one binary is fast on AVX2 and AVX-512 machines and correct on
//! any. Register-blocked products use explicit vectors ([`gemm`], [`conv`], [`fft`]). Element-wise loops are ordinary
//! code, compiled once per instruction set by [`vectorise`].
#![allow(unsafe_code)]

pub mod buffer;
pub mod chunk;
pub mod conv;
pub mod conv_back;
pub mod conv_spread;
pub mod fft;
pub mod gemm;
pub mod math;
pub mod order;
pub mod parallel;
pub mod peak;
pub mod prefetch;
pub mod transpose;

mod lane;

use std::sync::OnceLock;

/// Minimum length of a slice with `rows` rows of `width` numbers at a stride of `apart`. Overflow gives `usize::MAX`,
/// which no slice has: checks against it fail instead of wrapping around.
pub(crate) fn extent(rows: usize, apart: usize, width: usize) -> usize {
    match rows {
        0 => 0,
        _ => (rows - 1).saturating_mul(apart).saturating_add(width),
    }
}

/// Instruction set of this machine, detected once. In WebAssembly it is that of the build, so that other code paths are
/// not compiled.
#[inline(always)]
pub fn arch() -> pulp::Arch {
    if cfg!(target_family = "wasm") {
        return pulp::Arch::new();
    }
    static ARCH: OnceLock<pulp::Arch> = OnceLock::new();
    *ARCH.get_or_init(pulp::Arch::new)
}

/// Runs a closure compiled for this machine's instruction set, with the widest vector registers available.
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
