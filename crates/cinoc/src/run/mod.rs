//! Runs on disk: models, checkpoints, metrics. The only module that touches files.

pub mod tensorboard;
