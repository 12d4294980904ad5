//! A trained policy as a file: safetensors with the resolved configuration inside.

use super::folder::MODEL;
use super::sealed::{self, Metadata, Sealed, Tensor};
use crate::disk::read;
use crate::policy::Policy;
use crate::settings::Overlay;
use crate::{Config, Error, Problem, Real, Registry};
use cinoc_tape::{Params, Shape};
use safetensors::tensor::Dtype;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// Origin of the parameters of a model within a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelKind {
    /// Parameters with the best validation score.
    Best,
    /// Parameters at the end.
    Last,
}

/// A trained policy and everything needed to use it.
///
/// ```
/// let model = cinoc::pretrained("heat1d")?;
/// let (problem, policy) = model.build(&cinoc::Registry::builtin())?;
/// assert_eq!((problem.agents, policy.shapes().is_empty()), (8, false));
/// # Ok::<(), cinoc::Error>(())
/// ```
pub struct Model {
    /// Settings of the training.
    pub config: Config,
    /// Origin of the parameters within the run.
    pub kind: ModelKind,
    /// Parameters of the policy.
    pub params: Params,
    /// Seed of the run.
    pub seed: u64,
    /// Number of updates after which the parameters were taken.
    pub update: usize,
    /// Mean validation score of these parameters.
    pub validation: Option<f64>,
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let mut shown = f.debug_struct("Model");
        shown.field("problem", &self.config.problem()).field("kind", &self.kind).field("parameters", &self.params.count());
        shown.field("seed", &self.seed).field("update", &self.update).field("validation", &self.validation).finish()
    }
}

impl Model {
    /// Writes the file.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let (facts, tensors) = self.content();
        sealed::write(path, facts, &tensors)
    }

    /// Returns the file as bytes.
    #[doc(hidden)]
    pub fn bytes(&self) -> Vec<u8> {
        let (facts, tensors) = self.content();
        sealed::seal(facts, &tensors)
    }

    /// Returns the metadata and tensors of the file. Parameters are written in single precision, whichever they were
    /// trained in.
    fn content(&self) -> (Metadata, Vec<Tensor>) {
        let kind = match self.kind {
            ModelKind::Best => "best",
            ModelKind::Last => "last",
        };
        let facts = Metadata::from([
            ("version", env!("CARGO_PKG_VERSION").to_owned()),
            ("kind", kind.to_owned()),
            ("problem", self.config.problem().to_owned()),
            ("config", self.config.to_toml()),
            ("seed", self.seed.to_string()),
            ("update", self.update.to_string()),
            ("validation", self.validation.map_or_else(String::new, |v| v.to_string())),
        ]);
        let tensors = self.params.iter().map(|(name, shape, values)| {
            let bytes = values.iter().flat_map(|&v| (v as f32).to_le_bytes()).collect();
            (name.to_owned(), Dtype::F32, shape.sizes().to_vec(), bytes)
        });
        (facts, tensors.collect())
    }

    /// Reads a model file, or the best model of a run folder.
    pub fn read(registry: &Registry, path: &Path) -> Result<Self, Error> {
        let file = if path.is_dir() { path.join(MODEL) } else { path.to_owned() };
        if path.join(super::folder::CHECKPOINT).exists() && !file.exists() {
            return Err(Error::NoModel { path: path.to_owned() });
        }
        Self::from_bytes(registry, &read(&file)?, &file)
    }

    /// Reads a model from memory; `place` names it in errors.
    #[doc(hidden)]
    pub fn from_bytes(registry: &Registry, bytes: &[u8], place: &Path) -> Result<Self, Error> {
        let file = Sealed::open(bytes, place)?;
        let kind = match file.text("kind")? {
            "best" => ModelKind::Best,
            "last" => ModelKind::Last,
            other => return Err(file.bad(format!("it is a {other}"))),
        };
        let config = registry.read(file.text("config")?, &place.display().to_string())?;
        let problem = registry.build(&config)?;
        let params = parameters(&registry.build_policy(&config, &problem)?.shapes(), &file)?;
        let validation = if file.text("validation")?.is_empty() { None } else { Some(file.number("validation")?) };
        Ok(Self { config, kind, params, seed: file.number("seed")?, update: file.number("update")?, validation })
    }

    /// Returns the policy with changed settings: another domain, other actuators, other instances.
    #[doc(hidden)]
    pub fn with(mut self, registry: &Registry, changes: &Overlay) -> Result<Self, Error> {
        self.config = registry.change(&self.config, changes)?;
        let (_, policy) = self.build(registry)?;
        self.check_shapes(&*policy)?;
        Ok(self)
    }

    /// Rejects a policy with parameters of other names or shapes.
    pub(crate) fn check_shapes(&self, policy: &dyn Policy) -> Result<(), Error> {
        let own: Vec<(String, Shape)> = self.params.iter().map(|(name, shape, _)| (name.to_owned(), shape)).collect();
        if policy.shapes() == own {
            return Ok(());
        }
        let expected = "left as trained: the parameters do not fit another network or view";
        Err(Error::bad("policy or observe", "changed", expected))
    }

    /// Builds the problem it was trained on and its policy.
    pub fn build(&self, registry: &Registry) -> Result<(Arc<Problem>, Box<dyn Policy>), Error> {
        let problem = registry.build(&self.config)?;
        let policy = registry.build_policy(&self.config, &problem)?;
        Ok((Arc::new(problem), policy))
    }
}

