//! Models and checkpoints: safetensors with metadata and a checksum.

use super::{MEGABYTES, runs::Finished, settings::pair, tiny};
use crate::{Allowance, Answer, Target, mutate};
use arbitrary::{Result, Unstructured};
use cinoc::Registry;
use cinoc::internal::random::{Rng, Stream};
use cinoc::internal::threads::Threads;
use cinoc::run::{Model, ModelKind, Saved};
use serde_json::{Map, Value};
use std::path::Path;

/// Memory of a file: the problem that it describes, which is estimated beforehand (roughly: hence twice), and a few
/// copies of its content. Metadata is JSON within JSON.
const ALLOWANCE: Allowance = Allowance { fixed: (2 * MEGABYTES) << 20, per_byte: 512 };

/// Wrong values of metadata.
const LIES: [&str; 16] = [
    "",
    "0",
    "-1",
    "1",
    "1.5",
    "nan",
    "1e400",
    "18446744073709551615",
    "18446744073709551616",
    "best",
    "last",
    "checkpoint",
    "00000000",
    "events.out.tfevents.0000000000.cinoc",
    "../../etc/passwd",
    "\u{0}\n",
];

/// A file as its parts: header and numbers.
#[derive(Clone)]
struct Parts {
    header: Map<String, Value>,
    numbers: Vec<u8>,
}

impl Parts {
    fn of(bytes: &[u8]) -> Self {
        let (length, rest) = bytes.split_first_chunk().expect("a length");
        let (header, numbers) = rest.split_at(u64::from_le_bytes(*length) as usize);
        Self { header: serde_json::from_slice(header).expect("a header"), numbers: numbers.to_vec() }
    }

    fn facts(&self) -> Map<String, Value> {
        let text = self.header["__metadata__"]["cinoc"].as_str().unwrap_or_default();
        serde_json::from_str(text).unwrap_or_default()
    }

    fn set_facts(&mut self, facts: &Map<String, Value>) {
        self.header["__metadata__"]["cinoc"] = Value::String(serde_json::to_string(facts).expect("text"));
    }

    fn bytes(&self) -> Vec<u8> {
        let header = serde_json::to_vec(&self.header).expect("text");
        [&(header.len() as u64).to_le_bytes()[..], &header, &self.numbers].concat()
    }

