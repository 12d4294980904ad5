//! Compiled programs against the plain evaluation: values and derivatives, for every function and for random texts.

mod common;

use cinoc_tape::check::{Point, assert_derivative, noise, pull_back};
use cinoc_tape::{Arena, Real, Shape, Tape, Var};
use cinoc_text::{Axis, Call, Expr, Kind, Operator, Operators, Plan, Scope, parse};
use common::interpreter::Instance;
use common::ring::Ring;
use common::texts::Dice;
use common::{BATCH, CELLS, SHAPES, arrays, scope};

/// Relative error of a value and of a derivative.
const CLOSE: [f64; 2] = if cfg!(double) { [1e-11, 1e-6] } else { [2e-5, 2e-3] };

fn point(seed: u64) -> Point {
    SHAPES.iter().zip(arrays(seed)).map(|(shape, values)| (Shape::new(shape), values)).collect()
}

fn double(point: &Point) -> Vec<Vec<f64>> {
    point.iter().map(|(_, values)| values.iter().map(|x| *x as f64).collect()).collect()
}

/// Values of expressions for all instances by the plain evaluation: `[batch, expressions·cells]`.
fn plain(exprs: &[&Expr], arrays: &[Vec<f64>], cells: usize) -> Vec<f64> {
    let mut all = Vec::new();
    for number in 0..BATCH {
        for expr in exprs {
            let values = Instance { arrays, number }.value(expr);
            all.extend((0..cells).map(|cell| values[if values.len() == 1 { 0 } else { cell }]));
        }
    }
    all
}

/// Compares values and the derivative along a random direction; `true` if all of them are finite.
fn agree(texts: &[&str], axis: Axis, seed: u64) -> bool {
    let scope = scope();
    let exprs: Vec<_> = texts.iter().map(|text| parse(text, &scope).unwrap_or_else(|error| panic!("{error}"))).collect();
    let exprs: Vec<_> = exprs.iter().collect();
    let plan = Plan::new(&scope, &exprs, axis).unwrap_or_else(|error| panic!("{error}"));
    let (point, cells) = (point(seed), if axis == Axis::Cells { CELLS } else { 1 });
    let count = exprs.len() * cells * BATCH;
    let ones = noise(count, seed + 1);
    let (found, _) = pull_back(&point, &|inputs| plan.record(inputs, &Ring), None);
    let batches = found.len() * BATCH / count;
    assert!(batches == 1 || batches == BATCH, "{texts:?} has {} values", found.len());
    let at = double(&point);
    let expected = plain(&exprs, &at, cells);
    if !expected.iter().all(|x| x.abs() < 1e3) {
        return false;
    }
    let scale = expected.iter().fold(1.0, |a: f64, b| a.max(b.abs()));
    for (i, found) in found.iter().enumerate() {
        assert!((*found as f64 - expected[i]).abs() < CLOSE[0] * 10.0 * scale, "{texts:?}: {found} at {i}, not {}", expected[i]);
    }
    // The derivative in a random direction, from differences of the plain evaluation.
    let y_bar: Vec<Real> = if batches == BATCH { ones } else { ones[..count / BATCH].to_vec() };
    let (_, bars) = pull_back(&point, &|inputs| plan.record(inputs, &Ring), Some(&y_bar));
    let directions: Vec<Vec<f64>> =
        at.iter().enumerate().map(|(i, x)| noise(x.len(), seed + 7 + i as u64).iter().map(|x| *x as f64).collect()).collect();
    let moved = |step: f64| -> f64 {
        // The zone is no number that can be changed.
        let moved: Vec<Vec<f64>> = at
            .iter()
            .zip(&directions)
            .enumerate()
            .map(|(i, (x, d))| x.iter().zip(d).map(|(x, d)| if i == 7 { *x } else { x + step * d }).collect())
            .collect();
        plain(&exprs, &moved, cells).iter().zip(&y_bar).map(|(y, bar)| y * *bar as f64).sum()
    };
    let slope = |step: f64| (moved(step) - moved(-step)) / (2.0 * step);
    let (measured, coarse) = (slope(1e-6), slope(4e-6));
    let terms: Vec<f64> =
        bars.iter().zip(&directions).take(7).map(|(bar, d)| bar.iter().zip(d).map(|(bar, d)| *bar as f64 * d).sum()).collect();
    let size = terms.iter().map(|x| x.abs()).sum::<f64>().max(1.0);
    // Differences across a kink say nothing.
    if (measured - coarse).abs() > 1e-6 * size || !measured.is_finite() || size > 1e4 {
        return false;
    }
    let exact: f64 = terms.iter().sum();
    assert!((exact - measured).abs() < CLOSE[1] * size, "{texts:?}: derivative {exact}, by differences {measured}");
    true
}

