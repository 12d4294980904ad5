//! Models and checkpoints that are damaged, forged, or something else.

use crate::configs::{self, BUILD, Counts, sentence};
use crate::dice::Dice;
use crate::watch::{Watch, cases};
use cinoc::internal::threads::Threads;
use cinoc::problem::Preset;
use cinoc::run::{Model, Origin, Run, Saved};
use cinoc::settings::Overlay;
use cinoc::{Config, Registry};
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// Content of a sealed file: its metadata, and name, type, shape and bytes of its tensors.
#[derive(Clone)]
struct Content {
    facts: BTreeMap<String, String>,
    tensors: Vec<(String, Dtype, Vec<usize>, Vec<u8>)>,
}

impl Content {
    fn of(bytes: &[u8]) -> Self {
        let (_, header) = SafeTensors::read_metadata(bytes).expect("a sound header");
        let facts = &header.metadata().as_ref().expect("facts")["cinoc"];
        let tensors = SafeTensors::deserialize(bytes).expect("sound tensors");
        let each = tensors.iter().map(|(name, t)| (name.to_owned(), t.dtype(), t.shape().to_vec(), t.data().to_vec()));
        Self { facts: serde_json::from_str(facts).expect("facts"), tensors: each.collect() }
    }

    /// Returns a file with a valid checksum; none where the tensors contradict themselves.
    fn seal(&self) -> Option<Vec<u8>> {
        let mut facts = self.facts.clone();
        facts.entry("checksum".into()).and_modify(|sum| *sum = "00000000".into());
        let metadata = HashMap::from([("cinoc".to_owned(), serde_json::to_string(&facts).ok()?)]);
        let views: Vec<_> = self
            .tensors
            .iter()
            .map(|(name, t, shape, bytes)| Some((name.as_str(), TensorView::new(*t, shape.clone(), bytes).ok()?)))
            .collect::<Option<_>>()?;
        Some(sealed(safetensors::serialize(views, Some(metadata)).ok()?))
    }
}

/// Returns the bytes with a valid checksum, if there is room for one.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let before = br#"\"checksum\":\""#;
    if let Some(at) = bytes.windows(before.len()).position(|window| window == before).map(|at| at + before.len())
        && at + 8 <= bytes.len()
    {
        bytes[at..at + 8].copy_from_slice(b"00000000");
        let sum = format!("{:08x}", crc32fast::hash(&bytes));
        bytes[at..at + 8].copy_from_slice(sum.as_bytes());
    }
    bytes
}

/// A finished run of two updates on a tiny problem; its folder is removed at the end.
struct Finished(PathBuf);

impl Finished {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("cinoc-faults-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        let mut run = Run::start(
            &Registry::builtin(),
            &folder,
            Origin { config: tiny(), preset: "paper".into(), seed: 1 },
            Threads::single(),
        )
        .expect("a run");
        (0..2).for_each(|_| drop(run.step().expect("an update")));
        Self(folder)
    }

    fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.0.join(name)).expect("a file of the run")
    }
}

impl Drop for Finished {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn tiny() -> Config {
    let small = [
        "physics.ticks=3",
        "physics.nodes=12",
        "swarm.agents=2",
        "observe.points=3",
        "policy.branch=[3]",
        "policy.trunk=[2]",
        "policy.head=2",
        "train.batch=2",
        "train.validate_instances=1",
        "train.validate_every=1",
        "train.updates=3",
        "train.checkpoint_every=1",
    ];
    Registry::builtin().config("heat1d", Preset::Paper, &Overlay::from_pairs(small).expect("changes")).expect("settings")
}

/// Changes bytes without correcting the checksum.
fn damaged(dice: &mut Dice, whole: &[u8]) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    let at = dice.below(bytes.len());
    match dice.below(8) {
        0 => bytes.truncate(at),
        1 => bytes[at] ^= 1 << dice.below(8),
        2 => bytes[..8].copy_from_slice(&dice.next().to_le_bytes()),
        3 => bytes[..8].copy_from_slice(&(dice.below(2 * whole.len()) as u64).to_le_bytes()),
        4 => (0..dice.below(64)).for_each(|_| bytes.insert(at, dice.next() as u8)),
        5 => drop(bytes.drain(at..(at + dice.below(64)).min(whole.len()))),
        6 => bytes = (0..dice.below(4096)).map(|_| dice.next() as u8).collect(),
        _ => bytes[at..].iter_mut().for_each(|byte| *byte = 0),
    }
    bytes
}

