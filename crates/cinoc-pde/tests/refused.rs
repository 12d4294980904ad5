//! Unsupported grids and settings are rejected with an explanation.

use cinoc_pde::calculus::{Fourier, Transform};
use cinoc_pde::equation::{KuramotoSivashinsky1d, KuramotoSivashinsky2d, Vorticity2d};
use cinoc_pde::stepper::{Rk4, Spectral, SpectralStepper, Substeps};
use cinoc_pde::{Grid, Real};
use std::panic::{UnwindSafe, catch_unwind};

fn assert_refused<T>(expected: &str, work: impl FnOnce() -> T + UnwindSafe) {
    let panic = catch_unwind(|| drop(work())).expect_err(expected);
    let found = panic.downcast_ref::<String>().cloned().or_else(|| Some(panic.downcast_ref::<&str>()?.to_string()));
    let found = found.expect("a sentence");
    assert!(found.contains(expected), "\"{found}\" instead of \"{expected}\"");
}

fn torus(n: usize) -> Grid {
    Grid::torus([n, n], [1.0, 1.0])
}

fn space(periodic: bool) -> Grid {
    Grid { nodes: vec![8; 3], lengths: vec![1.0; 3], periodic: vec![periodic; 3] }
}

#[test]
fn three_dimensions() {
    assert_refused("a spectrum needs a grid of dimension 1 or 2, not 3", || Fourier::new(&space(true)));
    assert_refused("a spectrum needs a grid of dimension 1 or 2, not 3", || Transform::padded(&space(true)));
    assert_refused("dimension 2, not 3", || KuramotoSivashinsky2d::new(space(true)));
    assert_refused("dimension 2, not 3", || Vorticity2d::new(space(true), 1.0));
    assert_refused("dimension 1, not 2", || KuramotoSivashinsky1d::new(torus(8)));
}

#[test]
fn grids_with_walls_odd_empty_and_too_large_ones() {
    assert_refused("is periodic; this one has walls", || Fourier::new(&Grid::walls(8, 1.0)));
    assert_refused("is periodic; this one has walls", || KuramotoSivashinsky2d::new(Grid::plane([8, 8], [1.0, 1.0], false)));
    for n in [0, 7] {
        assert_refused(&format!("2 divides along each axis, not [{n}, {n}]"), || {
            KuramotoSivashinsky2d::stepper(torus(n), 0.1, 1)
        });
    }
    assert_refused("2 divides along each axis, not [9]", || KuramotoSivashinsky1d::stepper(Grid::periodic(9, 1.0), 0.1));
    assert_refused("4 divides along each axis, not [6, 6]", || Vorticity2d::new(torus(6), 1.0));
    assert_refused("4 divides along each axis, not [6, 6]", || Transform::padded(&torus(6)));
    assert_refused("too large to count", || KuramotoSivashinsky2d::new(torus(usize::MAX / 2 + 1)));
}

#[test]
fn no_substep_and_no_share_of_a_cell() {
    assert_refused("at least one substep", || KuramotoSivashinsky2d::stepper(torus(32), 0.1, 0));
    for n in [8, 32] {
        assert_refused("at least one substep", || {
            SpectralStepper::new(Vorticity2d::new(torus(n), 1.0), Rk4, 0.1, Substeps::Fixed(0))
        });
        assert_refused("at least one substep", || {
            SpectralStepper::unfused(Vorticity2d::new(torus(n), 1.0), Rk4, 0.1, Substeps::Fixed(0))
        });
        for limit in [0.0, -1.0, f64::NAN] {
            assert_refused("must be positive", || Vorticity2d::stepper(torus(n), 1.0, 0.1, Substeps::Courant(limit)));
        }
    }
}

#[test]
fn equations_say_on_which_grids_they_are_fast() {
    for (n, fast) in [(16, false), (32, true), (48, false), (64, true), (80, false), (96, true)] {
        assert_eq!(KuramotoSivashinsky2d::new(torus(n)).fast().is_some(), fast, "{n} nodes");
        assert_eq!(Vorticity2d::new(torus(n), 1e-3).fast().is_some(), fast, "{n} nodes");
    }
    for (n, fast) in [(24, false), (48, true), (80, true), (128, true)] {
        assert_eq!(KuramotoSivashinsky1d::new(Grid::periodic(n, 22.0 as Real)).fast().is_some(), fast, "{n} nodes");
    }
    let stepper = |n| format!("{:?}", KuramotoSivashinsky2d::stepper(torus(n), 0.1, 1));
    assert!(
        stepper(32).contains("fused: true") && stepper(48).contains("fused: false"),
        "a stepper uses the fast term if there is one"
    );
    let unfused = SpectralStepper::unfused(KuramotoSivashinsky2d::new(torus(32)), Rk4, 0.1, Substeps::Fixed(1));
    assert!(format!("{unfused:?}").contains("fused: false"));
}
