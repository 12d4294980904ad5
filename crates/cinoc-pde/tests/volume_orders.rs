//! Finite volumes against manufactured solutions: observed orders in space and time, for each kind of side.

use cinoc_pde::Real;
use cinoc_pde::volume::{Mesh, Order, Side, Volume};
use cinoc_tape::{Arena, Tape, Var};
use std::f64::consts::{FRAC_PI_2, TAU};

/// Centres of all cells.
fn centres(mesh: &Mesh) -> Vec<[f64; 3]> {
    let axes: Vec<Vec<f64>> = (0..mesh.dimensions()).map(|axis| mesh.positions(axis)).collect();
    (0..mesh.count())
        .map(|cell| {
            let (mut at, mut rest) = ([0.0; 3], cell);
            for axis in (0..axes.len()).rev() {
                at[axis] = axes[axis][rest % axes[axis].len()];
                rest /= axes[axis].len();
            }
            at
        })
        .collect()
}

/// Centres of the faces on all sides, with axis and outward normal.
fn faces(mesh: &Mesh) -> Vec<([f64; 3], usize, f64)> {
    let mut all = Vec::new();
    for axis in 0..mesh.dimensions() {
        for (end, normal) in [(0, -1.0), (1, 1.0)] {
            if mesh.side(axis, end).is_empty() {
                continue;
            }
            let first = mesh.positions(axis)[0];
            let at = centres(mesh).into_iter().filter(|at| at[axis] == first);
            all.extend(at.map(|mut at| {
                at[axis] = end as f64;
                (at, axis, normal)
            }));
        }
    }
    all
}

fn real(values: impl IntoIterator<Item = f64>) -> Vec<Real> {
    values.into_iter().map(|x| x as Real).collect()
}

/// `z = Π (1 + ½ sin(2πx + φ))` and `k = 1 + 0.2 Σ sin(2πx)` on `d` axes of length 1.
struct Made {
    d: usize,
    phase: f64,
}

impl Made {
    fn factor(&self, x: f64) -> [f64; 3] {
        let angle = TAU * x + self.phase;
        [1.0 + 0.5 * angle.sin(), 0.5 * TAU * angle.cos(), -0.5 * TAU * TAU * angle.sin()]
    }

    fn z(&self, at: [f64; 3]) -> f64 {
        (0..self.d).map(|axis| self.factor(at[axis])[0]).product()
    }

    fn slope(&self, at: [f64; 3], axis: usize) -> f64 {
        let [g, by_x, _] = self.factor(at[axis]);
        self.z(at) * by_x / g
    }

    fn bend(&self, at: [f64; 3], axis: usize) -> f64 {
        let [g, _, by_xx] = self.factor(at[axis]);
        self.z(at) * by_xx / g
    }

    fn k(&self, at: [f64; 3]) -> f64 {
        1.0 + (0..self.d).map(|axis| 0.2 * (TAU * at[axis]).sin()).sum::<f64>()
    }

    fn diffusion(&self, at: [f64; 3]) -> f64 {
        let along = |axis: usize| 0.2 * TAU * (TAU * at[axis]).cos() * self.slope(at, axis) + self.k(at) * self.bend(at, axis);
        (0..self.d).map(along).sum()
    }

    /// The number of a side that the solution satisfies.
    fn outside(&self, side: &Side, (at, axis, normal): ([f64; 3], usize, f64)) -> f64 {
        let (z, flux) = (self.z(at), self.k(at) * normal * self.slope(at, axis));
        match side {
            Side::Flux => flux,
            Side::Exchange(h) => z + flux / h[0] as f64,
            _ => z,
        }
    }
}

/// Order from the errors on meshes of which the second has twice the cells.
fn order(errors: [f64; 2]) -> f64 {
    (errors[0] / errors[1]).log2()
}

fn sides() -> Vec<Side> {
    vec![Side::Periodic, Side::Value, Side::Flux, Side::exchange(2.0), Side::Open]
}

