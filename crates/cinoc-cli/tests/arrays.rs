//! Fields from NumPy files, and episodes into them.

mod common;

use common::{cinoc, good, refused};
use npyz::npz::NpzArchive;
use npyz::{AutoSerialize, Order, WriterBuilder};
use std::f64::consts::PI;
use std::path::{Path, PathBuf};

fn write<T: AutoSerialize>(path: &Path, shape: &[u64], order: Order, values: impl IntoIterator<Item = T>) -> PathBuf {
    let file = std::fs::File::create(path).expect("a file");
    let options = npyz::WriteOptions::new().default_dtype().shape(shape).order(order).writer(file);
    let mut writer = options.begin_nd().expect("a header");
    writer.extend(values).expect("numbers");
    writer.finish().expect("written");
    path.to_owned()
}

fn wave(i: usize) -> f64 {
    (PI * i as f64 / 99.0).sin()
}

fn row(arguments: &[&str]) -> serde_json::Value {
    serde_json::from_slice(&good(&mut cinoc(arguments)).stdout).expect("JSON")
}

#[test]
fn fields_of_ones_own_are_used() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name);
    let zero = write(&file("zero.npy"), &[100], Order::C, vec![0.0; 100]);
    // Three targets, in single precision: a wave, twice and three times the wave.
    let waves = write(&file("waves.npy"), &[3, 100], Order::C, (0..300).map(|i| (wave(i % 100) * (1 + i / 100) as f64) as f32));
    let [zero, waves] = [&zero, &waves].map(|path| path.to_str().expect("a path"));
    let found = row(&["eval", "heat1d", "--start", zero, "--target", waves, "--instances", "3", "--json"]);
    // Without control a zero field stays zero: the error is the target.
    let square = (0..100).map(|i| wave(i).powi(2)).sum::<f64>() / 100.0;
    let expected = square * (1.0 + 4.0 + 9.0) / 3.0;
    let uncontrolled = found["uncontrolled"]["mean"].as_f64().expect("a number");
    assert!((uncontrolled - expected).abs() < 1e-5 * expected, "{uncontrolled} not {expected}");
    assert!(found["ratio"].as_f64().is_some_and(|ratio| ratio < 0.01), "{found}");
    // After the last the first comes again.
    let four = row(&["eval", "heat1d", "--start", zero, "--target", waves, "--instances", "4", "--json"]);
    let expected = square * (1.0 + 4.0 + 9.0 + 1.0) / 4.0;
    assert!((four["uncontrolled"]["mean"].as_f64().expect("a number") - expected).abs() < 1e-5 * expected, "{four}");
    // A start alone: targets are those of the seed.
    let start = row(&["eval", "heat1d", "--start", zero, "--instances", "3", "--json"]);
    assert_ne!(start["uncontrolled"]["mean"], found["uncontrolled"]["mean"]);
    let drawn = folder.path().join("own.png");
    good(cinoc(["show", "heat1d", "--start", zero, "--target", waves, "-o"]).arg(&drawn));
    assert!(drawn.exists());
}

#[test]
fn fields_that_do_not_fit_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name);
    let c = Order::C;
    std::fs::write(file("text.npy"), "no array").expect("written");
    std::fs::write(file("empty.npy"), "").expect("written");
    let whole = write(&file("whole.npy"), &[100], c, vec![0.5; 100]);
    let bytes = std::fs::read(&whole).expect("a file");
    std::fs::write(file("cut.npy"), &bytes[..bytes.len() - 8]).expect("written");
    for (path, expected) in [
        (write(&file("short.npy"), &[99], c, vec![0.0; 99]), "its shape is [99]; heat1d needs [100], or several"),
        (write(&file("rows.npy"), &[2, 99], c, vec![0.0; 198]), "its shape is [2, 99]"),
        (write(&file("deep.npy"), &[1, 1, 100], c, vec![0.0; 100]), "its shape is [1, 1, 100]"),
        (write(&file("none.npy"), &[0, 100], c, Vec::<f64>::new()), "its shape is [0, 100]"),
        (write(&file("number.npy"), &[], c, vec![0.0]), "its shape is []"),
        (write(&file("fortran.npy"), &[2, 100], Order::Fortran, vec![0.0; 200]), "numpy.ascontiguousarray"),
        (write(&file("int.npy"), &[100], c, vec![1i64; 100]), "save them as float32 or float64"),
        (write(&file("bool.npy"), &[100], c, vec![true; 100]), "save them as float32 or float64"),
        (write(&file("nan.npy"), &[100], c, vec![f64::NAN; 100]), "NaN or infinite numbers"),
        (write(&file("inf.npy"), &[100], c, vec![f32::INFINITY; 100]), "NaN or infinite numbers"),
        (file("text.npy"), "text.npy cannot be used as fields"),
        (file("empty.npy"), "empty.npy cannot be used as fields"),
        (file("cut.npy"), "cut.npy cannot be used as fields"),
        (file("missing.npy"), "missing.npy cannot be used as fields"),
        (folder.path().to_owned(), "cannot be used as fields"),
    ] {
        for flag in ["--start", "--target"] {
            let text = refused(cinoc(["eval", "heat1d", "--instances", "2", flag]).arg(&path));
            assert!(text.contains(expected), "{flag} {}: {text:?} lacks {expected:?}", path.display());
        }
    }
    // What fits one problem does not fit another.
    let text = refused(cinoc(["eval", "heat2d", "--instances", "2", "--start"]).arg(&whole));
    assert!(text.contains("heat2d needs [32, 32]"), "{text}");
}

