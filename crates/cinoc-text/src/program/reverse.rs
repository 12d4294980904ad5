//! Derivatives of a graph by reverse accumulation, as more nodes of the graph.

use crate::graph::{Binary, Graph, Id, Leaf, Operation, Unary};

/// Adds `Σ ȳ·∂y/∂x` for every leaf `x`, where leaf `i` of the array `cotangents` is the cotangent of root `i`. Leaves
/// without a derivative are left out.
pub(super) fn derivatives(mut graph: Graph, roots: &[Id], cotangents: usize) -> (Graph, Vec<(Leaf, Id)>) {
    let count = graph.nodes().len();
    let mut bars: Vec<Option<Id>> = vec![None; count];
    for (slot, root) in roots.iter().enumerate() {
        let bar = graph.leaf(Leaf { array: cotangents, slot });
        add(&mut graph, &mut bars[*root], bar);
    }
    let mut found = Vec::new();
    for id in (0..count).rev() {
        let Some(bar) = bars[id] else { continue };
        let operation = graph.nodes()[id].clone();
        if let Operation::Leaf(leaf) = operation {
            found.push((leaf, bar));
        }
        for (operand, term) in terms(&mut graph, id, &operation, bar) {
            if graph.constant(operand).is_none() {
                add(&mut graph, &mut bars[operand], term);
            }
        }
    }
    (graph, found)
}

fn add(graph: &mut Graph, bar: &mut Option<Id>, term: Id) {
    *bar = Some(match *bar {
        Some(bar) => graph.add(bar, term),
        None => term,
    });
}

/// Products of the cotangent of a node with its derivatives by its operands.
fn terms(graph: &mut Graph, y: Id, operation: &Operation, bar: Id) -> Vec<(Id, Id)> {
    let zero = graph.number(0.0);
    match *operation {
        Operation::Unary(function, a) => {
            let slope = slope(graph, function, a, y);
            vec![(a, graph.multiply(bar, slope))]
        }
        Operation::Binary(function, a, b) => match function {
            Binary::Add => vec![(a, bar), (b, bar)],
            Binary::Subtract => vec![(a, bar), (b, graph.negate(bar))],
            Binary::Multiply if a == b => {
                let double = graph.add(a, a);
                vec![(a, graph.multiply(bar, double))]
            }
            Binary::Multiply => vec![(a, graph.multiply(bar, b)), (b, graph.multiply(bar, a))],
            Binary::Divide => {
                let by_a = graph.divide(bar, b);
                let product = graph.multiply(by_a, y);
                vec![(a, by_a), (b, graph.negate(product))]
            }
            Binary::Minimum | Binary::Maximum => {
                let [less, more] = if function == Binary::Minimum { [b, a] } else { [a, b] };
                let second = graph.binary(Binary::Less, less, more);
                vec![(a, graph.select(second, zero, bar)), (b, graph.select(second, bar, zero))]
            }
            Binary::Power => power(graph, a, b, y, bar),
            Binary::Less | Binary::AtMost | Binary::Equal => Vec::new(),
        },
        Operation::Select(condition, a, b) => {
            vec![(a, graph.select(condition, bar, zero)), (b, graph.select(condition, zero, bar))]
        }
        Operation::Number(_) | Operation::Leaf(_) => Vec::new(),
        Operation::Call(..) => unreachable!("programs are pointwise"),
    }
}

/// Derivative of `y = function(a)`.
fn slope(graph: &mut Graph, function: Unary, a: Id, y: Id) -> Id {
    let (zero, one) = (graph.number(0.0), graph.number(1.0));
    match function {
        Unary::Exp => y,
        Unary::Log => graph.divide(one, a),
        // 0 at 0.
        Unary::Sqrt => {
            let half = graph.number(0.5);
            let (slope, positive) = (graph.divide(half, y), graph.binary(Binary::Less, zero, y));
            graph.select(positive, slope, zero)
        }
        Unary::Sin => graph.unary(Unary::Cos, a),
        Unary::Cos => {
            let sin = graph.unary(Unary::Sin, a);
            graph.negate(sin)
        }
        Unary::Tanh => {
            let square = graph.multiply(y, y);
            graph.subtract(one, square)
        }
        // 0 at 0.
        Unary::Abs => {
            let (positive, negative) = (graph.binary(Binary::Less, zero, a), graph.binary(Binary::Less, a, zero));
            graph.subtract(positive, negative)
        }
    }
}

/// Terms of `y = a^b`; the derivative by `b` is 0 where `a` is not positive.
fn power(graph: &mut Graph, a: Id, b: Id, y: Id, bar: Id) -> Vec<(Id, Id)> {
    let (zero, one) = (graph.number(0.0), graph.number(1.0));
    let less = graph.subtract(b, one);
    let lower = graph.power(a, less);
    let by_a = graph.multiply(b, lower);
    let by_a = (a, graph.multiply(bar, by_a));
    if graph.constant(b).is_some() {
        return vec![by_a];
    }
    let (log, positive) = (graph.unary(Unary::Log, a), graph.binary(Binary::Less, zero, a));
    let by_b = graph.multiply(y, log);
    let by_b = graph.select(positive, by_b, zero);
    vec![by_a, (b, graph.multiply(bar, by_b))]
}
