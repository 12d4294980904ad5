//! The command line with sizes, settings and files that make no sense, under limits of memory and time: each ends well, or with one
//! sentence; never by a signal, a panic, or not at all.
#![cfg(unix)]

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Time between two looks at a command, and after how many of them it counts as hanging: 20 seconds, unless the machine is paused.
const LOOK: Duration = Duration::from_millis(5);
const HANG: usize = 4000;

/// Runs the program under both limits; its status and what it said, or what is wrong with that.
fn end(arguments: &[&OsStr], folder: &Path) -> Result<(i32, String), String> {
    let errors = folder.join("errors.txt");
    let file = std::fs::File::create(&errors).map_err(|error| error.to_string())?;
    let mut child = Command::new("sh")
        .args(["-c", "ulimit -v 4000000; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_cinoc")])
        .args(arguments)
        .current_dir(folder)
        .env("CINOC_MEMORY_MB", "1500")
        .env("CINOC_CACHE", folder.join("cache"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(file)
        .spawn()
        .map_err(|error| error.to_string())?;
    let mut looks = 0;
    let status = loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) => break status,
            None if looks > HANG => {
                let _ = child.kill();
                let _ = child.wait();
                return Err("does not end".into());
            }
            None => {
                looks += 1;
                std::thread::sleep(LOOK);
            }
        }
    };
    let said = String::from_utf8_lossy(&std::fs::read(&errors).unwrap_or_default()).into_owned();
    let Some(code) = status.code() else { return Err(format!("ended by a signal: {said}")) };
    match (code, said.contains("panicked")) {
        (_, true) => Err(said),
        (0, _) => Ok((code, said)),
        (1, _) if said.starts_with("cinoc: ") && said.trim_end().lines().count() == 1 => Ok((code, said)),
        // What the parser of arguments says has a usage below it.
        (2, _) if said.starts_with("error: ") => Ok((code, said)),
        _ => Err(format!("status {code}: {said}")),
    }
}

