//! Messages of neighbours.

use super::Gaps;
use crate::Real;
use cinoc_pde::Grid;
use cinoc_tape::{Cotangents, Inputs, Op, Shape};

/// Messages of the nearest active neighbours: on a line of those to the left and to the right, in the plane of those in
/// eight sectors; zeros where there is none, or where a message is lost.
///
/// Inputs: messages `[batch, agents, k]`, positions `[batch, agents, d]`, strength `[batch, agents]`, and 1 for each
/// message that arrives, `[batch, agents, neighbours]`; output `[batch, agents, neighbours·k]`. Positions have no
/// derivative: neighbours change in steps.
pub struct Hear(Gaps);

impl Hear {
    /// Creates the operation for agents on `grid`.
    pub fn new(grid: &Grid) -> Self {
        Self(Gaps::new(grid, 1.0))
    }

    /// Number of neighbours that an agent may hear.
    pub fn neighbours(&self) -> usize {
        self.0.count()
    }
}

impl Op for Hear {
    fn name(&self) -> &'static str {
        "hear"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        let each = self.neighbours();
        let fits = x[0].rows() == x[1].rows() && x[2].count() == x[0].rows() && x[3] == x[0].with_last(each);
        assert!(fits, "hear: messages {:?}, positions {:?}, strength {:?}, arrivals {:?}", x[0], x[1], x[2], x[3]);
        x[0].with_last(each * x[0].last())
    }

    fn saved(&self, x: &[Shape]) -> usize {
        x[0].rows() * self.neighbours()
    }

    fn scratch(&self, x: &[Shape]) -> usize {
        x[0].sizes()[1] * self.neighbours() + self.0.work(x[0].sizes()[1])
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], ends: &mut [Real], work: &mut [Real]) {
        let (&[_, agents, width], each) = (x.shape(0).sizes(), self.neighbours()) else { unreachable!() };
        let d = x.shape(1).last();
        let (gaps, work) = work.split_at_mut(agents * each);
        for (b, ends) in ends.chunks_exact_mut(agents * each).enumerate() {
            let (xi, strength) = (&x[1][b * agents * d..][..agents * d], &x[2][b * agents..][..agents]);
            self.0.neighbours(xi, strength, gaps, ends, work);
        }
        for (n, (y, (end, arrives))) in y.chunks_exact_mut(width).zip(ends.iter().zip(&x[3])).enumerate() {
            match end {
                end if *end >= 0.0 => {
                    let from = (n / (agents * each) * agents + *end as usize) * width;
                    y.iter_mut().zip(&x[0][from..]).for_each(|(y, message)| *y = arrives * message);
                }
                _ => y.fill(0.0),
            }
        }
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], ends: &[Real], bars: &mut Cotangents, _: &mut [Real]) {
        let (&[_, agents, width], each) = (x.shape(0).sizes(), self.neighbours()) else { unreachable!() };
        let Some(bar) = bars.get(0) else { return };
        for (n, (y_bar, (end, arrives))) in y_bar.chunks_exact(width).zip(ends.iter().zip(&x[3])).enumerate() {
            if *end >= 0.0 {
                let to = (n / (agents * each) * agents + *end as usize) * width;
                bar[to..to + width].iter_mut().zip(y_bar).for_each(|(bar, y_bar)| *bar += arrives * y_bar);
            }
        }
    }
}
