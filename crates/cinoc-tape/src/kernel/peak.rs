//! Peak arithmetic throughput of this machine, the reference for timings.

use super::{arch, lane};
use crate::Real;
use pulp::{Simd, WithSimd};
use std::hint::black_box;
use std::time::Instant;

/// Measures multiplications plus additions per second of one thread, in registers, for about `seconds`.
pub fn flops_per_second(seconds: f64) -> f64 {
    let (mut rounds, start) = (0u64, Instant::now());
    while start.elapsed().as_secs_f64() < seconds {
        black_box(arch().dispatch(Spin { steps: 10_000 }));
        rounds += 1;
    }
    let per_round = arch().dispatch(Lanes) * CHAINS * 10_000 * 2;
    rounds as f64 * per_round as f64 / start.elapsed().as_secs_f64()
}

/// Independent chains of operations: enough to hide their latency, few enough to stay in registers.
const CHAINS: usize = 12;

struct Spin {
    steps: usize,
}

impl WithSimd for Spin {
    type Output = [Real; 64];

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> [Real; 64] {
        let (a, b) = (lane::splat(simd, black_box(0.999)), lane::splat(simd, black_box(1e-3)));
        let mut chains = [b; CHAINS];
        for _ in 0..self.steps {
            for chain in &mut chains {
                *chain = lane::fma(simd, a, *chain, b);
            }
        }
        let mut out = [0.0; 64];
        for chain in chains {
            // SAFETY: a vector has at most 16 numbers.
            unsafe { lane::store(simd, out.as_mut_ptr(), chain) };
            black_box(&out);
        }
        out
    }
}

struct Lanes;

impl WithSimd for Lanes {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> usize {
        lane::count::<S>()
    }
}