fn cells(d: usize) -> [usize; 2] {
    [[16, 32], [12, 24], [8, 16]][d - 1]
}

/// `z − div(k grad z) = q` has a solution of order 2 for every kind of side, also beside a periodic axis.
#[test]
fn diffusion_is_of_second_order() {
    for (d, ring) in [(1, None), (2, None), (2, Some(0)), (2, Some(1)), (3, None), (3, Some(1))] {
        for side in sides() {
            let ends =
                |axis: usize| if ring == Some(axis) { [Side::Periodic, Side::Periodic] } else { [side.clone(), side.clone()] };
            let made = Made { d, phase: if side == Side::Open { FRAC_PI_2 } else { 0.3 } };
            let errors = cells(d).map(|n| {
                let mesh = Mesh::new(&vec![n; d], &vec![1.0; d], (0..d).map(ends).collect());
                let at = centres(&mesh);
                let outside = real(faces(&mesh).into_iter().map(|face| made.outside(&side, face)));
                let (volume, shape) = (Volume::new(mesh), at.len());
                let linear = volume.linear(1.0, Order::First, false);
                let tape = Tape::new(Arena::default(), &[]);
                let field = |values: Vec<Real>| tape.constant(volume.mesh().shape(1), &values);
                let none = tape.zeros([1]);
                let outside = if outside.is_empty() { none } else { tape.constant([1, outside.len()], &outside) };
                let system = linear.factor(field(real(at.iter().map(|at| made.k(*at)))), none, none);
                let source = field(real(at.iter().map(|at| made.z(*at) - made.diffusion(*at))));
                let start = field(vec![0.0; shape]);
                let z = system.step(start, outside, |_| source).value();
                z.iter().zip(&at).map(|(z, at)| (*z as f64 - made.z(*at)).abs()).fold(0.0, f64::max)
            });
            println!(
                "diffusion, {d} axes, periodic {ring:?}, {side:?}: errors {:.1e} {:.1e}, order {:.2}",
                errors[0],
                errors[1],
                order(errors)
            );
            assert!(order(errors) > 1.75, "{d} axes, periodic {ring:?}, {side:?}: order {:.2} from {errors:?}", order(errors));
        }
    }
}

/// Steady heat through two layers: exact if they meet at a face, of order 1 if inside a cell.
#[test]
fn jumps_of_the_coefficient_are_of_first_order() {
    for d in 1..=3 {
        let error = |n: usize, jump: f64| {
            let mut all = vec![2; d];
            all[d - 1] = n;
            let mut sides = vec![[Side::Flux, Side::Flux]; d];
            sides[d - 1] = [Side::Value, Side::Value];
            let mesh = Mesh::new(&all, &vec![1.0; d], sides);
            let at = centres(&mesh);
            let range = mesh.side(d - 1, 1);
            let outside: Vec<Real> = (0..mesh.faces()).map(|face| if range.contains(&face) { 1.0 } else { 0.0 }).collect();
            let (volume, tape) = (Volume::new(mesh), Tape::new(Arena::default(), &[]));
            let linear = volume.linear(if cfg!(double) { 1e9 } else { 1e4 }, Order::First, false);
            let k: Vec<Real> = at.iter().map(|at| if at[d - 1] < jump { 1.0 } else { 10.0 }).collect();
            let none = tape.zeros([1]);
            let system = linear.factor(tape.constant(volume.mesh().shape(1), &k), none, none);
            let start = tape.zeros(volume.mesh().shape(1));
            let z = system.step(start, tape.constant([1, outside.len()], &outside), |z| z.tape().zeros(z.shape()));
            let flux = 1.0 / (jump + (1.0 - jump) / 10.0);
            let exact = |x: f64| if x < jump { flux * x } else { 1.0 - flux * (1.0 - x) / 10.0 };
            z.value().iter().zip(&at).map(|(z, at)| (*z as f64 - exact(at[d - 1])).abs()).fold(0.0, f64::max)
        };
        assert!(error(16, 0.25) < 1e-3, "layers that meet at a face: {}", error(16, 0.25));
        let errors = [error(16, 1.0 / 3.0), error(64, 1.0 / 3.0)];
        let order = 0.5 * order(errors);
        println!("jump, {d} axes: errors {:.1e} {:.1e}, order {order:.2}", errors[0], errors[1]);
        assert!(order > 0.9, "{d} axes: order {order:.2} from {errors:?}");
    }
}

