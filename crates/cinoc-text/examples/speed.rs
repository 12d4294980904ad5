//! Lanes per second of compiled expressions, beside the same expression written by hand: `speed [seconds]`.

use cinoc_tape::kernel::{parallel, vectorise};
use cinoc_tape::op::{Cotangents, Inputs, Op};
use cinoc_tape::{Adjoints, Arena, Real, Shape, Tape, Var, check::noise};
use cinoc_text::{Axis, Call, Kind, Operators, Plan, Scope, parse};
use std::sync::Arc;
use std::time::Instant;

/// `z − z³ + push` by hand.
struct Hand;

impl Op for Hand {
    fn name(&self) -> &'static str {
        "hand"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        x[0]
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], _: &mut [Real]) {
        parallel::rows(y, 1, 3, |first, y| {
            vectorise(
                #[inline(always)]
                || {
                    let (z, push) = (&x[0][first..][..y.len()], &x[1][first..][..y.len()]);
                    y.iter_mut().zip(z).zip(push).for_each(|((y, z), push)| *y = z - z * z * z + push);
                },
            );
        });
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], x_bar: &mut Cotangents, _: &mut [Real]) {
        if let Some(bar) = x_bar.get(0) {
            vectorise(
                #[inline(always)]
                || bar.iter_mut().zip(y_bar).zip(&x[0]).for_each(|((bar, y_bar), z)| *bar += y_bar * (1.0 - 3.0 * z * z)),
            );
        }
        if let Some(bar) = x_bar.get(1) {
            vectorise(
                #[inline(always)]
                || bar.iter_mut().zip(y_bar).for_each(|(bar, y_bar)| *bar += y_bar),
            );
        }
    }
}

struct None;

impl Operators for None {
    fn record<'t>(&self, _: &'t Tape<'t>, call: &Call, _: &[Var<'t>]) -> Var<'t> {
        panic!("{call:?}")
    }
}

/// Applications after one another, so that other costs of a tape count little.
const CHAIN: usize = 8;

/// Nanoseconds per lane, forwards and backwards, best of many.
fn time(batch: usize, cells: usize, seconds: f64, record: impl for<'t> Fn(&[Var<'t>]) -> Var<'t>) -> [f64; 2] {
    let count = batch * cells;
    let values: Vec<_> = (0..3).map(|i| noise(count, i).iter().map(|x| 0.3 * x).collect::<Vec<_>>()).collect();
    let tape = Tape::new(Arena::default(), &[]);
    let (output, inputs) = {
        let inputs: Vec<_> = values.iter().map(|x| tape.input([batch, cells], x)).collect();
        let a = tape.constant([batch, 1], &values[0][..batch]);
        let output = (0..CHAIN).fold(inputs[0], |z, _| record(&[z, inputs[1], inputs[2], a]));
        (output.id(), inputs.iter().map(|x| x.id()).collect::<Vec<_>>())
    };
    let recorded = tape.into_arena();
    let (mut tick, mut scratch) = (Arena::default(), Default::default());
    let mut bars = Adjoints::default();
    let y_bar = noise(count, 9);
    let mut best = [f64::INFINITY; 2];
    let start = Instant::now();
    while start.elapsed().as_secs_f64() < seconds {
        let clock = Instant::now();
        // No new values: the inputs of the recording.
        tick.replay(&recorded, &[], [(inputs[0], &values[0][..]); 0], &mut scratch);
        best[0] = best[0].min(clock.elapsed().as_secs_f64());
        bars.start(&tick, 0);
        bars.seed(&tick, output, &y_bar);
        let clock = Instant::now();
        tick.backward(&[], &mut bars);
        best[1] = best[1].min(clock.elapsed().as_secs_f64());
    }
    best.map(|time| time / (CHAIN * count) as f64 * 1e9)
}

fn main() {
    let seconds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(0.3);
    println!("{:34} {:>5} {:>6}  {:>9} {:>9}   passes", "", "batch", "cells", "forwards", "backwards");
    println!("{:34} {:>5} {:>6}  {:>9} {:>9}", "", "", "", "ns/lane", "ns/lane");
    for (batch, cells) in [(16, 64), (64, 256), (8, 4096), (4, 65536)] {
        let hand = Arc::new(Hand);
        let by_hand = time(batch, cells, seconds, |x| x[0].tape().record(&hand, [x[0], x[1]]));
        println!("{:34} {batch:5} {cells:6}  {:9.3} {:9.3}", "z - z^3 + push by hand", by_hand[0], by_hand[1]);
        for text in [
            "z - z^3 + push",
            "z*(1 - z)*(z - 0.3)",
            "k*z/(1 + z^2) + push",
            "tanh(2*z) + exp(-z^2)",
            "a*z - z^3 + push",
            "sin(z)",
        ] {
            let mut scope = Scope::new(1);
            for (name, kind) in [("z", Kind::FIELD), ("push", Kind::CHANNEL), ("k", Kind::MAP), ("a", Kind::CONSTANT)] {
                scope.add(&[name], kind).expect("a name");
            }
            let expr = parse(text, &scope).unwrap_or_else(|error| panic!("{error}"));
            let plan = Plan::new(&scope, &[&expr], Axis::Cells).expect("a plan");
            let found = time(batch, cells, seconds, |x| plan.record(x, &None));
            let passes = plan.programs().map(|program| program.passes()).fold([0, 0], |a, b| [a[0] + b[0], a[1] + b[1]]);
            let ratio = if text.ends_with("^3 + push") {
                format!("{:.2} {:.2}", found[0] / by_hand[0], found[1] / by_hand[1])
            } else {
                String::new()
            };
            println!("{text:34} {batch:5} {cells:6}  {:9.3} {:9.3}   {passes:?} {ratio}", found[0], found[1]);
        }
    }
}
