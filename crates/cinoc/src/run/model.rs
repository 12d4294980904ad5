//! A trained policy in a file: safetensors with the resolved configuration inside.

use super::{facts_of, facts_to_metadata, write_whole};
use crate::config::{Overlay, overlay};
use crate::policy::Policy;
use crate::random::{Rng, Stream};
use crate::{Config, Error, Problem, Real};
use cinoc_tape::Params;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use std::collections::BTreeMap;
use std::path::Path;

/// A trained policy and everything needed to use it.
pub struct Model {
    /// How it was trained.
    pub config: Config,
    /// Its parameters.
    pub params: Params,
    /// Seed of the run.
    pub seed: u64,
    /// Updates after which these parameters were taken.
    pub update: usize,
    /// Mean score on the validation instances then.
    pub validation: Option<f64>,
}

impl Model {
    /// Writes the file.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let facts = BTreeMap::from([
            ("version", env!("CARGO_PKG_VERSION").to_owned()),
            ("problem", self.config.problem.clone()),
            ("config", self.config.to_toml()),
            ("seed", self.seed.to_string()),
            ("update", self.update.to_string()),
            ("validation", self.validation.map_or_else(String::new, |v| v.to_string())),
        ]);
        let tensors: Vec<(String, Vec<usize>, Vec<u8>)> = self
            .params
            .iter()
            .map(|(name, shape, values)| {
                let bytes = values.iter().flat_map(|&v| (v as f32).to_le_bytes()).collect();
                (name.to_owned(), shape.sizes().to_vec(), bytes)
            })
            .collect();
        let views = tensors.iter().map(|(name, shape, bytes)| {
            (name.as_str(), TensorView::new(Dtype::F32, shape.clone(), bytes).expect("sizes are consistent"))
        });
        let bytes = safetensors::serialize(views, Some(facts_to_metadata(&facts))).expect("plain tensors can be written");
        write_whole(path, &bytes)
    }

    /// Reads a file, or the model of a run folder.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let path = if path.is_dir() { path.join("model.safetensors") } else { path.to_owned() };
        let bytes = std::fs::read(&path).map_err(Error::file(&path))?;
        Self::from_bytes(&bytes, &path)
    }

    /// Reads a model from memory; `place` names it in errors.
    pub fn from_bytes(bytes: &[u8], place: &Path) -> Result<Self, Error> {
        let bad = |reason: String| Error::Model { path: place.to_owned(), reason };
        let facts = facts_of(bytes, place)?;
        let text = facts.get("config").ok_or_else(|| bad("it has no configuration inside".into()))?;
        let config = Config::from_toml(text, &place.display().to_string())?;
        let policy = Problem::new(config.clone())?.policy()?;
        let mut params = policy.init(&mut Rng::new(0, Stream::Init, 0));
        let tensors = SafeTensors::deserialize(bytes).map_err(|e| bad(e.to_string()))?;
        let names: Vec<String> = params.iter().map(|(name, ..)| name.to_owned()).collect();
        for name in names {
            let tensor = tensors.tensor(&name).map_err(|_| bad(format!("it lacks {name}")))?;
            let (words, _) = tensor.data().as_chunks::<4>();
            let values: Vec<Real> = words.iter().map(|&w| f32::from_le_bytes(w) as Real).collect();
            if !params.set(&name, &values) {
                return Err(bad(format!("{name} has the wrong size")));
            }
        }
        let number = |key: &str| facts.get(key).and_then(|v| v.parse().ok());
        Ok(Self {
            config,
            params,
            seed: number("seed").unwrap_or(0.0) as u64,
            update: number("update").unwrap_or(0.0) as usize,
            validation: number("validation"),
        })
    }

    /// The same policy under other settings: another domain, other actuators, other instances.
    pub fn with(mut self, changes: &Overlay) -> Result<Self, Error> {
        self.config = overlay(&self.config, changes)?;
        let fresh = self.build()?.1.init(&mut Rng::new(0, Stream::Init, 0));
        if fresh.iter().map(|(name, shape, _)| (name, shape)).ne(self.params.iter().map(|(name, shape, _)| (name, shape))) {
            let expected = "left as trained: the parameters do not fit another network or view";
            return Err(Error::BadValue {
                key: "--set policy or observe".into(),
                value: "changed".into(),
                expected: expected.into(),
            });
        }
        Ok(self)
    }

    /// The problem it was trained on and its policy.
    pub fn build(&self) -> Result<(Problem, Box<dyn Policy>), Error> {
        let problem = Problem::new(self.config.clone())?;
        let policy = problem.policy()?;
        Ok((problem, policy))
    }
}
