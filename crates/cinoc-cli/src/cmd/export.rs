//! `cinoc export`

use super::{data, whole};
use crate::out::{has_folder, say};
use crate::{arrays, library};
use anyhow::{Result, bail};
use cinoc::export::{Program, c, onnx, trial};
use cinoc::internal::disk::write_whole;
use cinoc::internal::random::Split;
use cinoc::internal::ranks::SingleRank;
use cinoc::internal::shown;
use cinoc::settings::Overlay;
use cinoc::{Real, Registry};
use std::path::PathBuf;

/// Arguments of `cinoc export`.
#[derive(clap::Args)]
pub struct ExportArgs {
    /// Name of a shipped model (for example heat1d), a model file, or a run folder.
    #[arg(value_name = "MODEL|RUN")]
    model: PathBuf,
    /// File to write: .c for a C99 file without dependencies, .onnx for an ONNX model. Default: PROBLEM.c.
    #[arg(short, long = "out", value_name = "FILE")]
    out: Option<PathBuf>,
    /// ONNX: compute in single precision throughout, for runtimes without double precision; the C file explains how to compile it so.
    #[arg(long)]
    single: bool,
    /// Also write test vectors as arrays for NumPy: readings and actions of agents in episodes, and with random readings.
    #[arg(long, value_name = "FILE.npz")]
    vectors: Option<PathBuf>,
    /// Number of decisions in the test vectors.
    #[arg(long, default_value_t = 10_000, requires = "vectors", value_parser = whole::<usize>)]
    decisions: usize,
    /// Seed of the instances and of the random readings.
    #[arg(long, default_value_t = 0, requires = "vectors", value_parser = whole::<u64>)]
    seed: u64,
    /// Change a setting of the problem, for example --set swarm.u_limit=20. May be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl ExportArgs {
    /// Runs the command.
    pub fn run(self, registry: &Registry) -> Result<()> {
        let model = library::find(registry, &self.model)?.with(registry, &Overlay::from_pairs(&self.set)?)?;
        let (problem, policy) = model.build(registry)?;
        let out = self.out.unwrap_or_else(|| PathBuf::from(format!("{}.c", problem.name)));
        let name = self.model.to_string_lossy();
        has_folder(&out)?;
        if !(1..=10_000_000).contains(&self.decisions) {
            bail!("--decisions cannot be {}; it must be from 1 to 10000000", self.decisions);
        }
        let bytes = match out.extension().and_then(|ending| ending.to_str()) {
            Some("c") => c::source(registry, &model, &name)?.into_bytes(),
            Some("onnx") => {
                let arithmetic = if self.single { onnx::Arithmetic::Single } else { onnx::Arithmetic::Double };
                onnx::model(registry, &model, &name, arithmetic)?
            }
            _ => bail!("{} cannot be written: its name must end in .c or .onnx", shown(&out)),
        };
        write_whole(&out, &bytes)?;
        let program = Program::record(&problem, &*policy, &model.params, true)?;
        if let Some(path) = &self.vectors {
            data::prepare(&problem, &[Split::Test], self.seed, &SingleRank)?;
            let found = trial(&problem, &*policy, &model.params, self.decisions, self.seed)?;
            arrays::vectors(path, &found, &problem.swarm.limits())?;
        }
        let (readings, memory, actions) = (program.readings(), program.memory(), program.width());
        let (parameters, flops) = (model.params.count(), policy.flops(1));
        if self.json {
            let facts = serde_json::json!({"model": name, "file": out.to_string_lossy(), "bytes": bytes.len(), "readings": readings, "memory": memory,
                "actions": actions, "parameters": parameters, "operations": flops, "tick_time": problem.stepper.dt()});
            return say!("{facts}");
        }
        let kilobytes = (parameters * size_of::<Real>()).div_ceil(1000);
        say!("Wrote {}: {readings} readings and {memory} numbers of memory to {actions} of action,", shown(&out))?;
        say!(
            "{parameters} parameters ({kilobytes} kB), {flops} operations per decision, one every {} units of time",
            problem.stepper.dt()
        )?;
        if let Some(path) = &self.vectors {
            say!("Wrote {}: {} decisions to compare with", shown(path), self.decisions)?;
        }
        Ok(())
    }
}