/// Reads every parameter from the tensor of its name and shape; the file must hold no others. Checked before memory is
/// allocated.
fn parameters(shapes: &[(String, Shape)], file: &Sealed) -> Result<Params, Error> {
    if let Some(extra) = file.tensors.names().into_iter().find(|name| shapes.iter().all(|(known, _)| known != name)) {
        return Err(file.bad(format!("this policy has no {extra}")));
    }
    let mut params = Params::default();
    for (name, shape) in shapes {
        let (words, _) = file.tensor(name, Dtype::F32, Some(shape.sizes()))?.as_chunks();
        let values: Vec<Real> = words.iter().map(|&word| f32::from_le_bytes(word) as Real).collect();
        if let Some(wrong) = values.iter().find(|value| !value.is_finite()) {
            return Err(file.bad(format!("it holds {wrong} in {name}")));
        }
        params.push(name, *shape, &values);
    }
    Ok(params)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Preset;
    use crate::random::{Rng, Stream};

    fn model() -> Model {
        let registry = Registry::builtin();
        let config = registry.config("heat1d", Preset::Paper, &Overlay::default()).unwrap();
        let params = registry.parts(&config).unwrap().policy.init(&mut Rng::new(3, Stream::Init, 0));
        Model { config, kind: ModelKind::Last, params, seed: u64::MAX - 1, update: 7, validation: Some(0.1) }
    }

    /// Returns the result of reading a file whose content was changed before it was sealed.
    fn answer(change: impl FnOnce(&mut Metadata, &mut Vec<Tensor>)) -> Result<Model, String> {
        let (mut facts, mut tensors) = model().content();
        change(&mut facts, &mut tensors);
        Model::from_bytes(&Registry::builtin(), &sealed::seal(facts, &tensors), Path::new("file")).map_err(|e| e.to_string())
    }

    fn complaint(change: impl FnOnce(&mut Metadata, &mut Vec<Tensor>)) -> String {
        answer(change).expect_err("it should be refused")
    }

    fn named<'a>(tensors: &'a mut [Tensor], name: &str) -> &'a mut Tensor {
        tensors.iter_mut().find(|tensor| tensor.0 == name).expect("a tensor")
    }

    #[test]
    fn what_is_read_is_what_was_written() {
        let (written, read) = (model(), answer(|_, _| {}).unwrap());
        assert_eq!((read.seed, read.update, read.validation, read.kind), (u64::MAX - 1, 7, Some(0.1), ModelKind::Last));
        assert!(read.config == written.config);
        let same = read.params.theta().iter().zip(written.params.theta()).all(|(a, b)| *a as f32 == *b as f32);
        assert!(same && read.params.theta().len() == written.params.theta().len());
    }

    #[test]
    fn tensors_of_another_kind_are_refused() {
        for dtype in [Dtype::I32, Dtype::F64, Dtype::BF16] {
            let text = complaint(|_, tensors| {
                let tensor = named(tensors, "branch0.w");
                let count: usize = tensor.2.iter().product();
                (tensor.1, tensor.3) = (dtype, vec![0; count * dtype.bitsize() / 8]);
            });
            assert!(text.contains(&format!("branch0.w is in {dtype:?}, not in F32")), "{text}");
        }
        for change in [|shape: &mut Vec<usize>| shape.reverse(), |shape: &mut Vec<usize>| *shape = vec![shape.iter().product()]] {
            let text = complaint(|_, tensors| change(&mut named(tensors, "branch0.w").2));
            assert!(text.contains("branch0.w has shape"), "{text}");
        }
        let text = complaint(|_, tensors| tensors.push(("more.w".into(), Dtype::F32, vec![1], vec![0; 4])));
        assert!(text.contains("no more.w"), "{text}");
        let text = complaint(|_, tensors| tensors.retain(|tensor| tensor.0 != "out.b"));
        assert!(text.contains("lacks out.b"), "{text}");
    }

    #[test]
    fn numbers_that_are_not_finite_are_refused() {
        for (value, word) in [(f32::NAN, "NaN"), (f32::INFINITY, "inf")] {
            let text = complaint(|_, tensors| named(tensors, "branch0.w").3[..4].copy_from_slice(&value.to_le_bytes()));
            assert!(text.contains(&format!("holds {word} in branch0.w")), "{text}");
        }
    }

    #[test]
    fn no_memory_is_taken_for_a_network_that_is_not_there() {
        let trunk = model().config.to_toml().lines().find(|line| line.starts_with("trunk")).unwrap().to_owned();
        for (wide, expected) in [
            ("[1000000, 1000000]", "policy.trunk cannot be"),
            ("[60000, 60000]", "would take"),
            ("[9000000000000000000, 9000000000000000000]", "policy.trunk cannot be"),
        ] {
            let text = complaint(|facts, _| {
                let config = facts.get_mut("config").unwrap();
                *config = config.replace(&trunk, &format!("trunk = {wide}"));
            });
            assert!(text.contains(expected), "{wide}: {text}");
        }
    }

    #[test]
    fn facts_must_make_sense() {
        for (key, value) in [("seed", "-1"), ("seed", "1e3"), ("update", "many"), ("validation", "good"), ("kind", "checkpoint")]
        {
            let text = complaint(|facts, _| drop(facts.insert(key, value.into())));
            assert!(text.contains(value), "{key}: {text}");
        }
    }
}