fn assert_all_end(cases: &[Vec<OsString>], refused: bool) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut wrong = Vec::new();
    for case in cases {
        let arguments: Vec<&OsStr> = case.iter().map(OsString::as_os_str).collect();
        match end(&arguments, folder.path()) {
            Ok((0, _)) if refused => wrong.push(format!("{case:?}: accepted")),
            Ok(_) => {}
            Err(what) => wrong.push(format!("{case:?}: {what}")),
        }
    }
    assert!(wrong.is_empty(), "{} of {} cases are wrong:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

fn words(line: &str) -> Vec<OsString> {
    line.split_whitespace().map(OsString::from).collect()
}

#[test]
fn sizes_and_settings_that_are_refused() {
    let lines = [
        "eval heat1d --agents 18446744073709551615",
        "eval heat1d --agents 18446744073709551616",
        "eval heat1d --agents 8,0",
        "eval heat1d --agents -1",
        "eval heat1d --instances 18446744073709551615",
        "eval heat1d --instances 0",
        "eval ks1d --instances 18446744073709551615",
        "eval heat1d --fail nan",
        "eval heat1d --fail-at 2",
        "eval heat1d --threads 1000000",
        "eval heat1d --threads 18446744073709551615",
        "eval heat1d --set physics.nodes=3",
        "eval heat1d --set observe.window=1e10",
        "eval heat1d --set policy.head=64",
        "eval heat1d --set physics.ticks=0",
        "eval heat1d --start /dev/null",
        "eval heat1d --start /",
        "eval /dev/null",
        "eval /dev/zero",
        "eval /",
        "eval nonsense",
        "show heat1d --before 18446744073709551615",
        "show heat1d --agents 18446744073709551615",
        "show heat1d --agents 0",
        "show heat1d -o x.bmp",
        "show heat1d -o /nowhere/x.png",
        "show heat1d --export /nowhere/x.npz",
        "check heat1d --horizon 1000000000",
        "check heat1d --horizon 18446744073709551615",
        "check heat1d --set train.strength=[0.5,inf]",
        "bench heat1d --batch 99999999",
        "bench heat1d --batch 18446744073709551615",
        "bench heat1d --ticks 18446744073709551615",
        "bench heat1d --agents 18446744073709551615",
        "bench heat1d --agents 0",
        "bench heat1d --threads 1000000",
        "scale density2d",
        "scale heat1d",
        "scale heat2d --agents 1,99999999999",
        "scale heat2d --agents 1,18446744073709551615",
        "scale heat2d --agents 1,1",
        "scale heat2d --grids 0,1",
        "scale heat2d --grids 1,2",
        "scale heat2d --fixed-grid 18446744073709551615",
        "scale heat2d --fixed-agents 18446744073709551615",
        "data nonsense",
        "data ks2d --set physics.nodes=1e20",
        "data ks2d --set physics.nodes=8192",
        "data ks1d --set data.train_states=100000 --set physics.nodes=65536",
        "data turbulence2d --set observe.window=3.5e38",
        "list nonsense",
        "list heat1",
        "train heat1d --set train.updates=99999999999 --out x",
        "train heat1d --set physics.nodes=3 --out x",
        "train heat1d --set policy.head=9223372036854775807 --out x",
        "train heat1d --set policy.trunk=[65536,65536] --out x",
        "train heat1d --set train.batch=65536 --set physics.ticks=1000000 --out x",
        "train heat1d --set swarm.agents=10000000 --out x",
        "train heat1d --set problem=ks1d --out x",
        "train heat1d --set nonsense --out x",
        "train heat1d --set = --out x",
        "train heat1d --set physics={nodes=3} --out x",
        "train heat1d --resume --out x",
        "train heat1d --seed -1 --out x",
        "train /dev/null/x.toml --out x",
        "train heat1d --out /dev/null/x",
        "train",
    ];
    let mut cases: Vec<Vec<OsString>> = lines.into_iter().map(words).collect();
    let no_text = OsString::from_vec(vec![0xff, 0xfe, b'a']);
    for command in ["eval", "show", "list", "check", "bench", "data", "scale", "train"] {
        cases.push(vec![command.into(), no_text.clone()]);
        cases.push(vec![command.into(), "heat1d".into(), "--set".into(), no_text.clone()]);
    }
    assert_all_end(&cases, true);
}

#[test]
fn extremes_that_end() {
    let lines = [
        "list",
        "list heat1d",
        "data heat1d",
        "train heat1d --out a --set train.updates=1 --set physics.ticks=3 --set train.batch=1 --set train.validate_instances=1",
        "train heat1d --out b --set train.updates=2 --set physics.ticks=3 --set train.rate=10 --set train.clip=1e9 --set swarm.u_limit=1e9",
        "train heat2d --out c --set train.updates=1 --set physics.ticks=2 --set train.batch=1 --set train.validate_instances=1",
        "eval a --seed 18446744073709551615 --instances 1 --set physics={}",
        "eval a --instances 2 --threads 1024",
        "eval a --instances 1 --fail 1 --fail-at 0",
        "eval a --instances 1 --set swarm.u_limit=1e9 --set swarm.v_limit=1e9 --set physics.dt=1000",
        "eval c --instances 1 --agents 20000",
        "show a --instance 18446744073709551615",
        "show a --agents 300 --before 300",
        "show a --set physics.length=1000",
        "show density2d --set physics.ticks=2 --fail 1",
        "bench heat1d --batch 1 --ticks 1 --agents 1 --updates 1",
        "bench ks1d --batch 1 --ticks 2 --updates 1 --set data.settle=1 --set data.train_states=1 --set physics.dt=10",
        "check heat1d --horizon 0 --set physics.ticks=2 --set train.batch=1",
        "data ks1d --set data.settle=1 --set data.apart=0 --set data.per_run=100000 --set data.train_states=2",
    ];
    assert_all_end(&lines.map(words), false);
}

/// CRC-32 of bytes.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |sum: u32, byte: &u8| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| (sum >> 1) ^ if sum & 1 == 1 { 0xedb8_8320 } else { 0 })
    };
    !bytes.iter().fold(!0, step)
}

/// A model with other text in its header, and the checksum that goes with it.
fn forged(whole: &[u8], from: &str, to: &str) -> Vec<u8> {
    let length = u64::from_le_bytes(whole[..8].try_into().expect("eight bytes")) as usize;
    let header = std::str::from_utf8(&whole[8..8 + length]).expect("text");
    assert!(header.contains(from), "{from} is not in the header");
    let header = header.replacen(from, to, 1);
    let mut bytes = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &whole[8 + length..]].concat();
    let before = br#"\"checksum\":\""#;
    let at = bytes.windows(before.len()).position(|window| window == before).expect("a checksum") + before.len();
    bytes[at..at + 8].copy_from_slice(b"00000000");
    let sum = format!("{:08x}", crc32(&bytes));
    bytes[at..at + 8].copy_from_slice(sum.as_bytes());
    bytes
}