const EVERY: [&str; 54] = [
    "exp(u)",
    "log(k)",
    "sqrt(k + u^2)",
    "sin(3*u)",
    "cos(3*u)",
    "tan(u)",
    "tanh(2*u)",
    "abs(u)",
    "min(u, v)",
    "max(u, v)",
    "clamp(u, -0.5, v)",
    "where(u < v, u^2, v)",
    "where(u <= 0.1, u, a*v)",
    "where(u > v, exp(u), k)",
    "where(u >= v, u, m)",
    "where(k == m, u, v)",
    "where(k != m, u, v)",
    "where(left, u, push)",
    "step(u)*v",
    "smoothstep(-0.5, 0.7, u)",
    "smoothstep(-a, b, u*v)",
    "u + v",
    "u - v",
    "-u",
    "u*v*u",
    "u/k",
    "1/(2 + u)",
    "u/4",
    "u^2 + u^3 + u^7 + u^0",
    "k^-2 + k^(-3)",
    "k^0.5",
    "k^1.7",
    "k^a",
    "a^u",
    "2^u",
    "u^16",
    "a*u + b",
    "heat*u - heat",
    "a",
    "3",
    "a*b + heat",
    "exp(a)*exp(heat)*u",
    "exp(k)*sin(m*k)*v",
    "lap(u)",
    "lap(lap(u)) + lap(u^3 - u)",
    "div(k*grad(u))",
    "div((1 + u^2)*grad(v)/k)",
    "div(grad(u) - wind*v)",
    "dot(wind, grad(u)) + dot(grad(u), grad(v))",
    "dot(2*wind - grad(k), grad(u*v))",
    "div(wind*u) - div(wind)",
    "dx(u*dx(v)) + dx(dx(u))",
    "mean(u)*v + sum(u*v, left) + mean(push.u^2)",
    "max(u)*v - max(v*k, left) + max(push.u)*u",
];

#[test]
fn every_function_agrees_with_the_plain_evaluation() {
    for (i, text) in EVERY.iter().enumerate() {
        let compared = (1..=5).any(|seed| agree(&[text], Axis::Cells, 10 * i as u64 + seed));
        assert!(compared, "{text} was not compared");
    }
}

#[test]
fn expressions_of_one_value_agree() {
    for text in ["1e-4*mean(push.u^2)", "mean((u - k)^2)", "sqrt(mean(u^2, left)) + a*heat", "max(u) - sum(v)", "a", "2"] {
        assert!((1..=3).any(|seed| agree(&[text], Axis::Instance, seed)), "{text} was not compared");
    }
}

#[test]
fn several_expressions_are_computed_together() {
    for seed in 1..5 {
        agree(&["lap(u) + u - u*v^2", "lap(v) + u*v^2 - b*v"], Axis::Cells, seed);
        agree(&["u", "u", "a", "3", "u*v", "u*v + 1", "lap(u)"], Axis::Cells, seed);
    }
}

#[test]
fn more_inputs_than_a_tape_takes_are_joined() {
    let text = "u*a*k*dot(wind, grad(u))*heat*push*where(left, 1, 2) + lap(u)*lap(v) + lap(k) + dx(v) + lap(m) + dx(k) + mean(u)*sum(v)*mean(v) + mean(k)";
    assert!((1..=3).any(|seed| agree(&[text], Axis::Cells, seed)));
}

