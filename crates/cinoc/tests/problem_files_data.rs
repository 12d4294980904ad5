//! Data in problem files: maps from pictures and arrays, solid cells, series, numbers that depend on time.

use cinoc::internal::random::{Rng, Split, Stream};
use cinoc::problem::Preset;
use cinoc::rollout::{Control, GradientTargets, Rollout};
use cinoc::settings::Overlay;
use cinoc::task::{Instance, Status};
use cinoc::{Config, Error, Problem, Real, Registry};
use cinoc_lab::inspect;
use std::path::PathBuf;

const PLANE: &str = r##"
[domain]
size = [2.0, 1.0]
cells = [4, 4]
[constants]
wall = 0.25
[maps]
k = { file = "plan.png", legend = { "#ffffff" = 2, "#000000" = "wall" } }
[fields]
z = "k"
[equations]
z = "0.01*lap(z) + push"
[agents]
number = 4
push = { width = 0.1, range = [-4, 4] }
see = { window = 0.3, points = 4 }
[task]
cost = { error = "mean(z^2)", effort = "1e-4*mean(push.u^2)" }
score = "mean(z^2)"
[time]
tick = 0.05
ticks = 8
"##;

/// A folder with data files, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("cinoc-data-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn with(self, name: &str, bytes: impl AsRef<[u8]>) -> Self {
        std::fs::write(self.0.join(name), bytes).unwrap();
        self
    }

    fn open(&self, text: &str, changes: &[&str]) -> Result<Config, Error> {
        let place = self.0.join("some.toml");
        Registry::builtin().open_text(text, &place.to_string_lossy(), Preset::Tuned, &Overlay::from_pairs(changes)?)
    }

    fn problem(&self, text: &str) -> Problem {
        Registry::builtin().build(&self.open(text, &[]).unwrap()).unwrap()
    }

    fn refused(&self, text: &str) -> String {
        let config = self.open(text, &[]);
        config.and_then(|config| Registry::builtin().build(&config).map(drop)).expect_err("refused").to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A grey picture, its rows from the top.
fn picture(rows: &[&[u8]]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, rows[0].len() as u32, rows.len() as u32);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.write_header().and_then(|mut writer| writer.write_image_data(&rows.concat())).unwrap();
    bytes
}

/// The picture of a plan: two walls at the left, one above the other.
fn plan() -> Vec<u8> {
    picture(&[&[0, 255, 255, 255], &[10, 255, 255, 250], &[255; 4], &[255; 4]])
}

fn npy(kind: &str, shape: &str, numbers: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n");
    [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), numbers].concat()
}

fn instance(problem: &Problem) -> Instance {
    problem.task.sample(&mut Rng::new(0, Stream::Test, 0), Split::Test)
}

fn start(problem: &Problem) -> Vec<Real> {
    instance(problem).start
}

/// The last field of an episode with constant pushes of immobile agents, and the score.
fn run(problem: &Problem, push: Real) -> (Vec<Real>, f64) {
    let Instance { start, target } = instance(problem);
    let (ticks, positions) = (problem.ticks, problem.swarm.start(problem.agents));
    let mut rollout = Rollout::new(ticks, 1, false, problem.agents);
    rollout.batch.push(&start, &target, &positions);
    let actions = vec![push; ticks * problem.agents];
    let (mut last, mut score) = (Vec::new(), [0.0]);
    rollout.forward(problem, Control::Actions(&actions), GradientTargets::default(), &mut |scene| {
        last = scene.z.to_vec();
        let (tick, z) = (scene.tick, scene.z);
        problem.task.measure(
            &Status { tick, ticks, start: &start, z, target: &target, xi: &positions, begins: 0.0, thorough: false },
            &mut score,
        );
    });
    (last, score[0])
}