/// Wrong values of metadata.
const LIES: [&str; 16] = [
    "",
    "0",
    "-1",
    "1",
    "1.5",
    "nan",
    "inf",
    "1e400",
    "18446744073709551615",
    "18446744073709551616",
    "9223372036854775808",
    "word",
    "best",
    "checkpoint",
    "events.out.tfevents.0000000000.cinoc",
    "../../etc/passwd",
];

/// Changes the content under a valid checksum.
fn forged(dice: &mut Dice, content: &Content) -> Vec<u8> {
    let mut forged = content.clone();
    for _ in 0..1 + dice.below(2) {
        match dice.below(6) {
            0 => {
                let key = dice.choose(&forged.facts.keys().cloned().collect::<Vec<_>>());
                forged.facts.remove(&key);
            }
            1 => {
                let key = dice.choose(&forged.facts.keys().filter(|key| *key != "config").cloned().collect::<Vec<_>>());
                forged.facts.insert(key, dice.choose(&LIES).into());
            }
            2 => {
                let config = forged.facts.get("config").cloned().unwrap_or_default();
                let mut lines: Vec<String> = config.lines().map(str::to_owned).collect();
                if !lines.is_empty() {
                    let at = dice.below(lines.len());
                    let key = lines[at].split(" =").next().unwrap_or_default().to_owned();
                    lines[at] = format!(
                        "{key} = {}",
                        dice.choose(&["1", "2", "0.5", "65536", "1000000", "[7]", "[1, 1]", "true", "1e9", "\"ks1d\"", "nan"])
                    );
                }
                forged.facts.insert("config".into(), lines.join("\n"));
            }
            3 => {
                let at = dice.below(forged.tensors.len());
                let tensor = &mut forged.tensors[at];
                match dice.below(5) {
                    0 => tensor.1 = dice.choose(&[Dtype::I32, Dtype::U32]),
                    1 => (tensor.1, tensor.2) = (Dtype::BF16, vec![tensor.3.len() / 2]),
                    2 if tensor.3.len().is_multiple_of(8) => (tensor.1, tensor.2) = (Dtype::F64, vec![tensor.3.len() / 8]),
                    3 => tensor.2.reverse(),
                    _ => tensor.2 = vec![tensor.2.iter().product()],
                }
            }
            4 => {
                let at = dice.below(forged.tensors.len());
                let tensor = &mut forged.tensors[at];
                let value = dice.choose(&[f32::NAN, f32::INFINITY, f32::MAX, -f32::MAX, 1e-45, 0.0]);
                tensor.3.chunks_exact_mut(4).for_each(|word| word.copy_from_slice(&value.to_le_bytes()));
            }
            _ => {
                let at = dice.below(forged.tensors.len());
                match dice.below(4) {
                    0 => drop(forged.tensors.remove(at)),
                    1 => forged.tensors[at].0 = "other".into(),
                    2 => {
                        let tensor = &mut forged.tensors[at];
                        tensor.3.truncate(tensor.3.len() / 8 * 4);
                        tensor.2 = vec![tensor.3.len() / 4];
                    }
                    _ => forged.tensors[at].2.push(1),
                }
            }
        }
        if forged.tensors.is_empty() {
            break;
        }
    }
    forged.seal().unwrap_or_default()
}

/// Changes the header as text under a valid checksum.
fn lying(dice: &mut Dice, whole: &[u8]) -> Vec<u8> {
    let length = u64::from_le_bytes(whole[..8].try_into().expect("eight bytes")) as usize;
    let header = String::from_utf8(whole[8..8 + length].to_vec()).expect("a header is text");
    let lies = [
        ("\"dtype\":\"F32\"", "\"dtype\":\"I32\""),
        ("\"dtype\":\"F32\"", "\"dtype\":\"F64\""),
        ("\"dtype\":\"F32\"", "\"dtype\":\"BF16\""),
        ("\"data_offsets\":[0,", "\"data_offsets\":[4,"),
        ("\"data_offsets\":[0,", "\"data_offsets\":[18446744073709551615,"),
        ("\"shape\":[", "\"shape\":[18446744073709551615,18446744073709551615,"),
        ("\"shape\":[", "\"shape\":[0,"),
        ("\"shape\":[", "\"shape\":[1,1,1,1,1,1,1,1,1,"),
        ("\"cinoc\":", "\"other\":"),
        ("__metadata__", "__metadatb__"),
        ("{", "[{"),
        ("\\\"format\\\":\\\"1\\\"", "\\\"format\\\":\\\"2\\\""),
    ];
    let (from, to) = dice.choose(&lies);
    let header = header.replacen(from, to, 1 + dice.below(3));
    sealed([&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &whole[8 + length..]].concat())
}

