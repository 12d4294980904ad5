//! The state needed to resume a run: parameters, optimiser, best parameters, position.
//!
//! Random numbers have addresses (seed, stream, index), so the number of updates is their only state.

use super::sealed::{self, Metadata, Sealed, Tensor};
use crate::train::{Best, Trainer};
use crate::{Config, Error, Real};
use safetensors::tensor::Dtype;
use std::path::Path;

const DTYPE: Dtype = if size_of::<Real>() == 8 { Dtype::F64 } else { Dtype::F32 };

pub struct Checkpoint {
    pub config: String,
    pub preset: String,
    pub seed: u64,
    pub curves: Curves,
    update: usize,
    adam_steps: u64,
    best: Option<(f64, usize)>,
    /// Parameters, first and second moment of Adam, running mean, best parameters.
    vectors: [Vec<Real>; 5],
}

/// Lengths of the curve files at a checkpoint.
#[derive(Clone, Debug, PartialEq)]
pub struct Curves {
    pub metrics_bytes: u64,
    /// Name of the event file.
    pub events: String,
    pub events_bytes: u64,
}

const VECTORS: [&str; 5] = ["theta", "adam.mean", "adam.square", "average", "best"];

impl Checkpoint {
    pub fn of(trainer: &Trainer, config: &Config, preset: &str, curves: Curves) -> Self {
        let theta = trainer.params.theta().to_vec();
        let best = trainer.best.as_ref();
        Self {
            config: config.to_toml(),
            preset: preset.to_owned(),
            seed: trainer.seed,
            curves,
            update: trainer.update,
            adam_steps: trainer.adam.steps,
            best: best.map(|b| (b.score, b.update)),
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
        let (facts, tensors) = self.content();
        sealed::write(path, facts, &tensors)
    }

    fn content(&self) -> (Metadata, Vec<Tensor>) {
        let (score, update) = self.best.unwrap_or((f64::INFINITY, 0));
        let facts = Metadata::from([
            ("version", env!("CARGO_PKG_VERSION").to_owned()),
            ("kind", "checkpoint".to_owned()),
            ("config", self.config.clone()),
            ("preset", self.preset.clone()),
            ("seed", self.seed.to_string()),
            ("update", self.update.to_string()),
            ("adam_steps", self.adam_steps.to_string()),
            // Bits, not digits: the comparison with the next score must come out the same.
            ("best_score_bits", score.to_bits().to_string()),
            ("best_update", update.to_string()),
            ("metrics_bytes", self.curves.metrics_bytes.to_string()),
            ("events", self.curves.events.clone()),
            ("events_bytes", self.curves.events_bytes.to_string()),
        ]);
        let tensors = VECTORS.iter().zip(&self.vectors).map(|(name, vector)| {
            let bytes = vector.iter().flat_map(|x| x.to_le_bytes()).collect();
            ((*name).to_owned(), DTYPE, vec![vector.len()], bytes)
        });
        (facts, tensors.collect())
    }

    /// Reads the content of a file.
    pub fn open(bytes: &[u8], path: &Path) -> Result<Self, Error> {
        Self::from_bytes(bytes, path).map_err(|error| match error {
            Error::Model { path, reason } => Error::Checkpoint { path, reason },
            other => other,
        })
    }

    fn from_bytes(bytes: &[u8], path: &Path) -> Result<Self, Error> {
        let file = Sealed::open(bytes, path)?;
        let kind = file.text("kind")?;
        if kind != "checkpoint" {
            return Err(file.bad(format!("it is a model ({kind})")));
        }
        let mut vectors = [const { Vec::new() }; 5];
        for (vector, name) in vectors.iter_mut().zip(VECTORS) {
            let (words, _) = file.tensor(name, DTYPE, None)?.as_chunks();
            *vector = words.iter().map(|&word| Real::from_le_bytes(word)).collect::<Vec<Real>>();
        }
        let count = vectors[0].len();
        if let Some((name, vector)) = VECTORS.iter().zip(&vectors).find(|(_, vector)| vector.len() != count) {
            return Err(file.bad(format!("{name} has {} numbers, theta {count}", vector.len())));
        }
        let best_update: usize = file.number("best_update")?;
        let score = f64::from_bits(file.number("best_score_bits")?);
        let (update, adam_steps): (usize, u64) = (file.number("update")?, file.number("adam_steps")?);
        if adam_steps != update as u64 || best_update > update {
            return Err(file.bad(format!("it counts {update} updates, {adam_steps} steps of Adam, the best after {best_update}")));
        }
        let curves = Curves {
            metrics_bytes: file.number("metrics_bytes")?,
            events: file.text("events")?.to_owned(),
            events_bytes: file.number("events_bytes")?,
        };
        Ok(Self {
            config: file.text("config")?.to_owned(),
            preset: file.text("preset")?.to_owned(),
            seed: file.number("seed")?,
            curves,
            update,
            adam_steps,
            best: (best_update > 0).then_some((score, best_update)),
            vectors,
        })
    }

    /// Returns the number of parameters.
    pub fn count(&self) -> usize {
        self.vectors[0].len()
    }

    /// Restores the state of a fresh trainer.
    pub fn restore(self, trainer: &mut Trainer, path: &Path) -> Result<(), Error> {
        let wanted = trainer.params.theta().len();
        if self.count() != wanted {
            let reason = format!("it has {} parameters, this policy {wanted}", self.count());
            return Err(Error::Checkpoint { path: path.to_owned(), reason });
        }
        let [theta, mean, square, average, best] = self.vectors;
        trainer.params.theta_mut().copy_from_slice(&theta);
        trainer.params.refresh();
        trainer.average.theta_mut().copy_from_slice(&average);
        (trainer.adam.mean, trainer.adam.square, trainer.adam.steps) = (mean, square, self.adam_steps);
        trainer.update = self.update;
        trainer.best = self.best.map(|(score, update)| Best { score, update, theta: best });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checkpoint(count: usize) -> Checkpoint {
        Checkpoint {
            config: "settings".into(),
            preset: "paper".into(),
            seed: u64::MAX,
            curves: Curves { metrics_bytes: 5, events: "events".into(), events_bytes: 6 },
            update: 3,
            adam_steps: 3,
            best: Some((0.1, 2)),
            vectors: std::array::from_fn(|i| vec![i as Real; count]),
        }
    }

    fn complaint(change: impl FnOnce(&mut Metadata, &mut Vec<Tensor>)) -> String {
        let (mut facts, mut tensors) = checkpoint(8).content();
        change(&mut facts, &mut tensors);
        Checkpoint::from_bytes(&sealed::seal(facts, &tensors), Path::new("x")).err().expect("refused").to_string()
    }

    #[test]
    fn what_is_read_is_what_was_written() {
        let (facts, tensors) = checkpoint(8).content();
        let read = Checkpoint::from_bytes(&sealed::seal(facts, &tensors), Path::new("x")).unwrap();
        assert_eq!((read.seed, read.update, read.adam_steps, read.best), (u64::MAX, 3, 3, Some((0.1, 2))));
        assert_eq!((read.count(), &read.curves, &*read.preset), (8, &checkpoint(8).curves, "paper"));
        assert_eq!(read.vectors, checkpoint(8).vectors);
    }

    #[test]
    fn all_vectors_have_one_length_and_our_precision() {
        for name in &VECTORS[1..] {
            let text = complaint(|_, tensors| {
                let tensor = tensors.iter_mut().find(|tensor| tensor.0 == *name).unwrap();
                tensor.2[0] -= 1;
                tensor.3.truncate(7 * size_of::<Real>());
            });
            assert!(text.contains(&format!("{name} has 7 numbers")), "{text}");
        }
        let other = if DTYPE == Dtype::F32 { Dtype::F64 } else { Dtype::F32 };
        let text = complaint(|_, tensors| (tensors[1].1, tensors[1].3) = (other, vec![0; 8 * other.bitsize() / 8]));
        assert!(text.contains(&format!("adam.mean is in {other:?}")), "{text}");
        for (key, value) in [("adam_steps", u64::MAX.to_string()), ("update", "1".into()), ("best_update", "4".into())] {
            let text = complaint(|facts, _| drop(facts.insert(key, value)));
            assert!(text.contains("steps of Adam"), "{text}");
        }
        let text = complaint(|facts, _| drop(facts.insert("kind", "best".into())));
        assert!(text.contains("it is a model"), "{text}");
    }
}