/// Gradient of order 2, beside walls of order 1.
#[test]
fn gradients_are_of_second_order() {
    for d in 1..=3 {
        for side in [Side::Periodic, Side::Value] {
            let made = Made { d, phase: 0.3 };
            let errors = cells(d).map(|n| {
                let mesh = Mesh::new(&vec![n; d], &vec![1.0; d], vec![[side.clone(), side.clone()]; d]);
                let at = centres(&mesh);
                let outside = real(faces(&mesh).into_iter().map(|face| made.z(face.0)));
                let (volume, tape) = (Volume::new(mesh), Tape::new(Arena::default(), &[]));
                let z = tape.constant(volume.mesh().shape(1), &real(at.iter().map(|at| made.z(*at))));
                let outside = if outside.is_empty() { tape.zeros([1]) } else { tape.constant([1, outside.len()], &outside) };
                let error = |axis: usize| {
                    let found = volume.gradient(axis, z, outside).value();
                    found.iter().zip(&at).map(|(g, at)| (*g as f64 - made.slope(*at, axis)).abs()).sum::<f64>() / at.len() as f64
                };
                (0..d).map(error).fold(0.0, f64::max)
            });
            println!("gradient, {d} axes, {side:?}: errors {:.1e} {:.1e}, order {:.2}", errors[0], errors[1], order(errors));
            assert!(order(errors) > 1.75, "{d} axes, {side:?}: order {:.2} from {errors:?}", order(errors));
        }
    }
}

/// Both forms of transport in the mean, since the limiter is of first order at extrema, on meshes whose centres meet
/// these alike.
#[test]
fn transport_is_of_second_order() {
    for d in 1..=3 {
        for conservative in [true, false] {
            let made = Made { d, phase: 0.3 };
            let cells = [[33, 66], [31, 62], [24, 48]][d - 1];
            let errors = cells.map(|n| {
                let mesh = Mesh::new(&vec![n; d], &vec![1.0; d], vec![[Side::Periodic, Side::Periodic]; d]);
                let at = centres(&mesh);
                let (volume, tape) = (Volume::new(mesh), Tape::new(Arena::default(), &[]));
                let field =
                    |f: &dyn Fn([f64; 3]) -> f64| tape.constant(volume.mesh().shape(1), &real(at.iter().map(|at| f(*at))));
                // Component `a` of the velocity varies along its axis; the sign of the second is negative.
                let v = |at: [f64; 3], a: usize| [-0.7, 1.0, 0.4][a] * (1.2 + (TAU * at[a]).cos());
                let v_slope = |at: [f64; 3], a: usize| -[-0.7, 1.0, 0.4][a] * TAU * (TAU * at[a]).sin();
                let velocity: Vec<Var> = (0..d).map(|a| field(&|at| v(at, a))).collect();
                let (z, none) = (field(&|at| made.z(at)), tape.zeros([1]));
                let exact = |at: [f64; 3]| {
                    let along =
                        |a: usize| v(at, a) * made.slope(at, a) + if conservative { v_slope(at, a) * made.z(at) } else { 0.0 };
                    (0..d).map(along).sum::<f64>()
                };
                let found =
                    if conservative { volume.transport(z, &velocity, none) } else { volume.advection(z, &velocity, none) };
                found.value().iter().zip(&at).map(|(y, at)| (*y as f64 - exact(*at)).abs()).sum::<f64>() / at.len() as f64
            });
            println!(
                "transport, {d} axes, conservative {conservative}: errors {:.1e} {:.1e}, order {:.2}",
                errors[0],
                errors[1],
                order(errors)
            );
            assert!(order(errors) > 1.7, "{d} axes, {conservative}: order {:.2} from {errors:?}", order(errors));
        }
    }
}

