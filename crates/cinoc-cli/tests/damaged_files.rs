//! Detection of damaged files, each with one sentence.

mod common;

use cinoc::Registry;
use cinoc::internal::threads::Threads;
use cinoc::run::{Model, Saved};
use common::{cinoc, finished, refused, resume};
use std::path::Path;

/// A file with one bit changed.
fn flipped(whole: &[u8], at: usize, bit: usize) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    bytes[at] ^= 1 << bit;
    bytes
}

#[test]
fn a_flipped_bit_of_a_model_is_noticed() {
    let ((_folder, run), registry) = (finished(), Registry::builtin());
    for name in ["model.safetensors", "last.safetensors"] {
        let whole = std::fs::read(run.join(name)).expect("a model");
        assert!(Model::from_bytes(&registry, &whole, Path::new("m")).is_ok());
        for at in (0..whole.len()).step_by(7) {
            assert!(Model::from_bytes(&registry, &flipped(&whole, at, at % 8), Path::new("m")).is_err(), "byte {at} of {name}");
        }
    }
    let path = run.join("model.safetensors");
    let whole = std::fs::read(&path).expect("a model");
    std::fs::write(&path, flipped(&whole, whole.len() - 9, 3)).expect("written");
    let text = refused(&mut cinoc(["eval", run.to_str().expect("a path")]));
    assert!(text.contains("model.safetensors is damaged") && text.contains("train again"), "{text}");
}

#[test]
fn a_flipped_bit_of_a_checkpoint_is_noticed() {
    let ((_folder, run), registry) = (finished(), Registry::builtin());
    let path = run.join("checkpoint.safetensors");
    let whole = std::fs::read(&path).expect("a checkpoint");
    assert!(Saved::open(&registry, &run, Threads::single()).is_ok());
    for at in (0..1500).step_by(11).chain((1500..whole.len()).step_by(997)) {
        std::fs::write(&path, flipped(&whole, at, at % 8)).expect("written");
        assert!(Saved::open(&registry, &run, Threads::single()).is_err(), "byte {at}");
    }
    let text = refused(&mut resume(&run, &[]));
    assert!(text.contains("checkpoint.safetensors is damaged"), "{text}");
    std::fs::write(&path, &whole[..whole.len() / 2]).expect("written");
    let text = refused(&mut resume(&run, &[]));
    assert!(text.contains("cannot be resumed"), "{text}");
}

/// A file as earlier versions wrote it: facts, but neither format nor checksum.
#[test]
fn files_without_a_checksum_are_refused_with_advice() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("old.safetensors");
    let header = br#"{"__metadata__":{"cinoc":"{\"config\":\"problem = 'heat1d'\",\"seed\":\"0\"}"}}"#;
    std::fs::write(&path, [&(header.len() as u64).to_le_bytes()[..], header].concat()).expect("written");
    let text = refused(&mut cinoc(["eval", path.to_str().expect("a path")]));
    assert!(text.contains("another version of cinoc") && text.contains("train again"), "{text}");
}

#[test]
fn every_model_that_comes_with_the_program_is_whole() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cinoc/models");
    let paths = std::fs::read_dir(folder).expect("models").map(|entry| entry.expect("an entry").path());
    let models: Vec<_> = paths.filter(|path| path.extension().is_some_and(|e| e == "safetensors")).collect();
    assert!(models.len() >= 8);
    for path in models {
        let model = Model::read(&Registry::builtin(), &path).unwrap_or_else(|error| panic!("{error}"));
        assert!(model.validation.is_some() && model.update > 0, "{}", path.display());
    }
}