#[test]
fn joined_inputs_may_have_several_names() {
    let mut scope = Scope::new(1);
    let names: Vec<_> = (0..10).map(|i| [format!("p{i}"), format!("q{i}")]).collect();
    let kind = |i: usize| if i.is_multiple_of(2) { Kind::MAP } else { Kind::CONSTANT };
    for (i, [p, q]) in names.iter().enumerate() {
        scope.add(&[p, q], kind(i)).unwrap();
    }
    let text = names.iter().map(|[p, q]| format!("{p}*{q}*q9")).collect::<Vec<_>>().join(" - ");
    let plan = Plan::new(&scope, &[&parse(&text, &scope).unwrap()], Axis::Cells).unwrap();
    let values: Vec<_> = (0..10).map(|i| noise(if kind(i) == Kind::MAP { 2 * 2 * 5 } else { 2 * 2 }, i as u64)).collect();
    let inputs: Vec<(Vec<usize>, &[Real])> = values.iter().map(|x| (vec![2, x.len() / 2], x.as_slice())).collect();
    let inputs: Vec<(&[usize], &[Real])> = inputs.iter().map(|(shape, x)| (shape.as_slice(), *x)).collect();
    assert_derivative(&inputs, |x| plan.record(x, &Ring));
    let point: Point = inputs.iter().map(|(shape, x)| (Shape::new(shape), x.to_vec())).collect();
    let (found, _) = pull_back(&point, &|x| plan.record(x, &Ring), None);
    for (lane, found) in found.iter().enumerate() {
        let (instance, cell) = (lane / 5, lane % 5);
        let at = |i: usize, slot: usize| {
            if kind(i) == Kind::MAP { values[i][instance * 10 + slot * 5 + cell] } else { values[i][instance * 2 + slot] }
        };
        let terms: Vec<_> = (0..10).map(|i| at(i, 0) * at(i, 1) * at(9, 1)).collect();
        let expected = terms[1..].iter().fold(terms[0], |all, term| all - term);
        assert!((found - expected).abs() < 1e-5, "{found} at {lane}, not {expected}");
    }
}

#[test]
fn random_texts_agree() {
    let mut dice = Dice(5);
    let (mut compared, mut all) = (0, 0);
    while all < if cfg!(miri) { 3 } else { 1500 } {
        let depth = 1 + dice.below(4);
        let text = dice.scalar(depth);
        // What a text may not say: an operator of something that is the same everywhere.
        if parse(&text, &scope()).is_err() {
            continue;
        }
        all += 1;
        compared += usize::from(agree(&[&text], Axis::Cells, all as u64));
    }
    assert!(compared * 10 > all * 8, "{compared} of {all} were compared");
}

/// By the check of the tape, as for all operations.
#[test]
fn derivatives_pass_the_check_of_the_tape() {
    let scope = scope();
    for text in ["u - u^3 + push", "exp(u)*v/k", "a*tanh(u)*sin(v)", "sqrt(k)*cos(m) + log(a)*heat", "div(k*grad(u)) - b*u"] {
        let expr = parse(text, &scope).unwrap();
        let plan = Plan::new(&scope, &[&expr], Axis::Cells).unwrap();
        let arrays = arrays(3);
        let inputs: Vec<(&[usize], &[Real])> = SHAPES.iter().copied().zip(arrays.iter().map(Vec::as_slice)).collect();
        assert_derivative(&inputs, |inputs| plan.record(inputs, &Ring));
    }
}