/// Returns a mutation of some kind.
fn mutated(case: u64, whole: &[u8], content: &Content) -> Vec<u8> {
    let dice = &mut Dice::new(case);
    match case % 4 {
        0 => damaged(dice, whole),
        1 => lying(dice, whole),
        _ => forged(dice, content),
    }
}

#[test]
fn models() {
    let (registry, run) = (Registry::builtin(), Finished::new("models"));
    let whole = run.read("model.safetensors");
    let content = Content::of(&whole);
    assert_eq!(content.seal().as_deref(), Some(&whole[..]), "what is sealed here is what the program writes");
    let mut watch = Watch::new("models");
    for case in 0..cases(500) {
        let bytes = mutated(case, &whole, &content);
        watch.case(&format!("model {case}"), BUILD, || match Model::from_bytes(&registry, &bytes, Path::new("m")) {
            Ok(model) => configs::try_out(&registry, &model.config, &Counts::default()),
            Err(error) => sentence(&error),
        });
    }
    // A large network in a small file.
    let mut large = content.clone();
    let config = large.facts["config"].replace("trunk = [2]", "trunk = [1000000, 1000000]");
    large.facts.insert("config".into(), config);
    let mut many = content.clone();
    many.facts.insert("config".into(), content.facts["config"].replace("trunk = [2]", "trunk = [65536, 65536]"));
    for (name, content) in [("a trunk of a million", large), ("a trunk of many", many)] {
        let bytes = content.seal().expect("consistent");
        watch.case(name, BUILD, || match Model::from_bytes(&registry, &bytes, Path::new("m")) {
            Ok(_) => Err("accepted".into()),
            Err(error) => sentence(&error),
        });
    }
    watch.end(502);
}

#[test]
fn checkpoints() {
    let (registry, run) = (Registry::builtin(), Finished::new("checkpoints"));
    let whole = run.read("checkpoint.safetensors");
    let content = Content::of(&whole);
    assert_eq!(content.seal().as_deref(), Some(&whole[..]), "what is sealed here is what the program writes");
    let path = run.0.join("checkpoint.safetensors");
    let resumed = |bytes: &[u8]| -> Result<(), String> {
        std::fs::write(&path, bytes).map_err(|error| error.to_string())?;
        let saved = match Saved::open(&registry, &run.0, Threads::single()) {
            Ok(saved) => saved,
            Err(error) => return sentence(&error),
        };
        let config = saved.origin.config.clone();
        if registry.parts(&config).is_ok_and(|parts| !configs::is_cheap(&config, &parts)) {
            return Ok(());
        }
        match saved
            .resume(&registry, config)
            .and_then(|mut run| if run.trainer.finished() { run.close() } else { run.step().map(drop) })
        {
            Ok(()) => Ok(()),
            Err(error) => sentence(&error),
        }
    };
    let mut watch = Watch::new("checkpoints");
    for case in 0..cases(400) {
        let bytes = mutated(case, &whole, &content);
        watch.case(&format!("checkpoint {case}"), BUILD, || resumed(&bytes));
    }
    for name in ["adam.mean", "adam.square", "average", "best", "theta"] {
        let mut short = content.clone();
        let tensor = short.tensors.iter_mut().find(|tensor| tensor.0 == name).expect("a vector");
        tensor.2[0] -= 1;
        tensor.3.truncate(tensor.2[0] * size_of::<cinoc::Real>());
        let bytes = short.seal().expect("consistent");
        watch.case(&format!("short {name}"), BUILD, || resumed(&bytes));
    }
    for (key, value) in [
        ("adam_steps", u64::MAX),
        ("update", u64::MAX),
        ("update", 0),
        ("best_update", u64::MAX),
        ("metrics_bytes", u64::MAX),
        ("events_bytes", u64::MAX),
    ] {
        let mut lie = content.clone();
        lie.facts.insert(key.into(), value.to_string());
        let bytes = lie.seal().expect("consistent");
        watch.case(&format!("{key} = {value}"), BUILD, || resumed(&bytes));
    }
    watch.end(411);
}
