//! Finite volumes: derivatives, balance, monotonicity, solid cells, batches, threads.

use cinoc_pde::Real;
use cinoc_pde::volume::{Mesh, Order, Rates, Side, Volume};
use cinoc_tape::check::{assert_derivative, noise};
use cinoc_tape::kernel::parallel::with_executor;
use cinoc_tape::{Adjoints, Arena, Tape, Var};

/// Relative accuracy of sums.
const ROUND: f64 = if cfg!(double) { 1e-12 } else { 1e-6 };

fn ring() -> [Side; 2] {
    [Side::Periodic, Side::Periodic]
}

fn closed() -> [Side; 2] {
    [Side::Flux, Side::Flux]
}

/// Numbers in [low, high).
fn between(low: Real, high: Real, count: usize, seed: u64) -> Vec<Real> {
    noise(count, seed).iter().map(|x| low + 0.5 * (high - low) * (x + 1.0)).collect()
}

fn sum(x: &[Real]) -> f64 {
    x.iter().map(|x| *x as f64).sum()
}

fn size(x: &[Real]) -> f64 {
    x.iter().map(|x| x.abs() as f64).sum()
}

/// Meshes with all kinds of sides, in one to three dimensions, with solid cells.
fn meshes() -> Vec<Mesh> {
    let solid = |mesh: Mesh| {
        let solid: Vec<bool> = noise(mesh.count(), 8).iter().map(|x| *x > 0.6).collect();
        mesh.with_solid(&solid)
    };
    let windows = Side::Exchange(vec![0.5, 3.0, 0.0]);
    vec![
        Mesh::new(&[6], &[1.5], vec![[Side::Value, Side::exchange(2.0)]]),
        Mesh::new(&[5], &[1.5], vec![ring()]),
        solid(Mesh::new(&[4, 3], &[1.0, 0.8], vec![[Side::Flux, windows], [Side::Open, Side::Value]])),
        solid(Mesh::new(
            &[3, 2, 4],
            &[1.0, 0.8, 1.3],
            vec![ring(), [Side::Value, Side::Flux], [Side::exchange(1.0), Side::Open]],
        )),
    ]
}

/// Shape of a map of the sides, or of a number where there are none.
fn sides_shape(mesh: &Mesh, batch: usize) -> Vec<usize> {
    if mesh.faces() == 0 { vec![1] } else { vec![batch, mesh.faces()] }
}

/// Asserts the derivative with respect to a field of two instances, `outside` and further maps, which are positive.
fn check(mesh: &Mesh, maps: &[&[usize]], f: impl for<'t> Fn(&Volume, &[Var<'t>]) -> Var<'t>) {
    let volume = Volume::new(mesh.clone());
    for batch in [1, 2] {
        let shapes: Vec<Vec<usize>> = [mesh.shape(2).sizes().to_vec(), sides_shape(mesh, batch)]
            .into_iter()
            .chain(maps.iter().map(|map| map.to_vec()))
            .collect();
        let values: Vec<Vec<Real>> = (0u64..)
            .zip(&shapes)
            .map(|(i, shape)| match (i, shape.iter().product()) {
                // All different, so that no difference is near zero, where the limiter has a kink.
                (0, count) => (0..count).map(|i| (2 * (17 * i % count)) as Real / count as Real - 1.0).collect(),
                (1, count) => noise(count, 3),
                (_, count) => between(0.5, 1.5, count, 3 + i),
            })
            .collect();
        let inputs: Vec<(&[usize], &[Real])> =
            shapes.iter().zip(&values).map(|(shape, values)| (&shape[..], &values[..])).collect();
        assert_derivative(&inputs, |x| f(&volume, x));
    }
}

