//! Everything a run needs to go on: parameters, optimiser, best parameters, position.
//!
//! Random numbers have addresses (seed, stream, index), so the number of updates is all the state they have.

use super::{facts_of, facts_to_metadata, write_whole};
use crate::train::{Best, Trainer};
use crate::{Error, Real};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use std::collections::BTreeMap;
use std::path::Path;

pub const FILE: &str = "checkpoint.safetensors";

const DTYPE: Dtype = if cfg!(feature = "f64") { Dtype::F64 } else { Dtype::F32 };

pub struct Checkpoint {
    pub config: String,
    pub seed: u64,
    pub update: usize,
    pub adam_steps: u64,
    pub best: Option<(f64, usize)>,
    pub metrics_bytes: u64,
    pub events_bytes: u64,
    /// Parameters, the optimiser's two means, the running mean, the best parameters.
    vectors: [Vec<Real>; 5],
}

const VECTORS: [&str; 5] = ["theta", "adam.mean", "adam.square", "average", "best"];

impl Checkpoint {
    pub fn of(trainer: &Trainer, metrics_bytes: u64, events_bytes: u64) -> Self {
        let theta = trainer.params.theta().to_vec();
        let best = trainer.best.as_ref();
        Self {
            config: trainer.problem.config.to_toml(),
            seed: trainer.seed,
            update: trainer.update,
            adam_steps: trainer.adam.steps,
            best: best.map(|b| (b.score, b.update)),
            metrics_bytes,
            events_bytes,
            vectors: [
                theta.clone(),
                trainer.adam.mean.clone(),
                trainer.adam.square.clone(),
                trainer.average.theta().to_vec(),
                best.map_or(theta, |b| b.theta.clone()),
            ],
        }
    }

    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let (score, update) = self.best.unwrap_or((f64::INFINITY, 0));
        let facts = BTreeMap::from([
            ("config", self.config.clone()),
            ("seed", self.seed.to_string()),
            ("update", self.update.to_string()),
            ("adam_steps", self.adam_steps.to_string()),
            // Bits, not digits: the comparison with the next score must come out the same.
            ("best_score_bits", score.to_bits().to_string()),
            ("best_update", update.to_string()),
            ("metrics_bytes", self.metrics_bytes.to_string()),
            ("events_bytes", self.events_bytes.to_string()),
        ]);
        let bytes: Vec<Vec<u8>> = self.vectors.iter().map(|v| v.iter().flat_map(|x| x.to_le_bytes()).collect()).collect();
        let views = VECTORS.iter().zip(&self.vectors).zip(&bytes).map(|((name, vector), bytes)| {
            (*name, TensorView::new(DTYPE, vec![vector.len()], bytes).expect("sizes are consistent"))
        });
        write_whole(path, &safetensors::serialize(views, Some(facts_to_metadata(&facts))).expect("plain tensors can be written"))
    }

    pub fn read(path: &Path) -> Result<Self, Error> {
        let bad = |reason: String| Error::Model { path: path.to_owned(), reason };
        let bytes = std::fs::read(path).map_err(Error::file(path))?;
        let facts = facts_of(&bytes, path)?;
        let text = |key: &str| facts.get(key).cloned().ok_or_else(|| bad(format!("it lacks {key}")));
        let number = |key: &str| text(key)?.parse::<u64>().map_err(|e| bad(format!("{key}: {e}")));
        let tensors = SafeTensors::deserialize(&bytes).map_err(|e| bad(e.to_string()))?;
        let vector = |name: &str| -> Result<Vec<Real>, Error> {
            let tensor = tensors.tensor(name).map_err(|_| bad(format!("it lacks {name}")))?;
            if tensor.dtype() != DTYPE {
                return Err(bad(format!("it was written in {:?}, this program computes in {DTYPE:?}", tensor.dtype())));
            }
            let (words, _) = tensor.data().as_chunks::<{ size_of::<Real>() }>();
            Ok(words.iter().map(|&w| Real::from_le_bytes(w)).collect())
        };
        let best_update = number("best_update")? as usize;
        Ok(Self {
            config: text("config")?,
            seed: number("seed")?,
            update: number("update")? as usize,
            adam_steps: number("adam_steps")?,
            best: (best_update > 0).then_some((f64::from_bits(number("best_score_bits")?), best_update)),
            metrics_bytes: number("metrics_bytes")?,
            events_bytes: number("events_bytes")?,
            vectors: [vector(VECTORS[0])?, vector(VECTORS[1])?, vector(VECTORS[2])?, vector(VECTORS[3])?, vector(VECTORS[4])?],
        })
    }

    /// Puts a fresh trainer where this one was.
    pub fn restore(self, trainer: &mut Trainer, path: &Path) -> Result<(), Error> {
        let [theta, mean, square, average, best] = self.vectors;
        if theta.len() != trainer.params.theta().len() {
            let reason = format!("it has {} parameters, this policy {}", theta.len(), trainer.params.theta().len());
            return Err(Error::Model { path: path.to_owned(), reason });
        }
        trainer.params.theta_mut().copy_from_slice(&theta);
        trainer.params.refresh();
        trainer.average.theta_mut().copy_from_slice(&average);
        (trainer.adam.mean, trainer.adam.square, trainer.adam.steps) = (mean, square, self.adam_steps);
        trainer.update = self.update;
        trainer.best = self.best.map(|(score, update)| Best { score, update, theta: best });
        Ok(())
    }
}
