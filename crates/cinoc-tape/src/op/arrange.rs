//! Rearrangements: reshape, select, join, repeat.

use super::{Cotangents, Inputs, Op};
use crate::kernel::parallel;
use crate::{Real, Shape};
use std::sync::Arc;

/// Rearrangement of elements.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrange {
    /// Another shape for the same elements.
    Reshape(Shape),
    /// Columns `from..to` of the last axis.
    Columns(usize, usize),
    /// Elements of the last axis by index.
    Gather(Arc<[u32]>),
    /// Repetition of each element along a new last axis.
    Repeat(usize),
    /// Repetition of each row along a new axis before the last.
    RepeatRows(usize),
    /// Concatenation of two arrays along the last axis.
    Join,
    /// Transposition of each group of this number of rows.
    TransposeEach(usize),
}

impl Op for Arrange {
    fn name(&self) -> &'static str {
        match self {
            Self::Reshape(_) => "reshape",
            Self::Columns(..) => "columns",
            Self::Gather(_) => "gather",
            Self::Repeat(_) => "repeat",
            Self::RepeatRows(_) => "repeat rows",
            Self::Join => "join",
            Self::TransposeEach(_) => "transpose",
        }
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        match self {
            Self::Reshape(shape) => {
                assert_eq!(shape.count(), x[0].count(), "reshape: {:?} to {shape:?}", x[0]);
                *shape
            }
            Self::Columns(from, to) => {
                assert!(from < to && *to <= x[0].last(), "columns {from}..{to} of {:?}", x[0]);
                x[0].with_last(to - from)
            }
            Self::Gather(index) => {
                assert!(index.iter().all(|&i| (i as usize) < x[0].last()), "gather: an index beyond {:?}", x[0]);
                x[0].with_last(index.len())
            }
            Self::Repeat(times) => {
                let mut sizes = [0; Shape::AXES];
                let rank = x[0].sizes().len();
                sizes[..rank].copy_from_slice(x[0].sizes());
                sizes[rank] = *times;
                Shape::new(&sizes[..=rank])
            }
            Self::RepeatRows(times) => {
                let mut sizes = [0; Shape::AXES];
                let rank = x[0].sizes().len();
                sizes[..rank].copy_from_slice(x[0].sizes());
                (sizes[rank - 1], sizes[rank]) = (*times, x[0].last());
                Shape::new(&sizes[..=rank])
            }
            Self::Join => {
                assert_eq!(x[0].rows(), x[1].rows(), "join: {:?} and {:?}", x[0], x[1]);
                x[0].with_last(x[0].last() + x[1].last())
            }
            Self::TransposeEach(rows) => {
                assert!(x[0].rows().is_multiple_of(*rows), "transpose: {rows} rows of {:?} each", x[0]);
                Shape::new(&[x[0].count() / rows, *rows])
            }
        }
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], _: &mut [Real]) {
        let width = x.shape(0).last();
        match self {
            Self::Reshape(_) => parallel::copy(&x[0], y),
            Self::Columns(from, to) => {
                parallel::rows(y, to - from, to - from, |first, y| {
                    for (y, x) in y.chunks_exact_mut(to - from).zip(x[0][first * width..].chunks_exact(width)) {
                        y.copy_from_slice(&x[*from..*to]);
                    }
                });
            }
            Self::Gather(index) => {
                for (y, x) in y.chunks_exact_mut(index.len()).zip(x[0].chunks_exact(width)) {
                    y.iter_mut().zip(index.iter()).for_each(|(y, &i)| *y = x[i as usize]);
                }
            }
            Self::Repeat(times) => y.chunks_exact_mut(*times).zip(&x[0]).for_each(|(y, x)| y.fill(*x)),
            Self::RepeatRows(times) => {
                for (i, y) in y.chunks_exact_mut(width).enumerate() {
                    y.copy_from_slice(&x[0][i / times * width..][..width]);
                }
            }
            Self::Join => {
                let other = x.shape(1).last();
                parallel::rows(y, width + other, width + other, |first, y| {
                    for (i, y) in y.chunks_exact_mut(width + other).enumerate() {
                        y[..width].copy_from_slice(&x[0][(first + i) * width..][..width]);
                        y[width..].copy_from_slice(&x[1][(first + i) * other..][..other]);
                    }
                });
            }
            Self::TransposeEach(rows) => {
                for (y, x) in y.chunks_exact_mut(rows * width).zip(x[0].chunks_exact(rows * width)) {
                    x.iter().enumerate().for_each(|(i, x)| y[i % width * rows + i / width] = *x);
                }
            }
        }
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, _: &mut [Real]) {
        let width = x.shape(0).last();
        let add = |to: &mut [Real], from: &[Real]| to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
        if let Some(x_bar) = bars.get(0) {
            match self {
                Self::Reshape(_) => add(x_bar, y_bar),
                Self::Columns(from, to) => {
                    for (x_bar, y_bar) in x_bar.chunks_exact_mut(width).zip(y_bar.chunks_exact(to - from)) {
                        add(&mut x_bar[*from..*to], y_bar);
                    }
                }
                Self::Gather(index) => {
                    for (x_bar, y_bar) in x_bar.chunks_exact_mut(width).zip(y_bar.chunks_exact(index.len())) {
                        index.iter().zip(y_bar).for_each(|(&i, y_bar)| x_bar[i as usize] += y_bar);
                    }
                }
                Self::Repeat(times) => {
                    for (x_bar, y_bar) in x_bar.iter_mut().zip(y_bar.chunks_exact(*times)) {
                        *x_bar += y_bar.iter().sum::<Real>();
                    }
                }
                Self::RepeatRows(times) => {
                    for (i, y_bar) in y_bar.chunks_exact(width).enumerate() {
                        add(&mut x_bar[i / times * width..][..width], y_bar);
                    }
                }
                Self::Join => {
                    let both = width + x.shape(1).last();
                    for (x_bar, y_bar) in x_bar.chunks_exact_mut(width).zip(y_bar.chunks_exact(both)) {
                        add(x_bar, &y_bar[..width]);
                    }
                }
                Self::TransposeEach(rows) => {
                    for (x_bar, y_bar) in x_bar.chunks_exact_mut(rows * width).zip(y_bar.chunks_exact(rows * width)) {
                        x_bar.iter_mut().enumerate().for_each(|(i, x_bar)| *x_bar += y_bar[i % width * rows + i / width]);
                    }
                }
            }
        }
        if let (Self::Join, Some(x_bar)) = (self, bars.get(1)) {
            let other = x.shape(1).last();
            for (x_bar, y_bar) in x_bar.chunks_exact_mut(other).zip(y_bar.chunks_exact(width + other)) {
                add(x_bar, &y_bar[width..]);
            }
        }
    }
}