    /// Falsifies one thing; the checksum is corrected afterwards.
    fn forge(&mut self, choice: &mut Unstructured, registry: &Registry, problem: &str) -> Result<()> {
        let tensors: Vec<String> = self.header.keys().filter(|key| *key != "__metadata__").cloned().collect();
        let mut facts = self.facts();
        let names: Vec<String> = facts.keys().cloned().collect();
        match choice.int_in_range(0..=8)? {
            0 if !names.is_empty() => drop(facts.remove(choice.choose(&names)?)),
            1 | 2 if !names.is_empty() => {
                let name = choice.choose(&names)?.clone();
                facts.insert(name, (*choice.choose(&LIES)?).into());
            }
            3 | 4 => {
                // Other settings: usually those of a larger network or another grid.
                let config = facts.get("config").and_then(Value::as_str).unwrap_or_default();
                let table = registry.settings(&tiny(problem)).expect("a table");
                let (key, value) = pair(choice, &table)?;
                let key = key.rsplit('.').next().unwrap_or_default();
                let line = |line: &str| match line.split_once(" = ") {
                    Some((name, _)) if name == key => format!("{key} = {value}"),
                    _ => line.to_owned(),
                };
                facts.insert("config".into(), config.lines().map(line).collect::<Vec<_>>().join("\n").into());
            }
            5 if !tensors.is_empty() => {
                let tensor = &mut self.header[choice.choose(&tensors)?];
                let part = *choice.choose(&["dtype", "shape", "data_offsets"])?;
                tensor[part] = match part {
                    "dtype" => (*choice.choose(&["F64", "I32", "BF16", "F8_E4M3", "BOOL", "F4", "?"])?).into(),
                    "shape" => choice
                        .choose(&[vec![], vec![0], vec![1; 20], vec![u64::MAX, u64::MAX], vec![3, 2], vec![1 << 40]])?
                        .clone()
                        .into(),
                    _ => choice
                        .choose(&[vec![0, 0], vec![0, u64::MAX], vec![u64::MAX, 0], vec![8, 4], vec![0, 1 << 40], vec![4]])?
                        .clone()
                        .into(),
                };
            }
            6 if !tensors.is_empty() => {
                let name = choice.choose(&tensors)?;
                let tensor = self.header.remove(name).unwrap_or_default();
                if choice.arbitrary()? {
                    self.header.insert("other".into(), tensor);
                }
            }
            7 => mutate::change(choice, &mut self.numbers, &[0xff; 64])?,
            _ => {
                let value = *choice.choose(&[f32::NAN, f32::INFINITY, f32::MAX, 1e-45, 0.0])?;
                self.numbers.chunks_exact_mut(4).for_each(|word| word.copy_from_slice(&value.to_le_bytes()));
            }
        }
        self.set_facts(&facts);
        Ok(())
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

/// Generates a damaged or forged file.
fn file(choice: &mut Unstructured, sound: &[Vec<u8>], registry: &Registry, problem: &str) -> Result<Vec<u8>> {
    let (whole, other) = (choice.choose(sound)?, choice.choose(sound)?);
    match choice.int_in_range(0..=5)? {
        0 => mutate::changed(choice, whole, other),
        1 => Ok(sealed(mutate::changed(choice, whole, other)?)),
        // The header as a text; its length fits, its content does not.
        2 => {
            let parts = Parts::of(whole);
            let header = mutate::changed(choice, &serde_json::to_vec(&parts.header).expect("text"), other)?;
            Ok(sealed([&(header.len() as u64).to_le_bytes()[..], &header, &parts.numbers].concat()))
        }
        _ => {
            let mut parts = Parts::of(whole);
            for _ in 0..choice.int_in_range(0..=2)? {
                parts.forge(choice, registry, problem)?;
            }
            Ok(sealed(parts.bytes()))
        }
    }
}

/// Models, of several problems and policies.
pub struct Models {
    registry: Registry,
    problems: Vec<&'static str>,
    sound: Vec<Vec<u8>>,
}

impl Models {
    pub fn new() -> Self {
        let registry = Registry::builtin();
        let problems: Vec<_> = registry.problems().collect();
        let model = |name: &&str| {
            let config = tiny(name);
            let params = registry.parts(&config).expect("a small problem").policy.init(&mut Rng::new(3, Stream::Init, 0));
            Model { config, kind: ModelKind::Best, params, seed: 1, update: 7, validation: Some(0.1) }.bytes()
        };
        let sound = problems.iter().map(model).collect();
        Self { registry, problems, sound }
    }
}

impl Target for Models {
    fn name(&self) -> &'static str {
        "models"
    }

    fn allowance(&self) -> Allowance {
        ALLOWANCE
    }

    fn input(&self, choice: &mut Unstructured) -> Result<Vec<u8>> {
        let problem = *choice.choose(&self.problems)?;
        file(choice, &self.sound, &self.registry, problem)
    }

    fn read(&self, input: &[u8]) -> Result<Answer, String> {
        let read = Model::from_bytes(&self.registry, input, Path::new("model.safetensors"));
        if let Ok(model) = &read {
            let again = Model::from_bytes(&self.registry, &model.bytes(), Path::new("again"))
                .map_err(|error| format!("not read again: {error}"))?;
            if again.config != model.config || again.params.theta() != model.params.theta() {
                return Err("another model when read again".into());
            }
        }
        Ok(Answer::of(read))
    }
}

/// Checkpoints in the folder of a run.
pub struct Checkpoints {
    registry: Registry,
    run: Finished,
    sound: Vec<Vec<u8>>,
}

impl Checkpoints {
    pub fn new() -> Self {
        let run = Finished::new();
        let sound = vec![run.sound("checkpoint.safetensors").to_vec()];
        Self { registry: Registry::builtin(), run, sound }
    }

    /// Resumes from a checkpoint; performs an update if it belongs to the original run.
    fn resume(&self) -> std::result::Result<(), cinoc::Error> {
        let saved = Saved::open(&self.registry, &self.run.path(), Threads::single())?;
        let config = saved.origin.config.clone();
        let known = config == self.run.config;
        let mut run = saved.resume(&self.registry, config)?;
        if known && !run.trainer.finished() {
            run.step()?;
        }
        Ok(())
    }
}

impl Target for Checkpoints {
    fn name(&self) -> &'static str {
        "checkpoints"
    }

    fn allowance(&self) -> Allowance {
        ALLOWANCE
    }

    fn input(&self, choice: &mut Unstructured) -> Result<Vec<u8>> {
        file(choice, &self.sound, &self.registry, "heat1d")
    }

    fn read(&self, input: &[u8]) -> Result<Answer, String> {
        self.run.put("checkpoint.safetensors", input);
        let done = self.resume();
        self.run.restore();
        Ok(Answer::of(done))
    }
}