/// `z + c·lap(lap z) − k·lap z = q`, with negative `k` as in the Swift–Hohenberg equation.
#[test]
fn terms_of_fourth_order_are_of_second_order() {
    for (d, side) in
        [(1, Side::Periodic), (1, Side::Value), (1, Side::Flux), (2, Side::Periodic), (2, Side::Value), (3, Side::Value)]
    {
        // Eigenfunctions of lap that fit the sides: z and lap z have the same condition.
        let phase = if side == Side::Flux { FRAC_PI_2 } else { 0.0 };
        let (c, k, eigen) = (1e-3, -0.01, TAU * TAU * d as f64);
        let errors = cells(d).map(|n| {
            let mesh = Mesh::new(&vec![n; d], &vec![1.0; d], vec![[side.clone(), side.clone()]; d]);
            let at = centres(&mesh);
            let z = |at: &[f64; 3]| (0..d).map(|axis| (TAU * at[axis] + phase).sin()).product::<f64>();
            let (volume, tape) = (Volume::new(mesh), Tape::new(Arena::default(), &[]));
            let linear = volume.linear(1.0, Order::First, true);
            let number = |x: f64| tape.constant([1], &[x as Real]);
            let system = linear.factor(number(k), number(0.0), number(c));
            let source = real(at.iter().map(|at| (1.0 + k * eigen + c * eigen * eigen) * z(at)));
            let source = tape.constant(volume.mesh().shape(1), &source);
            let found = system.step(tape.zeros(volume.mesh().shape(1)), number(0.0), |_| source).value();
            found.iter().zip(&at).map(|(found, at)| (*found as f64 - z(at)).abs()).fold(0.0, f64::max)
        });
        println!("fourth order, {d} axes, {side:?}: errors {:.1e} {:.1e}, order {:.2}", errors[0], errors[1], order(errors));
        assert!(order(errors) > 1.75, "{d} axes, {side:?}: order {:.2} from {errors:?}", order(errors));
    }
}

/// `z_t = div(k grad z) − σz + z − z³` with both orders of time, against steps eight times smaller.
#[test]
fn steps_have_their_order_in_time() {
    for (kind, wanted) in [(Order::First, 1.0), (Order::Second, 2.0)] {
        let run = |steps: usize| {
            let mesh = Mesh::new(&[16], &[1.0], vec![[Side::Value, Side::exchange(1.0)]]);
            let start = real(mesh.positions(0).iter().map(|x| 1.0 + (3.0 * x).sin()));
            let (volume, tape) = (Volume::new(mesh), Tape::new(Arena::default(), &[]));
            let linear = volume.linear(0.5 / steps as f64, kind, false);
            let number = |x: Real| tape.constant([1], &[x]);
            let system = linear.factor(number(0.3), number(0.5), number(0.0));
            let outside = tape.constant([1, 2], &[1.0, 0.2]);
            let mut z = tape.constant([1, 16], &start);
            for _ in 0..steps {
                z = system.step(z, outside, |z| z - z * z.square());
            }
            z.value()
        };
        let exact = run(1024);
        let errors = [32, 64].map(|steps| run(steps).iter().zip(&exact).map(|(a, b)| (a - b).abs() as f64).fold(0.0, f64::max));
        println!("time, {kind:?}: errors {:.1e} {:.1e}, order {:.2}", errors[0], errors[1], order(errors));
        assert!((order(errors) - wanted).abs() < 0.25, "{kind:?}: order {:.2} from {errors:?}", order(errors));
    }
}