#[test]
fn derivatives_of_the_operators() {
    for mesh in meshes() {
        let (each, shared) = (mesh.shape(2), mesh.shape(1));
        for k in [each.sizes(), shared.sizes(), &[1], &[2]] {
            check(&mesh, &[k], |volume, x| volume.diffusion(x[0], x[2], x[1]));
        }
        check(&mesh, &[], |volume, x| volume.laplacian(x[0], x[1]));
        for axis in 0..mesh.dimensions() {
            check(&mesh, &[], |volume, x| volume.gradient(axis, x[0], x[1]));
        }
        let components = [each.sizes(), shared.sizes(), &[1]];
        for sign in [1.0, -1.0] {
            check(&mesh, &components[..mesh.dimensions()], |volume, x| {
                let v: Vec<Var> = x[2..].iter().map(|v| *v * sign).collect();
                volume.transport(x[0], &v, x[1]) + volume.advection(x[0], &v, x[1]).square()
            });
        }
        // Velocities of both signs: the means of two cells are −0.7, 0.15 and 1, changed by up to 0.05.
        check(&mesh, &components[..mesh.dimensions()], |volume, x| {
            let turn = |v: &Var<'_>, seed| {
                let signs: Vec<Real> = noise(v.shape().count(), seed).iter().map(|x| if *x > 0.0 { 1.0 } else { -0.7 }).collect();
                x[0].tape().constant(v.shape(), &signs)
            };
            let v: Vec<Var> = (40..).zip(&x[2..]).map(|(seed, v)| (*v - 1.0) * 0.1 + turn(v, seed)).collect();
            volume.transport(x[0], &v, x[1]) + volume.advection(x[0], &v, x[1])
        });
    }
}

#[test]
fn derivatives_of_implicit_steps() {
    for mesh in meshes() {
        let (each, shared) = (mesh.shape(2), mesh.shape(1));
        for order in [Order::First, Order::Second] {
            for (maps, fourth) in [
                ([each.sizes(), shared.sizes(), &[2]], true),
                ([&[1], each.sizes(), &[1]], false),
                ([shared.sizes(), &[2], &[1]], true),
            ] {
                let linear = Volume::new(mesh.clone()).linear(0.05, order, fourth);
                check(&mesh, &maps, |_, x| {
                    let c = x[4] * 1e-2;
                    linear.factor(x[2], x[3], c).step(x[0], x[1], |z| z * z.square() * 0.1)
                });
            }
        }
    }
}

/// The iteration has the derivatives of the direct solution.
#[test]
fn derivatives_of_large_systems() {
    let mesh = Mesh::new(&[110, 100], &[1.1, 1.0], vec![[Side::Value, Side::exchange(2.0)], ring()]);
    let linear = Volume::new(mesh.clone()).linear(1e-3, Order::First, false);
    let (k, z) = (between(0.5, 1.5, mesh.count(), 1), noise(mesh.count(), 2));
    let shape = mesh.shape(1);
    assert_derivative(&[(shape.sizes(), &z), (shape.sizes(), &k), (&[1], &[0.3]), (&[1], &[0.7])], |x| {
        linear.factor(x[1], x[2], x[2]).step(x[0], x[3], |z| z.tape().zeros(z.shape()))
    });
}

/// Content changes by the explicit operator of the new field: nothing is lost in a solution, by either solver.
#[test]
fn steps_keep_the_balance() {
    let large = Mesh::new(&[140, 90], &[14.0, 9.0], vec![[Side::Value, Side::exchange(2.0)], closed()]);
    for mesh in meshes().into_iter().chain([large]) {
        let (volume, tape) = (Volume::new(mesh.clone()), Tape::new(Arena::default(), &[]));
        let map = |low, high, seed| tape.constant(mesh.shape(1), &between(low, high, mesh.count(), seed));
        let (k, decay, z, f) = (map(0.2, 3.0, 1), map(0.0, 1.0, 2), map(-1.0, 1.0, 3), map(-1.0, 1.0, 4));
        let outside = tape.constant(&sides_shape(&mesh, 1)[..], &noise(mesh.faces().max(1), 5));
        let tick = 0.02;
        let linear = volume.linear(tick as f64, Order::First, false);
        let after = linear.factor(k, decay, tape.zeros([1])).step(z, outside, |_| f);
        let rate = volume.diffusion(after, k, outside) + f - decay * after;
        // Solid cells are inert.
        let inert: Vec<bool> = z.value().iter().zip(after.value()).map(|(a, b)| *a == b).collect();
        let rate: Vec<Real> = rate.value().iter().zip(&inert).map(|(rate, inert)| if *inert { 0.0 } else { *rate }).collect();
        let change: Vec<Real> = after.value().iter().zip(z.value()).map(|(a, b)| a - b).collect();
        let error = (sum(&change) - tick as f64 * sum(&rate)).abs() / (size(&change) + tick as f64 * size(&rate));
        println!("balance, {:?}: {error:.1e}", mesh.cells());
        assert!(error < ROUND, "{:?}: {error:e}", mesh.cells());
    }
}