#[test]
fn blocks_of_any_length_agree() {
    // Lanes around multiples of a block, with batches, shared arrays and one row.
    let mut scope = Scope::new(1);
    scope.add(&["z"], Kind::FIELD).unwrap();
    scope.add(&["k"], Kind::MAP).unwrap();
    scope.add(&["a"], Kind::CONSTANT).unwrap();
    let expr = parse("a*z*k + tanh(z) - z^3", &scope).unwrap();
    let plan = Plan::new(&scope, &[&expr], Axis::Cells).unwrap();
    for cells in [1, 2, 63, 127, 128, 129, 300, 1000] {
        for (batch, own) in [(1, 1), (3, 1), (3, 3)] {
            let (z, k, a) = (noise(batch * cells, 1), noise(own * cells, 2), noise(own, 3));
            let tape = Tape::new(Arena::default(), &[]);
            let arrays = [tape.input([batch, cells], &z), tape.input([own, cells], &k), tape.input([own, 1], &a)];
            let y = plan.record(&arrays, &Ring).value();
            for (i, y) in y.iter().enumerate() {
                let (z, k, a) = (z[i], k[i % k.len()], a[i / cells % own]);
                let expected = a * z * k + z.tanh() - z * z * z;
                assert!((y - expected).abs() < 1e-5, "{batch} x {cells}: {y}, not {expected}");
            }
            assert_derivative(&[(&[batch, cells], &z), (&[own, cells], &k), (&[own, 1], &a)], |x| plan.record(x, &Ring));
        }
    }
}

#[test]
fn numbers_that_are_not_finite_do_not_panic() {
    let scope = scope();
    let bad = [Real::NAN, Real::INFINITY, Real::NEG_INFINITY, 0.0, -0.0, Real::MAX, Real::MIN_POSITIVE];
    for (i, text) in EVERY.iter().enumerate() {
        let expr = parse(text, &scope).unwrap();
        let plan = Plan::new(&scope, &[&expr], Axis::Cells).unwrap();
        for seed in 0..3 {
            let mut point = point(seed);
            for (array, (_, values)) in point.iter_mut().enumerate() {
                values.iter_mut().enumerate().for_each(|(j, x)| *x = bad[(i + j * 3 + array + seed as usize) % bad.len()]);
            }
            let (y, _) = pull_back(&point, &|inputs| plan.record(inputs, &Ring), None);
            pull_back(&point, &|inputs| plan.record(inputs, &Ring), Some(&y));
        }
    }
}

#[test]
fn constant_parts_are_computed_once() {
    let scope = scope();
    let expr = parse("exp(k)*u + exp(a)*u + exp(heat)*u", &scope).unwrap();
    let plan = Plan::new(&scope, &[&expr], Axis::Cells).unwrap();
    let point = point(1);
    let tape = Tape::new(Arena::default(), &[]);
    let constant = [1, 2, 3, 7];
    let arrays: Vec<_> = point
        .iter()
        .enumerate()
        .map(|(i, (shape, x))| if constant.contains(&i) { tape.constant(*shape, x) } else { tape.input(*shape, x) })
        .collect();
    plan.record(&arrays, &Ring);
    // exp(k), exp(a) and exp(heat) have separate programs.
    assert_eq!(plan.programs().count(), 4);
}

#[test]
fn inputs_may_be_the_same_variable() {
    let mut scope = Scope::new(1);
    for name in ["p", "q", "r"] {
        scope.add(&[name], Kind::FIELD).unwrap();
    }
    let expr = parse("q*r^2 + p*q - tanh(r)", &scope).unwrap();
    let plan = Plan::new(&scope, &[&expr], Axis::Cells).unwrap();
    let x = noise(2 * 200, 4);
    assert_derivative(&[(&[2, 200], &x)], |x| plan.record(&[x[0], x[0], x[0]], &Ring));
    assert_derivative(&[(&[2, 200], &x)], |x| plan.record(&[x[0], x[0].tanh(), x[0]], &Ring) + x[0]);
}

#[test]
fn random_fields_are_different_ones() {
    let scope = scope();
    let expr = parse("random(0.2) + 2*random(0.2)", &scope).unwrap();
    let plan = Plan::new(&scope, &[&expr], Axis::Cells).unwrap();
    let (found, _) = pull_back(&point(1), &|inputs| plan.record(inputs, &Ring), None);
    let (first, second) = (noise(CELLS, 0), noise(CELLS, 1));
    let expected: Vec<_> = first.iter().zip(&second).map(|(a, b)| a + b * 2.0).collect();
    assert_eq!(found, expected);
}