#[test]
fn pictures_have_y_upwards_and_numbers_of_colours() {
    let folder = Folder::new("pictures").with("plan.png", plan());
    let problem = folder.problem(PLANE);
    let mut expected = [2.0; 16];
    // Cells are row-major in x, y: the upper two of the first column.
    expected[2..4].fill(0.25);
    assert_eq!(start(&problem), expected);
    let grey = "range = [1, 3] }";
    let levels = folder.problem(&PLANE.replace("legend = { \"#ffffff\" = 2, \"#000000\" = \"wall\" } }", grey));
    let found = start(&levels);
    assert_eq!([found[0], found[3], found[15]], [3.0, 1.0, 3.0]);
    assert!((found[2] as f64 - (1.0 + 20.0 / 255.0)).abs() < 1e-6);
    let changed = Registry::builtin().build(&folder.open(PLANE, &["constants.wall=0.5"]).unwrap()).unwrap();
    assert_eq!(start(&changed)[3], 0.5);
}

#[test]
fn maps_follow_the_cells() {
    let folder = Folder::new("cells").with("plan.png", plan());
    let at = |text: &str, changes: &[&str]| start(&Registry::builtin().build(&folder.open(text, changes).unwrap()).unwrap());
    let fine = at(PLANE, &["physics.cells=[8, 8]"]);
    assert_eq!(fine.iter().filter(|k| **k == 0.25).count(), 8);
    assert_eq!([fine[3], fine[4], fine[8 + 7], fine[16 + 7]], [2.0, 0.25, 0.25, 2.0]);
    let values = PLANE.replace(
        "{ file = \"plan.png\", legend = { \"#ffffff\" = 2, \"#000000\" = \"wall\" } }",
        "{ values = [[0, 1, 2, 3, 4, 5, 6, 7]] }",
    );
    assert_eq!(at(&values, &[])[..4], [0.5, 2.5, 4.5, 6.5], "means");
    assert_eq!(at(&values, &["physics.cells=[4, 8]"])[24..], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], "the numbers");
    assert_eq!(at(&values, &["physics.cells=[4, 16]"])[..4], [0.0, 0.25, 0.75, 1.25], "between");
}