/// Without sides nothing leaves; with a flux, that flux enters.
#[test]
fn content_is_conserved() {
    for mesh in [
        Mesh::new(&[30], &[1.5], vec![closed()]),
        Mesh::new(&[12, 10], &[1.2, 0.5], vec![closed(), closed()]),
        Mesh::new(&[6, 5, 4], &[1.2, 0.5, 1.0], vec![closed(), closed(), closed()]),
        Mesh::new(&[120, 100], &[12.0, 5.0], vec![closed(), closed()]),
    ] {
        let (volume, tape) = (Volume::new(mesh.clone()), Tape::new(Arena::default(), &[]));
        let linear = volume.linear(0.01, Order::Second, false);
        let k = tape.constant(mesh.shape(1), &between(0.2, 3.0, mesh.count(), 1));
        let start = between(0.0, 1.0, mesh.count(), 2);
        let system = linear.factor(k, tape.zeros([1]), tape.zeros([1]));
        let inflow = noise(mesh.faces(), 3);
        let outside = tape.constant([1, mesh.faces()], &inflow);
        let mut z = tape.constant(mesh.shape(1), &start);
        for _ in 0..4 {
            z = system.step(z, outside, |z| z.tape().zeros(z.shape()));
        }
        // A face of an axis passes flux / dx to its cell.
        let entered: f64 = (0..mesh.dimensions())
            .flat_map(|axis| [0, 1].map(|end| mesh.side(axis, end)).map(|side| (axis, side)))
            .map(|(axis, side)| sum(&inflow[side]) / mesh.spacing(axis))
            .sum::<f64>()
            * 0.04;
        let error = (sum(&z.value()) - sum(&start) - entered).abs() / (sum(&start) + entered.abs());
        println!("conservation, {:?}: {error:.1e}", mesh.cells());
        assert!(error < ROUND, "{:?}: {error:e}", mesh.cells());
    }
}

#[test]
fn transport_conserves_content_and_positivity() {
    for sides in [ring(), closed()] {
        for d in 1..=3 {
            let mesh = Mesh::new(&[9, 8, 7][..d], &[1.0, 0.8, 0.7][..d], vec![sides.clone(); d]);
            let solid: Vec<bool> = noise(mesh.count(), 8).iter().map(|x| *x > 0.8).collect();
            let mesh = mesh.with_solid(&solid);
            let (volume, tape) = (Volume::new(mesh.clone()), Tape::new(Arena::default(), &[]));
            let v: Vec<Var> = (0..d).map(|a| tape.constant(mesh.shape(1), &noise(mesh.count(), 20 + a as u64))).collect();
            let rates = Rates { speed: [1.0; 3], ..Rates::default() };
            let tick = rates.tick(&mesh) as Real;
            let start: Vec<Real> = noise(mesh.count(), 4).iter().map(|x| if *x > 0.5 { 1.0 } else { 0.0 }).collect();
            let mut z = tape.constant(mesh.shape(1), &start);
            for _ in 0..30 {
                z = z - volume.transport(z, &v, tape.zeros([1])) * tick;
            }
            let z = z.value();
            assert!((sum(&z) - sum(&start)).abs() < 10.0 * ROUND * sum(&start), "{d} axes: content");
            assert!(z.iter().all(|z| *z >= -10.0 * Real::EPSILON), "{d} axes: negative density");
        }
    }
}

/// A step carried around keeps its bounds, and the limiter keeps it sharper than upwinding.
#[test]
fn transport_is_monotone() {
    let mesh = Mesh::new(&[60, 2], &[1.0, 1.0], vec![ring(), [Side::Value, Side::Open]]);
    let (volume, tape) = (Volume::new(mesh.clone()), Tape::new(Arena::default(), &[]));
    let v = [1.0, -0.3].map(|v| tape.constant([1], &[v as Real]));
    let rates = Rates { speed: [1.0, 0.3, 0.0], ..Rates::default() };
    let steps = rates.substeps(&mesh, 1.0);
    let start: Vec<Real> = (0..mesh.count()).map(|i| if (20..60).contains(&i) { 1.0 } else { 0.0 }).collect();
    for conservative in [true, false] {
        let mut z = tape.constant(mesh.shape(1), &start);
        for _ in 0..steps {
            // Air enters through the open side, at the upper end of the second axis.
            let rate = if conservative {
                volume.transport(z, &v, tape.constant([1], &[0.5]))
            } else {
                volume.advection(z, &v, tape.constant([1], &[0.5]))
            };
            z = z - rate * (1.0 / steps as Real);
        }
        let z = z.value();
        let slack = 20.0 * Real::EPSILON;
        assert!(z.iter().all(|z| (-slack..=1.0 + slack).contains(z)), "conservative {conservative}: out of bounds");
        let contrast = z[2 * 20] - z[2 * 50];
        assert!(contrast > 0.5, "conservative {conservative}: contrast {contrast}");
    }
}

