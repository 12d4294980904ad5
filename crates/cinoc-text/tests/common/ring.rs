//! Central differences on a ring of cells of width 1.

use super::CELLS;
use cinoc_tape::check::noise;
use cinoc_tape::{Tape, Var};
use cinoc_text::{Call, Operator, Operators, Reduction};
use std::sync::Arc;

/// Operators on a ring.
pub struct Ring;

/// Values of the neighbours at a distance.
fn shift(a: Var, by: i64) -> Var {
    let cells = a.shape().last() as i64;
    let index: Arc<[u32]> = (0..cells).map(|i| (i + by).rem_euclid(cells) as u32).collect();
    a.gather(&index)
}

fn derivative(a: Var) -> Var {
    (shift(a, 1) - shift(a, -1)) * 0.5
}

/// Both with the larger batch.
fn same<'t>(a: Var<'t>, b: Var<'t>) -> [Var<'t>; 2] {
    let batch = a.shape().rows().max(b.shape().rows());
    [a, b].map(|x| if x.shape().rows() == batch { x } else { x.repeat_rows(batch).reshape([batch, x.shape().last()]) })
}

impl Operators for Ring {
    fn record<'t>(&self, tape: &'t Tape<'t>, call: &Call, inputs: &[Var<'t>]) -> Var<'t> {
        match (&call.operator, inputs) {
            (Operator::Laplacian, [a]) => shift(*a, 1) + shift(*a, -1) - *a * 2.0,
            (Operator::Diffusion, [k, a]) => {
                let [k, a] = same(*k, *a);
                let flux = (k + shift(k, 1)) * 0.5 * (shift(a, 1) - a);
                flux - shift(flux, -1)
            }
            (Operator::Derivative(0), [a]) | (Operator::Divergence, [a]) => derivative(*a),
            (Operator::Advection, [v, a]) => {
                let [v, a] = same(*v, *a);
                v * derivative(a)
            }
            (Operator::Transport, [v, a]) => {
                let [v, a] = same(*v, *a);
                derivative(v * a)
            }
            (Operator::Reduction { reduction, zone: None, .. }, [a]) => {
                let shape = [a.shape().rows(), 1];
                match reduction {
                    Reduction::Mean => a.mean_keeping(1).reshape(shape),
                    Reduction::Sum => a.sum_keeping(1).reshape(shape),
                    Reduction::Maximum => {
                        let columns = (0..a.shape().last()).map(|i| a.columns(i, i + 1));
                        columns.reduce(|a, b| a + (b - a).relu()).unwrap()
                    }
                }
            }
            (Operator::Reduction { reduction, zone: Some(_), axis }, [a]) => {
                let call = Call { operator: Operator::Reduction { reduction: *reduction, axis: *axis, zone: None }, of: None };
                self.record(tape, &call, &[a.columns(0, 4)])
            }
            (Operator::Random { number, .. }, []) => tape.constant([1, CELLS], &noise(CELLS, *number as u64)),
            other => panic!("no such operator on a ring: {other:?}"),
        }
    }
}