/// Operators with the algebra of derivatives: `d/dx` multiplies by 2, `d/dy` by 3.
struct Symbols;

impl Operators for Symbols {
    fn record<'t>(&self, _: &'t Tape<'t>, call: &Call, x: &[Var<'t>]) -> Var<'t> {
        match (&call.operator, x) {
            (Operator::Derivative(i), [a]) => *a * [2.0, 3.0][*i],
            (Operator::Laplacian, [a]) => *a * 13.0,
            (Operator::Diffusion, [k, a]) => *k * *a * 13.0,
            (Operator::Divergence, [v, w]) => *v * 2.0 + *w * 3.0,
            (Operator::Advection | Operator::Transport, [v, w, a]) => (*v * 2.0 + *w * 3.0) * *a,
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn vectors_have_components() {
    let mut scope = Scope::new(2);
    scope.add(&["z", "w"], Kind::FIELD).unwrap();
    scope.add(&["wind", "flow"], Kind::MAP.vector()).unwrap();
    scope.add(&["drift"], Kind::CONSTANT.vector()).unwrap();
    scope.add(&["k"], Kind::MAP).unwrap();
    let x: Vec<Vec<Real>> = vec![vec![0.5, -1.5], vec![1.0, 2.0, -0.5, 0.25], vec![3.0, -2.0], vec![0.75]];
    let (z, w, wx, wy, fx, fy, dx, dy, k) = (0.5, -1.5, 1.0, 2.0, -0.5, 0.25, 3.0, -2.0, 0.75);
    for (text, expected) in [
        ("wind.x - flow.y + drift.x", wx - fy + dx),
        ("dot(wind, flow)", wx * fx + wy * fy),
        ("dx(z) + dy(w)", 2.0 * z + 3.0 * w),
        ("dot(grad(z), grad(w))", 13.0 * z * w),
        ("dot(wind, grad(z))", (2.0 * wx + 3.0 * wy) * z),
        ("dot(grad(z), k*(drift - wind))", k * (2.0 * (dx - wx) + 3.0 * (dy - wy)) * z),
        ("div(wind/k + 2*flow)", (2.0 * wx + 3.0 * wy) / k + 2.0 * (2.0 * fx + 3.0 * fy)),
        ("div(-z*wind - k*grad(w))", -(2.0 * wx + 3.0 * wy) * z - 13.0 * k * w),
        ("div(k*drift*z)", k * (2.0 * dx + 3.0 * dy) * z),
        ("div(where(z < 0, wind, flow))", 2.0 * fx + 3.0 * fy),
    ] {
        let expr = parse(text, &scope).unwrap_or_else(|error| panic!("{error}"));
        let plan = Plan::new(&scope, &[&expr], Axis::Cells).unwrap();
        let tape = Tape::new(Arena::default(), &[]);
        let arrays: Vec<_> = x.iter().map(|values| tape.input([1, values.len()], values)).collect();
        let found = plan.record(&arrays, &Symbols).value();
        assert!((found[0] - expected).abs() < 1e-5, "{text} = {found:?}, not {expected}");
    }
}

#[test]
fn equal_parts_are_computed_once() {
    let scope = scope();
    let passes = |text: &str| {
        let plan = Plan::new(&scope, &[&parse(text, &scope).unwrap()], Axis::Cells).unwrap();
        (plan.programs().map(|program| program.passes()[0]).sum::<usize>(), plan.calls().count())
    };
    assert_eq!(passes("u - u^3 + push"), (2, 0));
    assert_eq!(passes("sin(u) + sin(u)*sin(u + 0)"), (2, 0));
    assert_eq!(passes("lap(u)*lap(u) + lap(1*u)"), (1, 1));
    assert_eq!(passes("(2 + 3)*u*1 - 0*exp(v)"), (1, 0));
    assert_eq!(passes("u^16"), (4, 0));
}