#[test]
fn backward_euler_creates_no_extrema() {
    for mesh in meshes().into_iter().chain([Mesh::new(&[20, 18, 16], &[1.0; 3], vec![[Side::Value, Side::exchange(2.0)]; 3])]) {
        // A given flux has no maximum principle.
        for tick in [1e-3, 0.1, 10.0] {
            let (volume, tape) = (Volume::new(mesh.clone()), Tape::new(Arena::default(), &[]));
            let linear = volume.linear(tick, Order::First, false);
            let k: Vec<Real> = noise(mesh.count(), 1).iter().map(|x| if *x > 0.0 { 10.0 } else { 0.1 }).collect();
            let system = linear.factor(tape.constant(mesh.shape(1), &k), tape.zeros([1]), tape.zeros([1]));
            let z = tape.constant(mesh.shape(1), &between(0.0, 1.0, mesh.count(), 2));
            let outside: Vec<Real> = (0..mesh.faces().max(1))
                .map(|face| {
                    let given = (0..mesh.dimensions())
                        .any(|axis| [0, 1].iter().any(|&end| mesh.side(axis, end).contains(&face) && is_flux(&mesh, axis, end)));
                    if given { 0.0 } else { between(0.0, 1.0, 1, face as u64)[0] }
                })
                .collect();
            let z = system.step(z, tape.constant(&sides_shape(&mesh, 1)[..], &outside), |z| z.tape().zeros(z.shape()));
            let slack = if cfg!(double) { 1e-11 } else { 1e-5 };
            assert!(z.value().iter().all(|z| (-slack..=1.0 + slack).contains(z)), "{:?}, tick {tick}", mesh.cells());
        }
    }
}

fn is_flux(mesh: &Mesh, axis: usize, end: usize) -> bool {
    mesh.sides()[axis][end] == Side::Flux
}

/// Cells beyond a wall of solid cells change nothing: the same as a smaller domain without flux through its side.
#[test]
fn solid_cells_bound_a_smaller_domain() {
    let sides = || [Side::Value, Side::Flux];
    let mesh = |n: usize| Mesh::new(&[5, n, 3], &[1.0, 0.2 * n as f64, 0.7], vec![sides(), sides(), ring()]);
    let large = mesh(7);
    let inside = |cell: usize| cell / 3 % 7 < 4;
    let solid: Vec<bool> = (0..large.count()).map(|cell| cell / 3 % 7 == 4).collect();
    let run = |mesh: Mesh, pick: &dyn Fn(&[Real]) -> Vec<Real>| -> Vec<Vec<Real>> {
        let (volume, tape) = (Volume::new(mesh.clone()), Tape::new(Arena::default(), &[]));
        let map = |seed| tape.constant(mesh.shape(1), &pick(&between(0.5, 1.5, 105, seed)));
        let (z, k, v) = (map(1), map(2), [map(3), map(4), map(5)]);
        let outside = tape.constant([1], &[0.0]);
        let linear = volume.linear(0.1, Order::Second, true);
        let c = tape.constant([1], &[1e-3]);
        let all = [
            linear.factor(k, map(6), c).step(z, outside, |z| volume.diffusion(z, k, outside) * 1e-3),
            volume.diffusion(z, k, outside),
            volume.gradient(1, z, outside),
            volume.transport(z, &v, outside),
            volume.advection(z, &v, outside),
        ];
        all.map(|field| field.value()).to_vec()
    };
    let small = run(mesh(4), &|all| (0..105).filter(|&cell| inside(cell)).map(|cell| all[cell]).collect());
    let large = run(large.with_solid(&solid), &<[Real]>::to_vec);
    for (i, (small, large)) in small.iter().zip(&large).enumerate() {
        let large: Vec<Real> = (0..105).filter(|&cell| inside(cell)).map(|cell| large[cell]).collect();
        let error = small.iter().zip(&large).map(|(a, b)| (a - b).abs()).fold(0.0, Real::max);
        assert!(error < 100.0 * Real::EPSILON, "result {i}: {error:e}");
    }
}

