//! Transport face by face, which the fast one is compared with.

use super::Mesh;
use super::mesh::{Face, Run};
use super::spread::Spread;
use crate::Real;
use cinoc_tape::{Cotangents, Inputs, Op, Shape};
use std::sync::Arc;

/// The same as [`super::transport::Transport`].
#[derive(Debug)]
pub(super) struct Plain {
    pub mesh: Arc<Mesh>,
    pub conservative: bool,
}

/// Limited difference from those before and after a cell: their harmonic mean, or 0 if their signs differ.
#[inline(always)]
fn limited(before: Real, after: Real) -> Real {
    if before * after > 0.0 { 2.0 * before * (after / (before + after)) } else { 0.0 }
}

/// Derivatives of [`limited`].
#[inline(always)]
fn limited_slopes(before: Real, after: Real) -> [Real; 2] {
    if before * after > 0.0 {
        let share = before / (before + after);
        [2.0 * (1.0 - share) * (1.0 - share), 2.0 * share * share]
    } else {
        [0.0; 2]
    }
}

/// Working space, for the cells and for the faces on sides.
struct Space<'a> {
    v: &'a mut [Real],
    v_bar: &'a mut [Real],
    /// Differences to the preceding and to the following cell.
    before: &'a mut [Real],
    after: &'a mut [Real],
    slope: &'a mut [Real],
    slope_bar: &'a mut [Real],
    outside: &'a mut [Real],
    outside_bar: &'a mut [Real],
}

impl Plain {
    fn layout(&self, x: &[Shape]) -> (Spread, [Spread; 3]) {
        let (d, batch) = (self.mesh.dimensions(), self.mesh.batch("transport", x[0]));
        assert_eq!(x.len(), 2 + d, "transport: a field, numbers outside and {d} components of the velocity");
        let v = [0, 1, 2].map(|axis| Spread::new("velocity", x[2 + axis.min(d - 1)], batch, self.mesh.count()));
        (Spread::new("numbers outside", x[1], batch, self.mesh.faces()), v)
    }

    fn space<'a>(&self, scratch: &'a mut [Real]) -> Space<'a> {
        let (cells, sides) = scratch.split_at_mut(6 * self.mesh.count());
        let mut cells = cells.chunks_exact_mut(self.mesh.count());
        let (outside, outside_bar) = sides[..2 * self.mesh.faces()].split_at_mut(self.mesh.faces());
        let [v, v_bar, before, after, slope, slope_bar] = std::array::from_fn(|_| cells.next().expect("six arrays"));
        Space { v, v_bar, before, after, slope, slope_bar, outside, outside_bar }
    }

    /// Pairs of neighbours along an axis, upper and lower, between which transport passes.
    fn pairs(&self, axis: usize) -> impl Iterator<Item = [usize; 2]> + '_ {
        let all = self.mesh.runs(axis).flat_map(|Run { upper, lower, length }| (0..length).map(move |j| [upper + j, lower + j]));
        all.filter(move |&[upper, _]| self.mesh.weights(axis)[upper] > 0.0)
    }

    /// Faces on the sides of an axis through which transport passes, numbered.
    fn open(&self, axis: usize) -> impl Iterator<Item = (usize, &Face)> {
        self.mesh.boundary().iter().enumerate().filter(move |(_, face)| face.axis == axis && face.passes_transport)
    }

    /// Computes differences and slopes along an axis.
    fn slopes(&self, axis: usize, z: &[Real], space: &mut Space) {
        let Space { before, after, slope, .. } = space;
        before.fill(0.0);
        after.fill(0.0);
        for [upper, lower] in self.pairs(axis) {
            let difference = z[upper] - z[lower];
            (before[upper], after[lower]) = (difference, difference);
        }
        for ((slope, before), after) in slope.iter_mut().zip(&**before).zip(&**after) {
            *slope = limited(*before, *after);
        }
    }

    /// Share of the flux that counts in a cell: in `v·grad z` the value of the cell is subtracted.
    fn relative(&self, value: Real, own: Real) -> Real {
        if self.conservative { value } else { value - own }
    }
}