/// Files of fields that say what is not so.
fn arrays() -> Vec<Vec<u8>> {
    let file = |version: u8, length: &[u8], header: &str, bytes: usize| {
        [b"\x93NUMPY", &[version, 0][..], length, header.as_bytes(), &vec![0; bytes]].concat()
    };
    let one = |descr: &str, shape: &str, bytes: usize| {
        let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}");
        file(1, &(header.len() as u16).to_le_bytes(), &header, bytes)
    };
    vec![
        one("<f4", "100,", 399),
        one("<f4", "100,", 401),
        one("<f8", "100,", 400),
        one("<i4", "100,", 400),
        one("<f4", "99,", 396),
        one("<f4", "", 4),
        one("<f4", "0, 100", 0),
        one("<f4", "4000000, 100", 400),
        one("<f4", "1152921504606846976, 100", 400),
        one("<f4", "18446744073709551615, 100", 400),
        one("<f4", "18446744073709551616, 100", 400),
        one("<f4", "-1, 100", 400),
        file(1, &[0xff, 0xff], &"{".repeat(70_000), 0),
        file(1, &[0xff, 0x0f], &"(".repeat(4095), 0),
        file(2, &[0xff; 4], "{", 400),
        file(9, &[0; 4], "", 0),
        b"\x93NUMPY".to_vec(),
    ]
}

#[test]
fn files_that_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let whole = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../cinoc/models/heat1d.safetensors")).expect("a model");
    let same = forged(&whole, "heat1d", "heat1d");
    assert_eq!(same, whole, "what is sealed here is what the program writes");
    let mut cases = Vec::new();
    let mut add = |name: &str, bytes: &[u8], command: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("written");
        cases.push(vec![command.into(), path.into_os_string()]);
    };
    add("trunk.safetensors", &forged(&whole, "trunk = [32, 32]", "trunk = [1000000, 1000000]"), "eval");
    add("wide.safetensors", &forged(&whole, "trunk = [32, 32]", "trunk = [65536, 65536]"), "show");
    add("nodes.safetensors", &forged(&whole, "nodes = 100", "nodes = 9223372036854775807"), "eval");
    add("agents.safetensors", &forged(&whole, "agents = 8", "agents = 10000000"), "eval");
    add("integers.safetensors", &forged(&whole, r#""dtype":"F32""#, r#""dtype":"I32""#), "eval");
    add("halves.safetensors", &forged(&whole, r#""dtype":"F32""#, r#""dtype":"BF16""#), "eval");
    add("doubles.safetensors", &forged(&whole, r#""dtype":"F32""#, r#""dtype":"F64""#), "eval");
    add("many.safetensors", &forged(&whole, r#""shape":["#, r#""shape":[18446744073709551615,"#), "eval");
    add("short.safetensors", &whole[..whole.len() / 2], "show");
    add("empty.safetensors", &[], "eval");
    add("ones.safetensors", &[0xff; 4096], "eval");
    add("lists.toml", format!("a = {}", "[".repeat(100_000)).as_bytes(), "check");
    add("tables.toml", format!("a = {}1", "{a = ".repeat(100_000)).as_bytes(), "check");
    add("keys.toml", format!("{}a = 1", "a.".repeat(100_000)).as_bytes(), "check");
    add("bytes.toml", &[0xff, 0xfe, 0, 1], "check");
    add("twice.toml", b"problem = \"heat1d\"\nproblem = \"heat1d\"", "bench");
    add("number.toml", b"problem = 4", "data");
    add("huge.toml", b"problem = \"heat1d\"\n[physics]\nnodes = 99999999999999999999999999999", "train");
    for (i, file) in arrays().iter().enumerate() {
        let path = folder.path().join(format!("{i}.npy"));
        std::fs::write(&path, file).expect("written");
        cases.push([words("show heat1d --set physics.ticks=3 --start"), vec![path.into_os_string()]].concat());
    }
    let text = OsStr::from_bytes(b"\xff.toml").to_owned();
    cases.push(vec!["check".into(), text]);
    assert_all_end(&cases, true);
}