/// Instances with different coefficients are the same in a batch and alone.
#[test]
fn instances_do_not_mix() {
    for mesh in meshes() {
        let (volume, n) = (Volume::new(mesh.clone()), mesh.count());
        let linear = volume.linear(0.1, Order::Second, true);
        let all: Vec<Vec<Real>> = (1..4).map(|seed| between(0.5, 1.5, 3 * n, seed)).collect();
        let run = |from: usize, batch: usize| {
            let tape = Tape::new(Arena::default(), &[]);
            let [z, k, decay] = [0, 1, 2].map(|i| tape.input(mesh.shape(batch), &all[i][from * n..][..batch * n]));
            let c: Vec<Real> = (from..from + batch).map(|b| 1e-3 * b as Real).collect();
            let outside = tape.constant([1], &[0.4]);
            let y =
                linear.factor(k, decay, tape.constant([batch], &c)).step(z, outside, |z| volume.diffusion(z, k, outside) * 0.01);
            let (value, y, k) = (y.value(), y.id(), k.id());
            let (arena, mut bars) = (tape.into_arena(), Adjoints::default());
            bars.start(&arena, 0);
            bars.seed(&arena, y, &value);
            arena.backward(&[], &mut bars);
            [value, bars.of(&arena, k).to_vec()]
        };
        let together = run(0, 3);
        for b in 0..3 {
            let alone = run(b, 1);
            for i in 0..2 {
                assert_eq!(together[i][b * n..][..n], alone[i], "instance {b}");
            }
        }
    }
}

/// Executor that runs backwards on another thread.
fn elsewhere(count: usize, work: &(dyn Fn(usize) + Sync)) {
    std::thread::scope(|scope| drop(scope.spawn(|| (0..count).rev().for_each(work))));
}

/// A box of 32³ cells, solved with the same bits on any threads.
#[test]
fn threads_do_not_matter() {
    let mesh = Mesh::new(&[32, 32, 33], &[1.0; 3], vec![[Side::Value, Side::exchange(1.0)], closed(), ring()]);
    let volume = Volume::new(mesh.clone());
    let linear = volume.linear(0.01, Order::First, false);
    let run = || {
        let tape = Tape::new(Arena::default(), &[]);
        let k = tape.input(mesh.shape(1), &between(0.5, 1.5, mesh.count(), 1));
        let z = tape.input(mesh.shape(1), &noise(mesh.count(), 2));
        let outside = tape.constant([1], &[0.4]);
        let y = linear.factor(k, tape.zeros([1]), tape.zeros([1])).step(z, outside, |z| volume.diffusion(z, k, outside) * 1e-4);
        let (value, y, k) = (y.value(), y.id(), k.id());
        let (arena, mut bars) = (tape.into_arena(), Adjoints::default());
        bars.start(&arena, 0);
        bars.seed(&arena, y, &value);
        arena.backward(&[], &mut bars);
        (value, bars.of(&arena, k).to_vec())
    };
    assert!(run() == with_executor(elsewhere, run));
}

#[test]
fn explicit_steps_are_stable_up_to_the_largest() {
    let mesh = Mesh::new(&[12, 10], &[1.0, 0.5], vec![[Side::Value, Side::Value], ring()]);
    let (volume, tape) = (Volume::new(mesh.clone()), Tape::new(Arena::default(), &[]));
    let rates = Rates { diffusion: 2.0, speed: [3.0, 1.0, 0.0], decay: 5.0, fourth: 0.0 };
    let tick = rates.tick(&mesh) as Real;
    let number = |x: Real| tape.constant([1], &[x]);
    let mut z = tape.constant(mesh.shape(1), &between(0.0, 1.0, mesh.count(), 1));
    for _ in 0..50 {
        let carried = volume.advection(z, &[number(3.0), number(-1.0)], number(0.0));
        z = z + (volume.diffusion(z, number(2.0), number(0.0)) - carried - z * 5.0) * tick;
        assert!(z.value().iter().all(|z| (-1e-6..=1.0).contains(z)), "new extrema");
    }
    assert_eq!(rates.substeps(&mesh, 2.5 * rates.tick(&mesh)), 3);
    assert_eq!(Rates::default().substeps(&mesh, 1.0), 1);
    // Half the step of the fourth-order bound is the stability limit of diffusion squared.
    let rates = Rates { fourth: 1e-3, ..Rates::default() };
    let (tick, none) = (0.99 * rates.tick(&mesh) as Real, number(0.0));
    let mut z = tape.constant(mesh.shape(1), &noise(mesh.count(), 1));
    for _ in 0..200 {
        z = z - volume.laplacian(volume.laplacian(z, none), none) * (1e-3 * tick);
    }
    assert!(size(&z.value()) < mesh.count() as f64);
}