/// Shape and numbers of an array.
fn array(archive: &mut NpzArchive<std::io::BufReader<std::fs::File>>, name: &str) -> (Vec<u64>, Vec<f64>) {
    let array = archive.by_name(name).expect("an archive").unwrap_or_else(|| panic!("no array {name}"));
    (array.shape().to_vec(), array.into_vec().expect("numbers"))
}

#[test]
fn episodes_are_written_as_arrays() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name);
    let export = |arguments: &[&str]| {
        let (picture, arrays) = (file("e.png"), file("e.npz"));
        let mut command = cinoc(["show"]);
        command.args(arguments).env("CINOC_CACHE", folder.path()).arg("-o").arg(&picture).arg("--export").arg(&arrays);
        let said = String::from_utf8(good(&mut command).stdout).expect("text");
        assert!(said.contains("Wrote") && said.contains("Drew"), "{said}");
        NpzArchive::open(&arrays).expect("an archive")
    };
    let mut line = export(&["heat1d", "--set", "physics.ticks=6", "--agents", "5", "--fail", "0.4"]);
    let mut names: Vec<String> = line.array_names().map(str::to_owned).collect();
    names.sort();
    assert_eq!(names, ["action", "alive", "t", "target", "x", "xi", "z"]);
    for (name, shape) in [
        ("z", &[7, 100][..]),
        ("xi", &[7, 5, 1]),
        ("action", &[6, 5, 2]),
        ("alive", &[7, 5]),
        ("target", &[100]),
        ("t", &[7]),
        ("x", &[100]),
    ] {
        let (found, numbers) = array(&mut line, name);
        assert_eq!((found.as_slice(), numbers.len() as u64), (shape, shape.iter().product()), "{name}");
        assert!(numbers.iter().all(|x| x.is_finite()), "{name}");
    }
    let (t, x) = (array(&mut line, "t").1, array(&mut line, "x").1);
    assert!(t[0] == 0.0 && (t[6] - 6e-3).abs() < 1e-9 && x[0] == 0.0 && (x[99] - 1.0).abs() < 1e-6, "{t:?}");
    // Two of five fail halfway.
    let alive = array(&mut line, "alive").1;
    let count = |tick: usize| alive[5 * tick..5 * tick + 5].iter().sum::<f64>();
    assert_eq!([count(0), count(1), count(6)], [5.0, 5.0, 3.0], "{alive:?}");
    let action = array(&mut line, "action").1;
    let failed = (0..5).find(|m| alive[30 + m] == 0.0).expect("a failed agent");
    assert!(action[2 * failed] != 0.0 && action[(25 + failed) * 2] == 0.0, "failed agents do nothing");

    let mut plane = export(&["heat2d", "--set", "physics.ticks=4"]);
    for (name, shape) in
        [("z", &[5, 32, 32][..]), ("xi", &[5, 16, 2]), ("action", &[4, 16, 3]), ("target", &[32, 32]), ("y", &[32])]
    {
        assert_eq!(array(&mut plane, name).0, shape, "{name}");
    }
    // Control is switched on at t = 0, after three ticks without.
    let soon = ["--set", "data.settle=5", "--set", "data.apart=5", "--set", "data.test_states=2", "--set", "physics.ticks=4"];
    let mut ring = export(&[&["ks1d", "--before", "3"][..], &soon].concat());
    let (shape, t) = array(&mut ring, "t");
    assert!(shape == [8] && (t[0] + 0.15).abs() < 1e-6 && t[3] == 0.0 && (t[7] - 0.2).abs() < 1e-6, "{t:?}");
    let action = array(&mut ring, "action");
    assert_eq!(action.0, [7, 8, 1]);
    assert!(action.1[..24].iter().all(|u| *u == 0.0) && action.1[24..].iter().all(|u| *u != 0.0), "{action:?}");
}

#[test]
fn pictures_are_fields_of_the_plane() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("half.png");
    // The upper half white: 4 columns, 6 rows.
    let mut encoder = png::Encoder::new(std::fs::File::create(&path).expect("a file"), 4, 6);
    encoder.set_color(png::ColorType::Rgb);
    let pixels: Vec<u8> = (0..72).map(|i| if i < 36 { 255 } else { 0 }).collect();
    encoder.write_header().and_then(|mut writer| writer.write_image_data(&pixels)).expect("a picture");
    let path = path.to_str().expect("a path");
    let out = folder.path().join("own.npz");
    good(cinoc(["show", "heat2d", "--start", path, "--export"]).arg(&out).arg("-o").arg(folder.path().join("own.png")));
    let mut archive = NpzArchive::open(&out).expect("an archive");
    let z: Vec<f64> = archive.by_name("z").expect("read").expect("fields").into_vec().expect("numbers");
    // [x, y] of 32 by 32 nodes; y goes up.
    assert_eq!((z[0], z[31], z[32 * 5 + 3], z[32 * 5 + 28]), (0.0, 1.0, 0.0, 1.0));
    let text = refused(&mut cinoc(["eval", "heat1d", "--start", path]));
    assert!(text.contains("not a problem in the plane"), "{text}");
    let words = folder.path().join("text.png");
    std::fs::write(&words, "no picture").expect("written");
    let text = refused(cinoc(["eval", "heat2d", "--start"]).arg(&words));
    assert!(text.contains("not a picture in PNG format"), "{text}");
}