impl Op for Plain {
    fn name(&self) -> &'static str {
        "plain transport"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        self.layout(x);
        x[0]
    }

    fn scratch(&self, _: &[Shape]) -> usize {
        6 * self.mesh.count() + 2 * self.mesh.faces()
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], scratch: &mut [Real]) {
        let n = self.mesh.count();
        let (outside_at, v_at) = self.layout(x.shapes());
        let mut space = self.space(scratch);
        y.fill(0.0);
        for (b, (z, y)) in x[0].chunks_exact(n).zip(y.chunks_exact_mut(n)).enumerate() {
            outside_at.expand(&x[1], b, space.outside);
            for axis in 0..self.mesh.dimensions() {
                let per_length = (1.0 / self.mesh.spacing(axis)) as Real;
                v_at[axis].expand(&x[2 + axis], b, space.v);
                self.slopes(axis, z, &mut space);
                for [upper, lower] in self.pairs(axis) {
                    let v = 0.5 * per_length * (space.v[upper] + space.v[lower]);
                    let value = if v > 0.0 { z[lower] + 0.5 * space.slope[lower] } else { z[upper] - 0.5 * space.slope[upper] };
                    y[lower] += v * self.relative(value, z[lower]);
                    y[upper] -= v * self.relative(value, z[upper]);
                }
                for (f, face) in self.open(axis) {
                    let (i, leaving) = (face.cell, face.normal * per_length * space.v[face.cell]);
                    let value = if leaving > 0.0 { z[i] } else { space.outside[f] };
                    y[i] += leaving * self.relative(value, z[i]);
                }
            }
        }
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, scratch: &mut [Real]) {
        let n = self.mesh.count();
        let (outside_at, v_at) = self.layout(x.shapes());
        let mut space = self.space(scratch);
        // What the value in a cell contributes besides the flux: `∂ relative / ∂ own`.
        let own = if self.conservative { 0.0 } else { -1.0 };
        for (b, (z, w)) in x[0].chunks_exact(n).zip(y_bar.chunks_exact(n)).enumerate() {
            outside_at.expand(&x[1], b, space.outside);
            space.outside_bar.fill(0.0);
            for axis in 0..self.mesh.dimensions() {
                let per_length = (1.0 / self.mesh.spacing(axis)) as Real;
                v_at[axis].expand(&x[2 + axis], b, space.v);
                self.slopes(axis, z, &mut space);
                let mut z_bar = bars.get(0).map(|z_bar| &mut z_bar[b * n..][..n]);
                let mut add = |i: usize, bar: Real| {
                    if let Some(z_bar) = &mut z_bar {
                        z_bar[i] += bar;
                    }
                };
                space.v_bar.fill(0.0);
                space.slope_bar.fill(0.0);
                for [upper, lower] in self.pairs(axis) {
                    let v = 0.5 * per_length * (space.v[upper] + space.v[lower]);
                    let (from, sign) = if v > 0.0 { (lower, 0.5) } else { (upper, -0.5) };
                    let value = z[from] + sign * space.slope[from];
                    let value_bar = v * (w[lower] - w[upper]);
                    add(from, value_bar);
                    add(lower, own * v * w[lower]);
                    add(upper, -own * v * w[upper]);
                    space.slope_bar[from] += sign * value_bar;
                    let v_bar = w[lower] * self.relative(value, z[lower]) - w[upper] * self.relative(value, z[upper]);
                    space.v_bar[upper] += 0.5 * per_length * v_bar;
                    space.v_bar[lower] += 0.5 * per_length * v_bar;
                }
                // Differences give way to their cotangents.
                for i in 0..n {
                    let [by_before, by_after] = limited_slopes(space.before[i], space.after[i]);
                    (space.before[i], space.after[i]) = (by_before * space.slope_bar[i], by_after * space.slope_bar[i]);
                }
                for [upper, lower] in self.pairs(axis) {
                    let bar = space.before[upper] + space.after[lower];
                    add(upper, bar);
                    add(lower, -bar);
                }
                for (f, face) in self.open(axis) {
                    let (i, scale) = (face.cell, face.normal * per_length);
                    let leaving = scale * space.v[i];
                    let value = if leaving > 0.0 { z[i] } else { space.outside[f] };
                    if leaving > 0.0 {
                        add(i, leaving * w[i]);
                    } else {
                        space.outside_bar[f] += leaving * w[i];
                    }
                    add(i, own * leaving * w[i]);
                    space.v_bar[i] += scale * w[i] * self.relative(value, z[i]);
                }
                if let Some(bar) = bars.get(2 + axis) {
                    v_at[axis].add(space.v_bar, b, bar);
                }
            }
            if let Some(bar) = bars.get(1) {
                outside_at.add(space.outside_bar, b, bar);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::transport::Transport;
    use super::super::{Side, Volume};
    use super::*;
    use cinoc_tape::check::{noise, pull_back};
    use cinoc_tape::{Adjoints, Arena, Tape, Var};
    use std::time::Instant;

    fn meshes() -> Vec<Mesh> {
        let ring = || [Side::Periodic, Side::Periodic];
        let (open, wall) = (|| [Side::Open, Side::Value], || [Side::Flux, Side::exchange(2.0)]);
        let solid = |mesh: Mesh| {
            let solid: Vec<bool> = noise(mesh.count(), 8).iter().map(|x| *x > 0.6).collect();
            mesh.with_solid(&solid)
        };
        vec![
            Mesh::new(&[37], &[1.0], vec![ring()]),
            Mesh::new(&[3], &[1.0], vec![open()]),
            Mesh::new(&[1, 2], &[1.0; 2], vec![ring(), ring()]),
            Mesh::new(&[9, 21], &[1.0, 2.0], vec![ring(), open()]),
            solid(Mesh::new(&[12, 19], &[1.0, 2.0], vec![wall(), ring()])),
            solid(Mesh::new(&[5, 6, 18], &[1.0; 3], vec![ring(), open(), wall()])),
            Mesh::new(&[4, 5, 7], &[1.0; 3], vec![open(), ring(), ring()]),
        ]
    }

    fn record<'t>(op: &Arc<impl Op + 'static>, x: &[Var<'t>]) -> Var<'t> {
        match *x {
            [z, outside, a] => z.tape().record(op, [z, outside, a]),
            [z, outside, a, b] => z.tape().record(op, [z, outside, a, b]),
            [z, outside, a, b, c] => z.tape().record(op, [z, outside, a, b, c]),
            _ => unreachable!("one to three axes"),
        }
    }

    /// Values and all derivatives, with velocities that are maps, shared maps and numbers.
    #[test]
    fn the_fast_transport_is_the_plain_one() {
        for mesh in meshes() {
            let (d, mesh) = (mesh.dimensions(), Arc::new(mesh));
            for (conservative, kind) in [(true, 0), (true, 1), (true, 2), (false, 0), (false, 1)] {
                let velocity = match kind {
                    0 => mesh.shape(2),
                    1 => mesh.shape(1),
                    _ => Shape::new(&[2]),
                };
                let array = |shape: Shape, seed: u64| (shape, noise(shape.count(), seed));
                let outside = if mesh.faces() > 0 { Shape::new(&[1, mesh.faces()]) } else { Shape::new(&[1]) };
                let mut point = vec![array(mesh.shape(2), 1), array(outside, 2)];
                point.extend((0..d).map(|axis| array(velocity, 3 + axis as u64)));
                let y_bar = noise(2 * mesh.count(), 9);
                let (fast, plain) = (
                    Arc::new(Transport { mesh: mesh.clone(), conservative }),
                    Arc::new(Plain { mesh: mesh.clone(), conservative }),
                );
                let (found, bars) = pull_back(&point, &|x| record(&fast, x), Some(&y_bar));
                let (expected, plain_bars) = pull_back(&point, &|x| record(&plain, x), Some(&y_bar));
                let close = |a: &[Real], b: &[Real]| {
                    let size = b.iter().fold(1.0, |most: Real, x| most.max(x.abs()));
                    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 50.0 * Real::EPSILON * size)
                };
                assert!(close(&found, &expected), "{:?}, {conservative}, {kind}", mesh.cells());
                for (i, (a, b)) in bars.iter().zip(&plain_bars).enumerate() {
                    assert!(close(a, b), "{:?}, {conservative}, {kind}: cotangent {i}", mesh.cells());
                }
            }
        }
    }

    /// Least seconds of some evaluations, forwards and backwards: other programs interrupt some of them only.
    fn time(mesh: &Mesh, calls: usize, record: impl for<'t> Fn(Var<'t>) -> Var<'t>) -> [f64; 2] {
        let values = noise(mesh.count(), 1);
        let tape = Tape::new(Arena::default(), &[]);
        let (input, output) = {
            let z = tape.input(mesh.shape(1), &values);
            (z.id(), record(z).id())
        };
        let recorded = tape.into_arena();
        let (mut tick, mut scratch, mut bars) = (Arena::default(), Default::default(), Adjoints::default());
        let (y_bar, mut least) = (noise(mesh.count(), 2), [f64::INFINITY; 2]);
        for _ in 0..calls + 1 {
            let start = Instant::now();
            tick.replay(&recorded, &[], [(input, &values[..])], &mut scratch);
            let middle = start.elapsed().as_secs_f64();
            bars.start(&tick, 0);
            bars.seed(&tick, output, &y_bar);
            let start = Instant::now();
            tick.backward(&[], &mut bars);
            least = [least[0].min(middle), least[1].min(start.elapsed().as_secs_f64())];
        }
        least
    }

    /// Prints nanoseconds per cell and evaluation, forwards and backwards, of both in turn: least and median of rounds.
    /// `cargo test -p cinoc-pde --lib volume::plain -- --ignored --nocapture`
    #[test]
    #[ignore = "a measurement"]
    fn times_of_both_transports() {
        let (ring, wall) = (|| [Side::Periodic, Side::Periodic], || [Side::Open, Side::Flux]);
        for (cells, sides) in [
            (vec![4096], vec![ring()]),
            (vec![64, 64], vec![ring(), ring()]),
            (vec![128, 128], vec![ring(), wall()]),
            (vec![512, 512], vec![wall(), ring()]),
            (vec![32, 32, 32], vec![wall(), wall(), ring()]),
        ] {
            let d = cells.len();
            let mesh = Arc::new(Mesh::new(&cells, &vec![1.0; d], sides));
            let maps: Vec<Vec<Real>> = (0..d).map(|axis| noise(mesh.count(), 3 + axis as u64)).collect();
            let (fast, plain) = (
                Arc::new(Transport { mesh: mesh.clone(), conservative: true }),
                Arc::new(Plain { mesh: mesh.clone(), conservative: true }),
            );
            let volume = Volume::new((*mesh).clone());
            let calls = ((1 << 17) / mesh.count()).max(8);
            let mut rounds: [[Vec<f64>; 2]; 3] = Default::default();
            for _ in 0..7 {
                let all = [
                    time(&mesh, calls, |z| with_velocity(&plain, &mesh, &maps, z)),
                    time(&mesh, calls, |z| with_velocity(&fast, &mesh, &maps, z)),
                    time(&mesh, calls, |z| volume.gradient(0, z, z.tape().zeros([1]))),
                ];
                for (rounds, least) in rounds.iter_mut().zip(all) {
                    let each = least.map(|least| 1e9 * least / mesh.count() as f64);
                    rounds.iter_mut().zip(each).for_each(|(rounds, each)| rounds.push(each));
                }
            }
            for (name, rounds) in ["plain transport", "transport", "gradient"].into_iter().zip(rounds) {
                let [[a, b], [c, d]] = rounds.map(|mut rounds| {
                    rounds.sort_by(f64::total_cmp);
                    [rounds[0], rounds[3]]
                });
                println!("{cells:?} {name:16}: forwards {a:6.2} ({b:6.2}), backwards {c:6.2} ({d:6.2}) ns per cell");
            }
        }
    }

    fn with_velocity<'t>(op: &Arc<impl Op + 'static>, mesh: &Mesh, maps: &[Vec<Real>], z: Var<'t>) -> Var<'t> {
        let tape = z.tape();
        let mut inputs = vec![z, tape.zeros([1])];
        inputs.extend(maps.iter().map(|map| tape.constant(mesh.shape(1), map)));
        record(op, &inputs)
    }
}
