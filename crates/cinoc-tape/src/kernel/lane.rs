//! Vector instructions under names common to both precisions.

use crate::Real;
use pulp::Simd;

macro_rules! lanes {
    ($vectors:ident, $masks:ident, $int:ty, $splat:ident, $add:ident, $max:ident, $sub:ident, $mul:ident, $neg:ident, $fma:ident, $greater:ident, $select:ident, $between:ident, $load:ident, $store:ident) => {
        pub type Vector<S> = <S as Simd>::$vectors;
        pub type Mask<S> = pulp::MemMask<<S as Simd>::$masks>;
        #[inline(always)]
        pub fn splat<S: Simd>(simd: S, x: Real) -> Vector<S> {
            simd.$splat(x)
        }
        #[inline(always)]
        pub fn add<S: Simd>(simd: S, a: Vector<S>, b: Vector<S>) -> Vector<S> {
            simd.$add(a, b)
        }
        #[inline(always)]
        pub fn sub<S: Simd>(simd: S, a: Vector<S>, b: Vector<S>) -> Vector<S> {
            simd.$sub(a, b)
        }
        #[inline(always)]
        pub fn mul<S: Simd>(simd: S, a: Vector<S>, b: Vector<S>) -> Vector<S> {
            simd.$mul(a, b)
        }
        /// `c − a·b`
        #[inline(always)]
        pub fn sub_product<S: Simd>(simd: S, c: Vector<S>, a: Vector<S>, b: Vector<S>) -> Vector<S> {
            simd.$fma(simd.$neg(a), b, c)
        }
        #[inline(always)]
        pub fn max<S: Simd>(simd: S, a: Vector<S>, b: Vector<S>) -> Vector<S> {
            simd.$max(a, b)
        }
        #[inline(always)]
        pub fn fma<S: Simd>(simd: S, a: Vector<S>, b: Vector<S>, c: Vector<S>) -> Vector<S> {
            simd.$fma(a, b, c)
        }
        /// `a` in the lanes where `x > 0`, else 0.
        #[inline(always)]
        pub fn where_positive<S: Simd>(simd: S, x: Vector<S>, a: Vector<S>) -> Vector<S> {
            let zero = splat(simd, 0.0);
            simd.$select(simd.$greater(x, zero), a, zero)
        }
        /// A mask of the first `count` lanes. (Rebuilt from its bits, it is used by one instruction instead of a call
        /// per width.)
        #[inline(always)]
        pub fn first<S: Simd>(simd: S, count: usize) -> Mask<S> {
            Mask::<S>::new(simd.$between(0, count as $int).mask())
        }
        /// Loads the lanes of a mask, zeros elsewhere.
        ///
        /// # Safety
        /// `from` is readable in the lanes of the mask.
        #[inline(always)]
        pub unsafe fn load_masked<S: Simd>(simd: S, mask: Mask<S>, from: *const Real) -> Vector<S> {
            // SAFETY: as this function requires.
            unsafe { simd.$load(mask, from) }
        }
        /// Stores the lanes of a mask.
        ///
        /// # Safety
        /// `to` is writable in the lanes of the mask.
        #[inline(always)]
        pub unsafe fn store_masked<S: Simd>(simd: S, mask: Mask<S>, to: *mut Real, x: Vector<S>) {
            // SAFETY: as this function requires.
            unsafe { simd.$store(mask, to, x) }
        }
    };
}
#[cfg(not(double))]
lanes!(
    f32s,
    m32s,
    u32,
    splat_f32s,
    add_f32s,
    max_f32s,
    sub_f32s,
    mul_f32s,
    neg_f32s,
    mul_add_e_f32s,
    greater_than_f32s,
    select_f32s,
    mask_between_m32s,
    mask_load_ptr_f32s,
    mask_store_ptr_f32s
);
#[cfg(double)]
lanes!(
    f64s,
    m64s,
    u64,
    splat_f64s,
    add_f64s,
    max_f64s,
    sub_f64s,
    mul_f64s,
    neg_f64s,
    mul_add_e_f64s,
    greater_than_f64s,
    select_f64s,
    mask_between_m64s,
    mask_load_ptr_f64s,
    mask_store_ptr_f64s
);

/// Loads a vector, at any alignment.
///
/// # Safety
/// `from` is readable for [`count`] numbers.
#[inline(always)]
pub unsafe fn load<S: Simd>(_: S, from: *const Real) -> Vector<S> {
    // SAFETY: as this function requires; a vector is that many numbers, and any bits are numbers.
    unsafe { from.cast::<Vector<S>>().read_unaligned() }
}

/// Stores a vector, at any alignment.
///
/// # Safety
/// `to` is writable for [`count`] numbers.
#[inline(always)]
pub unsafe fn store<S: Simd>(_: S, to: *mut Real, x: Vector<S>) {
    // SAFETY: as this function requires.
    unsafe { to.cast::<Vector<S>>().write_unaligned(x) }
}

/// Returns true with 32 vector registers or more, which hold larger blocks. WebAssembly has no such limit, but its
/// hosts mostly have sixteen: with the larger blocks the networks of a tick took more than twice the time.
pub const fn many_registers<S: Simd>() -> bool {
    S::REGISTER_COUNT >= 32 && !cfg!(target_family = "wasm")
}

/// Numbers per vector.
pub const fn count<S: Simd>() -> usize {
    size_of::<Vector<S>>() / size_of::<Real>()
}
