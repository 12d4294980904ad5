//! Execution of register code on a block of lanes.

use super::code::{Arithmetic, Code, Operand, Target, Uniform, Work};
use crate::graph::{Binary, Leaf, Unary};
use cinoc_tape::Real;
use cinoc_tape::kernel::math;
use std::ops::Range;

/// Numbers of a block's registers: few enough for the first-level cache.
const NUMBERS: usize = 16384 / size_of::<Real>();

/// Number of lanes that fills vectors of any machine.
const CHUNK: usize = 64;

/// Number of lanes of a block with this number of registers.
pub(super) fn block_lanes(registers: usize) -> usize {
    (NUMBERS / registers.max(1) / CHUNK * CHUNK).clamp(CHUNK, 1024)
}

/// Registers of a block, one after another.
pub(super) struct Registers<'a> {
    pub all: &'a mut [Real],
    /// Lanes of a register.
    pub lanes: usize,
}

impl Registers<'_> {
    /// First lanes of a register.
    #[inline(always)]
    pub fn get(&self, i: usize, length: usize) -> &[Real] {
        &self.all[i * self.lanes..][..length]
    }
}

/// Results of a block.
pub(super) trait Output {
    /// Place of result `i`.
    fn result(&mut self, i: usize) -> &mut [Real];
}

/// Fills the registers of constants.
#[inline(always)]
pub(super) fn fill_numbers(code: &Code, registers: &mut Registers) {
    for (register, uniform) in registers.all.chunks_exact_mut(registers.lanes).zip(&code.uniform) {
        if let Uniform::Number(value) = uniform {
            register.fill(*value);
        }
    }
}

/// Fills the registers of values that are the same in all lanes of an instance, for some lanes of a block.
#[inline(always)]
pub(super) fn fill(code: &Code, registers: &mut Registers, lanes: Range<usize>, value: impl Fn(Leaf) -> Real) {
    for (register, uniform) in registers.all.chunks_exact_mut(registers.lanes).zip(&code.uniform) {
        if let Uniform::Leaf(leaf) = uniform {
            register[lanes.clone()].fill(value(*leaf));
        }
    }
}

impl Operand {
    /// Values of an operand.
    #[inline(always)]
    pub fn of<'a>(self, registers: &'a Registers, code: &Code, length: usize, lane: impl Fn(Leaf) -> &'a [Real]) -> &'a [Real] {
        match self {
            Self::Register(i) => registers.get(i, length),
            Self::Lane(i) => lane(code.lanes[i]),
        }
    }
}

/// Runs the passes that a wanted input needs on a block of `length` lanes.
#[inline(always)]
pub(super) fn run<'a>(
    code: &Code,
    registers: &mut Registers,
    length: usize,
    wanted: u16,
    lane: impl Fn(Leaf) -> &'a [Real],
    output: &mut impl Output,
) {
    for step in &code.steps {
        if step.needed & wanted == 0 {
            continue;
        }
        // Operands never are in the register of the result.
        let lanes = registers.lanes;
        let (before, to, after) = match step.to {
            Target::Register(i) => {
                let (before, rest) = registers.all.split_at_mut(i * lanes);
                let (to, after) = rest.split_at_mut(lanes);
                (&*before, &mut to[..length], &*after)
            }
            Target::Output(i) => (&*registers.all, output.result(i), &[][..]),
        };
        let at = |operand: Operand| match operand {
            Operand::Register(i) => match (i * lanes).checked_sub(before.len()) {
                None => &before[i * lanes..][..length],
                Some(behind) => &after[behind - lanes..][..length],
            },
            Operand::Lane(i) => lane(code.lanes[i]),
        };
        match step.work {
            Work::Copy(a) => to.copy_from_slice(at(a)),
            Work::Unary(function, a) => unary(function, to, at(a)),
            Work::Binary(function, a, b) => binary(function, to, at(a), at(b)),
            Work::Chain(first, second, [a, b, c]) => chain(first, second, to, at(a), at(b), at(c)),
            Work::Select([a, b, c]) => three(to, at(a), at(b), at(c), |a, b, c| if a != 0.0 { b } else { c }),
        }
    }
}

#[inline(always)]
fn one(to: &mut [Real], a: &[Real], f: impl Fn(Real) -> Real) {
    to.iter_mut().zip(a).for_each(|(to, a)| *to = f(*a));
}

#[inline(always)]
fn two(to: &mut [Real], a: &[Real], b: &[Real], f: impl Fn(Real, Real) -> Real) {
    to.iter_mut().zip(a).zip(b).for_each(|((to, a), b)| *to = f(*a, *b));
}

#[inline(always)]
fn three(to: &mut [Real], a: &[Real], b: &[Real], c: &[Real], f: impl Fn(Real, Real, Real) -> Real) {
    to.iter_mut().zip(a).zip(b).zip(c).for_each(|(((to, a), b), c)| *to = f(*a, *b, *c));
}

#[inline(always)]
fn unary(function: Unary, to: &mut [Real], a: &[Real]) {
    match function {
        Unary::Exp => one(to, a, math::exp),
        Unary::Log => one(to, a, Real::ln),
        Unary::Sqrt => one(to, a, Real::sqrt),
        Unary::Sin => one(to, a, Real::sin),
        Unary::Cos => one(to, a, Real::cos),
        Unary::Tanh => one(to, a, math::tanh),
        Unary::Abs => one(to, a, Real::abs),
    }
}

#[inline(always)]
fn binary(function: Binary, to: &mut [Real], a: &[Real], b: &[Real]) {
    let is = |condition: bool| if condition { 1.0 } else { 0.0 };
    match function {
        Binary::Add => two(to, a, b, |a, b| a + b),
        Binary::Subtract => two(to, a, b, |a, b| a - b),
        Binary::Multiply => two(to, a, b, |a, b| a * b),
        Binary::Divide => two(to, a, b, |a, b| a / b),
        Binary::Minimum => two(to, a, b, |a, b| if b < a { b } else { a }),
        Binary::Maximum => two(to, a, b, |a, b| if b > a { b } else { a }),
        Binary::Power => two(to, a, b, Real::powf),
        Binary::Less => two(to, a, b, |a, b| is(a < b)),
        Binary::AtMost => two(to, a, b, |a, b| is(a <= b)),
        Binary::Equal => two(to, a, b, |a, b| is(a == b)),
    }
}

/// `second(first(a, b), c)`: one loop for each pair.
#[inline(always)]
fn chain(first: Arithmetic, second: Arithmetic, to: &mut [Real], a: &[Real], b: &[Real], c: &[Real]) {
    macro_rules! then {
        ($first:expr) => {
            match second {
                Arithmetic::Add => three(to, a, b, c, |a, b, c| $first(a, b) + c),
                Arithmetic::Subtract => three(to, a, b, c, |a, b, c| $first(a, b) - c),
                Arithmetic::Reverse => three(to, a, b, c, |a, b, c| c - $first(a, b)),
                Arithmetic::Multiply => three(to, a, b, c, |a, b, c| $first(a, b) * c),
            }
        };
    }
    match first {
        Arithmetic::Add => then!((|a: Real, b: Real| a + b)),
        Arithmetic::Subtract | Arithmetic::Reverse => then!((|a: Real, b: Real| a - b)),
        Arithmetic::Multiply => then!((|a: Real, b: Real| a * b)),
    }
}
