//! Tools of the tests: operators on a ring, a scope with names of all kinds, an interpreter, random texts.
#![allow(dead_code)]

pub mod interpreter;
pub mod ring;
pub mod texts;

use cinoc_tape::Real;
use cinoc_tape::check::noise;
use cinoc_text::{Kind, Scope};

/// Cells of the ring.
pub const CELLS: usize = 10;
/// Number of agents.
pub const AGENTS: usize = 3;
/// Number of instances.
pub const BATCH: usize = 2;

/// Names of all kinds. The arrays are: fields `u`, `v`; constants `a`, `b`; maps `k`, `m`; vector `wind`; series `heat`;
/// channel `push`; actions `push.u`; zone `left`.
pub fn scope() -> Scope {
    let mut scope = Scope::new(1).with_random();
    scope.add(&["u", "v"], Kind::FIELD).unwrap();
    scope.add(&["a", "b"], Kind::CONSTANT).unwrap();
    scope.add(&["k", "m"], Kind::MAP).unwrap();
    scope.add(&["wind"], Kind::MAP.vector()).unwrap();
    scope.add(&["heat"], Kind::SERIES).unwrap();
    scope.add(&["push"], Kind::CHANNEL).unwrap();
    scope.add(&["push.u"], Kind::ACTION).unwrap();
    scope.add(&["left"], Kind::ZONE).unwrap();
    scope
}

/// Shapes of the arrays: some shared by all instances, some not.
pub const SHAPES: [&[usize]; 8] =
    [&[BATCH, 2 * CELLS], &[BATCH, 2], &[2 * CELLS], &[1, CELLS], &[1], &[BATCH, CELLS], &[BATCH, AGENTS], &[CELLS]];

/// Values of the arrays, different for each seed.
pub fn arrays(seed: u64) -> Vec<Vec<Real>> {
    SHAPES
        .iter()
        .enumerate()
        .map(|(i, shape)| {
            let values = noise(shape.iter().product(), seed * 100 + i as u64);
            match i {
                // Constants and maps are positive, so that roots and powers of them have derivatives.
                1 | 2 | 4 => values.iter().map(|x| 1.0 + 0.5 * x).collect(),
                7 => (0..CELLS).map(|cell| if cell < 4 { 1.0 } else { 0.0 }).collect(),
                _ => values,
            }
        })
        .collect()
}
