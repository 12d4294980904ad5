//! The C file: compiled without a warning, and compared.

use super::{CLOSE, DECISIONS, cases, channel, cube, names, shipped};
use cinoc::env::Env;
use cinoc::export::c;
use cinoc::internal::random::Stream;
use cinoc::internal::threads::Threads;
use cinoc::rollout::InitialCondition;
use cinoc::{Real, Registry};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A temporary folder of one test.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("cinoc-export-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Compiles a file of this folder with a controller, all warnings being errors.
pub fn compile(folder: &Folder, main: &str, policy: &str, flags: &[&str]) -> PathBuf {
    let program = folder.0.join(main.replace('.', "_"));
    std::fs::write(folder.0.join("policy.c"), policy).expect("a file");
    let tests = if cfg!(double) { "../../cinoc/tests" } else { "tests" };
    let main = Path::new(env!("CARGO_MANIFEST_DIR")).join(tests).join("export").join(main);
    let mut compiler = Command::new("cc");
    compiler.args(["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off"]).args(flags);
    compiler.arg("-I").arg(&folder.0).arg("-o").arg(&program).arg(main).arg("-lm");
    let output = compiler.output().expect("a C compiler, which Rust needs too");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

/// Runs a program on this input and returns its output.
pub fn answer(program: &Path, given: &[f64]) -> Vec<f64> {
    let mut child = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    let (mut stdin, bytes) =
        (child.stdin.take().expect("a pipe"), given.iter().flat_map(|x| x.to_ne_bytes()).collect::<Vec<_>>());
    let writer = std::thread::spawn(move || stdin.write_all(&bytes).expect("it reads"));
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("written");
    assert!(output.status.success());
    output.stdout.as_chunks().0.iter().map(|&word| f64::from_ne_bytes(word)).collect()
}

#[test]
fn the_c_file_of_every_model_agrees() {
    for (name, case) in cases() {
        let (name, folder) = (&name[..], Folder::new(&name));
        let text = c::source(&Registry::builtin(), &case.model, name).expect("a file");
        let trial = case.trial(DECISIONS);
        let decisions = trial.first.len();
        let row = |all: &[Real], i: usize| all[all.len() / decisions * i..][..all.len() / decisions].to_vec();
        let given = (0..decisions).flat_map(|i| {
            let told = [if trial.first[i] { 1.0 } else { 0.0 }];
            [&told, &row(&trial.memory, i)[..], &row(&trial.readings, i)].concat()
        });
        let given: Vec<f64> = given.map(|x| x as f64).collect();
        // An engine in double precision agrees to the last digits, one in single precision nearly so.
        let single = if cfg!(double) { 1e-6 } else { CLOSE };
        for (flag, close) in [("-O1", CLOSE), ("-DCINOC_FLOAT", single)] {
            let off = case.off(&answer(&compile(&folder, "driver.c", &text, &[flag]), &given), &trial);
            println!("{name}: {decisions} decisions, {flag}: off by at most {off:.1e} of the limit");
            assert!(off < close, "{name}: off by {off:.1e} of the limit");
        }
    }
}

/// The helpers compute the same readings from a field and from positions as the engine.
#[test]
fn helpers_compute_the_readings_of_the_engine() {
    for name in names().into_iter().chain(["cube", "channel"]) {
        let case = match name {
            "cube" => cube(),
            "channel" => channel(),
            name => shipped(name),
        };
        let folder = Folder::new(&format!("{name}-sampler"));
        let (problem, registry) = (&case.problem, Registry::builtin());
        let (grid, agents) = (problem.stepper.grid(), problem.agents);
        let axes = format!("-DAXES={}", grid.dimensions());
        let mut flags = vec![axes.as_str()];
        flags.extend((!grid.is_periodic()).then_some("-DWALLS"));
        // In a box there are no gaps and crowds.
        flags.extend((grid.dimensions() > 2).then_some("-DALONE"));
        flags.extend(problem.swarm.instruments().iter().any(|one| one.name == "crowd").then_some("-DCROWD"));
        let program = compile(&folder, "sampler.c", &c::source(&registry, &case.model, name).expect("a file"), &flags);
        let mut env = Env::new(problem.clone(), 1, agents, Threads::single()).expect("an environment");
        env.reset(&[true], &mut |i| InitialCondition::drawn(problem, agents, 2, Stream::Test, i));
        env.run(&*case.policy, &case.model.params, 7, &mut |_| {});
        env.set_strength(0, 1, 0.0);
        let double = |x: &[Real]| x.iter().map(|&x| x as f64).collect::<Vec<_>>();
        let mut given: Vec<f64> = grid.nodes.iter().map(|&n| n as f64).collect();
        given.extend(double(&grid.lengths));
        given.extend(grid.periodic.iter().map(|periodic| f64::from(u8::from(*periodic))));
        given.extend(env.field(0).iter().zip(env.target(0)).map(|(z, target)| *z as f64 - *target as f64));
        given.push(agents as f64);
        for (place, strength) in env.positions(0).chunks_exact(grid.dimensions()).zip(env.strength(0)) {
            given.extend(double(place));
            given.push(*strength as f64);
        }
        let found = answer(&program, &given);
        let (readings, instruments) = (env.readings(0), problem.swarm.instruments());
        let (width, each) = (readings.len() / agents, found.len() / agents);
        for (m, (row, found)) in readings.chunks_exact(width).zip(found.chunks_exact(each)).enumerate() {
            let (mut from, mut at) = (0, 0);
            for one in &instruments {
                let shown = &row[from..from + one.count];
                from += one.count;
                if !["error", "slope", "gap", "crowd"].contains(&one.name) {
                    continue;
                }
                let size = shown.iter().fold(1e-3, |size: f64, x| size.max(x.abs() as f64));
                for (a, b) in shown.iter().zip(&found[at..]) {
                    // Slopes in single precision are differences of nearly equal numbers.
                    let limit = if cfg!(double) { 1e-9 } else { 1e-3 };
                    assert!((*a as f64 - b).abs() <= limit * size, "{name}: agent {m}: {} is {a}, not {b}", one.name);
                }
                at += one.count;
            }
            assert_eq!(at, each, "{name}: all readings were compared");
        }
    }
}
