//! `cinoc export`

use super::data;
use crate::out::say;
use crate::{arrays, library};
use anyhow::{Result, bail};
use cinoc::disk::write_whole;
use cinoc::export::{Program, c, onnx, trial};
use cinoc::random::Use;
use cinoc::ranks::Alone;
use cinoc::settings::Overlay;
use cinoc::{Real, Registry};
use std::path::PathBuf;

/// Arguments of `cinoc export`.
#[derive(clap::Args)]
pub struct Args {
    /// The name of a model that comes with the program (for example heat1d), a model file, or a run folder.
    #[arg(value_name = "MODEL|RUN")]
    model: String,
    /// File to write: .c for a C99 file without dependencies, .onnx for an ONNX model. Default: PROBLEM.c.
    #[arg(short, long = "out", value_name = "FILE")]
    out: Option<PathBuf>,
    /// ONNX: compute in single precision throughout, for runtimes that have no other; a C file says by itself how it is compiled for that.
    #[arg(long)]
    single: bool,
    /// Also write what agents measured and did in episodes and with readings at random, as arrays for NumPy, to test the controller with
    /// where it is used.
    #[arg(long, value_name = "FILE.npz")]
    vectors: Option<PathBuf>,
    /// So many decisions of agents.
    #[arg(long, default_value_t = 10_000, requires = "vectors")]
    decisions: usize,
    /// Seed of the instances and of the readings at random.
    #[arg(long, default_value_t = 0, requires = "vectors")]
    seed: u64,
    /// Change a setting of the problem, for example --set swarm.u_limit=20. May be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Runs the command.
    pub fn run(self, registry: &Registry) -> Result<()> {
        let model = library::find(registry, &self.model)?.with(registry, &Overlay::from_pairs(&self.set)?)?;
        let (problem, policy) = model.build(registry)?;
        let out = self.out.unwrap_or_else(|| PathBuf::from(format!("{}.c", problem.name)));
        if !(1..=10_000_000).contains(&self.decisions) {
            bail!("--decisions cannot be {}; it must be from 1 to 10000000", self.decisions);
        }
        let bytes = match out.extension().and_then(|ending| ending.to_str()) {
            Some("c") => c::source(registry, &model, &self.model)?.into_bytes(),
            Some("onnx") => {
                let arithmetic = if self.single { onnx::Arithmetic::Single } else { onnx::Arithmetic::Double };
                onnx::model(registry, &model, &self.model, arithmetic)?
            }
            _ => bail!("{} cannot be written: its name must end in .c or .onnx", out.display()),
        };
        write_whole(&out, &bytes)?;
        let program = Program::record(&problem, &*policy, &model.params, true)?;
        if let Some(path) = &self.vectors {
            data::prepare(&problem, &[Use::Test], self.seed, &Alone)?;
            let found = trial(&problem, &*policy, &model.params, self.decisions, self.seed)?;
            arrays::vectors(path, &found, &problem.swarm.limits())?;
        }
        let (readings, memory, actions) = (program.readings(), program.memory(), program.width());
        let (parameters, flops) = (model.params.count(), policy.flops(1));
        if self.json {
            let facts = serde_json::json!({"model": self.model, "file": out, "bytes": bytes.len(), "readings": readings, "memory": memory,
                "actions": actions, "parameters": parameters, "operations": flops, "tick_time": problem.stepper.dt()});
            return say!("{facts}");
        }
        let kilobytes = (parameters * size_of::<Real>()).div_ceil(1000);
        say!("Wrote {}: {readings} readings and {memory} numbers in memory to {actions} of action,", out.display())?;
        say!(
            "{parameters} parameters ({kilobytes} kB), {flops} operations per decision, one every {} units of time",
            problem.stepper.dt()
        )?;
        if let Some(path) = &self.vectors {
            say!("Wrote {}: {} decisions to compare with", path.display(), self.decisions)?;
        }
        Ok(())
    }
}