#[test]
fn arrays_are_those_of_numpy() {
    let numbers: Vec<u8> = [1.5f32, -2.0, 3.0, 4.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    let wide: Vec<u8> = (0..16).flat_map(|i| f64::from(i).to_be_bytes()).collect();
    let whole: Vec<u8> = (0..16i32).flat_map(|i| (i - 3).to_le_bytes()).collect();
    let folder = Folder::new("arrays").with("line.npy", npy("<f4", "(4,)", &numbers));
    let folder = folder.with("wide.npy", npy(">f8", "(4, 4)", &wide)).with("whole.npy", npy("<i4", "(4, 4)", &whole));
    let of = |name: &str| {
        PLANE.replace(
            "{ file = \"plan.png\", legend = { \"#ffffff\" = 2, \"#000000\" = \"wall\" } }",
            &format!("{{ file = \"{name}\" }}"),
        )
    };
    let line = of("line.npy").replace("[2.0, 1.0]", "[1.0]").replace("[4, 4]\n", "[4]\n");
    assert_eq!(start(&folder.problem(&line)), [1.5, -2.0, 3.0, 4.0]);
    assert_eq!(start(&folder.problem(&of("wide.npy"))), (0..16).map(|i| i as Real).collect::<Vec<_>>());
    assert_eq!(start(&folder.problem(&of("whole.npy"))), (0..16).map(|i| i as Real - 3.0).collect::<Vec<_>>());
}

#[test]
fn settings_hold_the_data() {
    let folder = Folder::new("carried").with("plan.png", plan()).with("t.csv", "h,T\n0,1\n1,3\n");
    let text = PLANE.replace("[fields]", "[series]\nT = { file = \"t.csv\", column = \"T\", time = \"h\" }\n[fields]");
    let config = folder.open(&text, &[]).unwrap();
    let expected = start(&folder.problem(&text));
    drop(folder);
    let registry = Registry::builtin();
    let read = registry.read(&config.to_toml(), "a model").unwrap();
    assert_eq!(read, config);
    assert_eq!(start(&registry.build(&read).unwrap()), expected);
    let finer = registry.change(&read, &Overlay::from_pairs(["physics.cells=[8, 8]"]).unwrap()).unwrap();
    assert_eq!(start(&registry.build(&finer).unwrap()).len(), 64);
    for (data, expected) in
        [("[]", "plan.png is not among"), ("[\"plan.png: ***\"]", "damaged"), ("[\"plan.png: AAAA\"]", "not a picture")]
    {
        let answer = registry.change(&config, &Overlay::from_pairs([format!("file.data={data}")]).unwrap());
        let answer = answer.and_then(|config| registry.build(&config).map(drop)).unwrap_err().to_string();
        assert!(answer.contains(expected), "{data}: {answer}");
    }
}

/// `exp(-a x) sin(ω t - a x)` with `a² = ω/(2ν)` solves the equation of heat.
fn wave(tick: f64, left: &str) -> String {
    let (nu, omega) = (0.5, 8.0f64);
    let a = (omega / (2.0 * nu)).sqrt();
    format!(
        "[domain]\nsize = [1.0]\ncells = [256]\nleft = {{ value = \"{left}\" }}\nright = {{ value = \"exp(-{a})*sin({omega}*t - {a})\" }}\n\
         [series]\nwave = \"sin({omega}*t)\"\n\
         table = {{ file = \"wave.csv\", column = \"sine\", time = \"ms\", unit = 1e-3 }}\n\
         [fields]\nz = \"-exp(-{a}*x)*sin({a}*x)\"\n[equations]\nz = \"{nu}*lap(z) + push\"\n\
         [agents]\nnumber = 2\npush = {{ width = 0.1, range = [-4, 4] }}\n\
         [task]\ncost = {{ error = \"mean(z^2)\" }}\nscore = \"mean((z - exp(-{a}*x)*sin({omega}*t - {a}*x))^2)\"\n\
         [time]\ntick = {tick:?}\nticks = {}\n",
        (0.8 / tick).round()
    )
}

#[test]
fn sides_may_depend_on_time() {
    let table: String = (0..=800).map(|i| format!("{i};{}\n", (8.0 * f64::from(i) * 1e-3).sin())).collect();
    let folder = Folder::new("sides").with("wave.csv", format!("ms;sine\n{table}"));
    let error = |tick: f64, left: &str| run(&folder.problem(&wave(tick, left)), 0.0).1.sqrt();
    let (coarse, fine) = (error(0.08, "wave"), error(0.02, "wave"));
    assert!(fine < 2e-3 && (8.0..32.0).contains(&(coarse / fine)), "second order: {coarse} {fine}");
    let table = error(0.02, "table");
    assert!((table - fine).abs() < 1e-4, "{table} {fine}");
}

/// dz/dt = T without actions, of a table from 0 to 1 within an hour that is held or repeats.
#[test]
fn series_start_and_repeat_as_the_file_says() {
    let folder = Folder::new("series").with("t.csv", "# made up\nhour,T\n0,0\n1,1\n");
    let with = |more: &str| {
        PLANE
            .replace("[2.0, 1.0]", "[1.0]")
            .replace("cells = [4, 4]", "cells = [4]")
            .replace("k = { file = \"plan.png\", legend = { \"#ffffff\" = 2, \"#000000\" = \"wall\" } }", "k = 0")
            .replace(
                "[fields]",
                &format!("[series]\nT = {{ file = \"t.csv\", column = \"T\", time = \"hour\", unit = 0.2{more} }}\n[fields]"),
            )
            .replace("0.01*lap(z)", "0.01*lap(z) + T")
            .replace("score = \"mean(z^2)\"", "score = \"T\"")
    };
    // Eight ticks of 0.05: two hours of 0.2.
    for (more, field, last) in [
        ("", 0.1 + 0.2, 1.0),
        (", start = \"4*wall\"", 0.4, 1.0),
        (", repeat = 1", 0.2, 0.0),
        (", repeat = true", 0.2, 0.0),
        (", repeat = 4", 0.1 + 0.1 * (1.0 + 2.0 / 3.0), 2.0 / 3.0),
    ] {
        let (z, score) = run(&folder.problem(&with(more)), 0.0);
        assert!((z[0] as f64 - field).abs() < 1e-5 && (score - last).abs() < 1e-4, "{more}: {z:?}, {score}");
    }
}

/// Two chambers between which nothing passes.
const CHAMBERS: &str = r#"
[domain]
size = [1.0]
cells = [20]
solid = "abs(x - 0.525) < 0.09"
[maps]
flow = ["0.2"]
[fields]
z = "where(x < 0.5, 1, 0)"
[equations]
z = "0.1*lap(z) + push"
[agents]
number = 5
push = { width = 0.05, range = [-4, 4] }
[task]
target = "3"
cost = { error = "mean((z - target)^2)" }
score = "mean(z)"
[time]
tick = 0.05
ticks = 20
"#;

#[test]
fn nothing_passes_solid_cells() {
    let folder = Folder::new("solid");
    for equation in
        ["0.1*lap(z) + push", "div((0.1 + 0.01*z)*grad(z)) - div(flow*z) + push", "-dot(flow, grad(z)) + z - z + push"]
    {
        let problem = folder.problem(&CHAMBERS.replace("0.1*lap(z) + push", equation));
        let solid: Vec<usize> = (0..20).filter(|i| ((*i as f64 + 0.5) / 20.0 - 0.525).abs() < 0.09).collect();
        let begin = start(&problem);
        assert_eq!(solid.len(), 3, "{solid:?}");
        assert!(
            (0..20).all(|i| begin[i]
                == if solid.contains(&i) {
                    3.0
                } else if i < 10 {
                    1.0
                } else {
                    0.0
                }),
            "{begin:?}"
        );
        let (z, mean) = run(&problem, 0.0);
        assert!(solid.iter().all(|i| z[*i] == 3.0) && (12..20).all(|i| z[i] == 0.0), "{equation}: {z:?}");
        let of_fluid = (0..20).filter(|i| !solid.contains(i)).map(|i| z[i] as f64).sum::<f64>() / 17.0;
        assert!((mean - of_fluid).abs() < 1e-6 && (mean - 9.0 / 17.0).abs() < 1e-5, "{equation}: {mean} {of_fluid}");
        let (pushed, _) = run(&problem, 1.0);
        assert!(solid.iter().all(|i| pushed[*i] == 3.0) && pushed[0] > z[0]);
    }
    let square = folder.problem(&CHAMBERS.replace("score = \"mean(z)\"", "score = \"mean((z - target)^2)\""));
    assert_eq!((square.task.measures(), square.task.square_in_score(20, 20)), (&["score"][..], None));
    assert!((run(&square, 0.0).1 - (9.0 * 4.0 + 8.0 * 9.0) / 17.0).abs() < 1e-4);
}

/// All at once: solid cells, a vector, series and times in equation, sides, cost and what agents see.
fn busy() -> String {
    CHAMBERS
        .replace("[1.0]", "[1.0, 0.8]")
        .replace("cells = [20]", "cells = [10, 8]\nleft = { value = \"T\" }\nright = { exchange = 0.3, outside = \"2*T - 0.1*t\" }\ntop = { flux = \"0.1*gain\" }")
        .replace("abs(x - 0.525) < 0.09", "max(abs(x - 0.5), abs(y - 0.3)) < 0.15")
        .replace("[\"0.2\"]", "[\"0.2\", \"0.1*x\"]")
        .replace("[fields]", "[series]\nT = { file = \"t.csv\", column = \"T\", time = \"h\", repeat = 0.7 }\ngain = \"1 + 0.5*sin(3*t) + 0*T\"\n[fields]")
        .replace("where(x < 0.5, 1, 0)", "random(0.3)")
        .replace("0.1*lap(z) + push", "div((0.02 + 0.01*x)*grad(z)) - gain*dot(flow, grad(z)) - z^3 + T*z + push")
        .replace("width = 0.05, range = [-4, 4] }", "width = 0.15, range = [-4, 4] }\nmove = { speed = 0.5 }\nsee = { error = \"z - T\", window = 0.4 }")
        .replace("mean((z - target)^2)", "mean((z - gain)^2) + 0.1*max(z)")
}

#[test]
fn derivatives_with_times_and_solids_are_exact() {
    let problem = Folder::new("derivatives").with("t.csv", "h,T\n0,0.5\n0.3,-0.5\n").problem(&busy());
    assert!(problem.task.timed());
    for (name, error) in inspect::inputs(&problem, 5, &[1e-1, 1e-2, 1e-3]) {
        assert!(error < 2e-2, "{name}: {error}");
    }
}

#[test]
fn mistakes_are_shown_at_their_place() {
    let folder =
        Folder::new("mistakes").with("plan.png", plan()).with("t.csv", "h,T\n0,1\n1,cold\n").with("back.csv", "h,T\n1,1\n0,2\n");
    let folder = folder.with("text.png", "no picture").with("short.npy", npy("<f4", "(4, 400000000)", &[0; 16]));
    std::fs::create_dir(folder.0.join("inner")).unwrap();
    let series =
        |more: &str| PLANE.replace("[fields]", &format!("[series]\nT = {{ file = \"t.csv\", column = \"T\"{more} }}\n[fields]"));
    let map = |from: &str, to: &str| {
        assert!(PLANE.contains(from), "{from}");
        PLANE.replacen(from, to, 1)
    };
    let legend = "legend = { \"#ffffff\" = 2, \"#000000\" = \"wall\" }";
    for (text, expected) in [
        (map("plan.png", "plant.png"), "maps.k: plant.png cannot be read"),
        (map("plan.png", "text.png"), "maps.k: text.png: it is not a picture"),
        (map("plan.png", "../plan.png"), "maps.k: ../plan.png must be in the folder of the problem file or below"),
        (map("plan.png", "/etc/passwd"), "maps.k: /etc/passwd must be in the folder"),
        (map("plan.png", "inner/../../x.png"), "must be in the folder"),
        (map("plan.png", ""), "must be in the folder"),
        (map("plan.png", "inner"), "maps.k: "),
        (map("\"#000000\"", "\"#c00000\""), "column 1 of row 1 from the top has the colour #000000"),
        (map("\"#000000\"", "\"black\""), "maps.k.legend.black: a legend gives numbers to colours, like"),
        (map("\"wall\"", "\"wal\""), "wal is not known"),
        (map(legend, "range = [0]"), "maps.k.range: it must be the two numbers"),
        (map(legend, "colours = 3"), "maps.k.file: it must be a .npy file, or a picture with legend"),
        (map("{ file = \"plan.png\",", "{ fil = \"plan.png\","), "maps.k: it needs a file"),
        (map(&format!("\"plan.png\", {legend}"), "\"short.npy\""), "short.npy: it is 94 bytes long"),
        (map(&format!("file = \"plan.png\", {legend}"), "values = [1, 2, 3, 4]"), "maps.k: its shape is [4]; it needs 2 axes"),
        (map(&format!("file = \"plan.png\", {legend}"), "values = [[1, 2], [3]]"), "maps.k.values: it must be a list"),
        (map("[fields]", "wind = [\"1\"]\n[fields]"), "maps.wind: a vector has a text for each axis, here 2"),
        (map("[fields]", "wind = [\"1\", \"windy\"]\n[fields]"), "windy is not known"),
        (map("cells = [4, 4]", "cells = [4, 4]\nsolid = \"x > -1\""), "domain.solid: all cells are solid"),
        (map("cells = [4, 4]", "cells = [4, 4]\nsolid = \"z > 0\""), "domain.solid: z is not known"),
        (map("cells = [4, 4]", "cells = [4, 4]\nleft = { exchange = \"t\", outside = 1 }"), "cannot depend on time"),
        (map("cells = [4, 4]", "cells = [4, 4]\nleft = { value = \"1/t\" }"), "domain: a number of a side is inf"),
        (map("cells = [4, 4]", "cells = [4, 4]\nleft = { value = \"k\" }"), "one value is needed here"),
        (series(", time = \"h\""), "series.T: t.csv: line 3: \"cold\" in the column T is not a number"),
        (series("").replace("column = \"T\"", "column = \"Tout\""), "series.T: t.csv: it has no column Tout; write"),
        (series(", time = \"h\"").replace("t.csv", "back.csv"), "its times must increase, but 0 comes after 1"),
        (series(", repeat = -1"), "series.T.repeat: it must be true"),
        (series(", hours = 1"), "series.T.hours: it is not known"),
        (series("").replace("T = { file = \"t.csv\", column = \"T\" }", "T = \"5 + sin(tt)\""), "series.T: tt is not known"),
        (series("").replace("T = { file = \"t.csv\", column = \"T\" }", "wall = \"t\""), "wall is declared twice"),
        (
            series("").replace("T = { file = \"t.csv\", column = \"T\" }", "T = \"mean(k)*t\""),
            "operators and means are not possible",
        ),
    ] {
        let answer = folder.refused(&text);
        assert!(answer.contains(expected), "expected {expected}\n{answer}");
    }
}

/// The sum of a chunk's kind and content.
fn summed(mut png: Vec<u8>) -> Vec<u8> {
    let sum = crc32fast::hash(&png[12..29]);
    png[29..33].copy_from_slice(&sum.to_be_bytes());
    png
}

#[test]
fn large_and_forged_files_are_refused() {
    let mut forged = plan();
    forged[16..24].copy_from_slice(&[0, 0, 0x80, 0, 0, 0, 0x80, 0]);
    let mut wide = plan();
    wide[16..24].copy_from_slice(&[0, 0, 8, 0, 0, 0, 8, 0]);
    let folder = Folder::new("forged").with("plan.png", summed(forged)).with("wide.png", summed(wide));
    let folder = folder.with("large.png", vec![0; (4 << 20) + 1]);
    for (name, expected) in [
        ("plan.png", "it has 32768 × 32768 pixels; make it smaller"),
        ("wide.png", "cannot hold 2048 × 2048 pixels"),
        ("large.png", "large.png is too large; all data files together may have 4 MB"),
    ] {
        let answer = folder.refused(&PLANE.replace("plan.png", name));
        assert!(answer.contains(expected), "{answer}");
    }
    // Cut and changed anywhere, a picture is read or refused.
    for at in 0..plan().len() {
        let mut bytes = plan();
        bytes[at] ^= 0x55;
        drop(Folder::new("cut").with("plan.png", &bytes).open(PLANE, &[]));
        drop(Folder::new("cut").with("plan.png", &bytes[..at]).open(PLANE, &[]));
    }
}

#[cfg(unix)]
#[test]
fn links_out_of_the_folder_are_refused() {
    let (outer, folder) = (Folder::new("outer").with("plan.png", plan()), Folder::new("linked"));
    std::os::unix::fs::symlink(outer.0.join("plan.png"), folder.0.join("plan.png")).unwrap();
    assert!(folder.refused(PLANE).contains("must be in the folder"));
}

#[test]
fn examples_are_built() {
    for name in ["floor_plan", "island"] {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../../examples/problems/{name}.toml"));
        let registry = Registry::builtin();
        let problem = registry.build(&registry.open(&path, Preset::Tuned, &Overlay::default()).unwrap()).unwrap();
        assert!(problem.task.timed() && run_is_finite(&problem), "{name}");
    }
}

fn run_is_finite(problem: &Problem) -> bool {
    let mut rollout = Rollout::new(4, 1, false, problem.agents);
    let Instance { start, target } = instance(problem);
    rollout.batch.push(&start, &target, &problem.swarm.start(problem.agents));
    let actions = vec![0.5; 4 * problem.agents * problem.swarm.action_width()];
    let mut finite = true;
    rollout.forward(problem, Control::Actions(&actions), GradientTargets::default(), &mut |scene| {
        finite &= scene.z.iter().all(|z| z.is_finite());
    });
    finite
}
