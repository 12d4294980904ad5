//! The ranks of a job that `mpirun` or `srun` has started: who this process is, and whether it speaks.

#[cfg(feature = "mpi")]
mod mpi;

use crate::out;
use anyhow::{Result, bail};
use cinoc::internal::ranks::Ranks;
use cinoc::internal::threads::Threads;
use std::sync::{Arc, OnceLock};

/// Environment variables by which launchers tell each process its rank and the number of ranks. Slurm's is that of job
/// steps: in a batch script, which is one process, the variable of the job counts the tasks that it may start.
const LAUNCHERS: [(&str, &str); 4] = [
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"),
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
];

/// Set to make each process of a job a separate run.
const ALONE: &str = "CINOC_ALONE";

/// The job, as long as there is more than one rank.
static JOB: OnceLock<Job> = OnceLock::new();

struct Job {
    ranks: Arc<dyn Ranks>,
    /// Threads of this rank unless told otherwise.
    threads: usize,
}

fn alone() -> bool {
    std::env::var_os(ALONE).is_some_and(|value| !value.is_empty())
}

/// Rank and number of ranks, where a launcher has told them.
fn told() -> Option<(usize, usize)> {
    if alone() {
        return None;
    }
    let number = |name: &str| std::env::var(name).ok()?.parse::<usize>().ok();
    LAUNCHERS.iter().find_map(|(rank, count)| Some((number(rank)?, number(count)?))).filter(|(_, count)| *count > 1)
}

/// Silences every process of a job but the first, as far as the launcher has told; called before anything is printed.
pub fn silence_others() {
    out::silence(!first());
}

/// True if this process prints and writes: one of all.
pub fn first() -> bool {
    JOB.get().map_or_else(|| told().is_none_or(|(rank, _)| rank == 0), |job| job.ranks.first())
}

/// The threads of this process, 0 for its share of the machine among all ranks.
pub fn threads(asked: usize) -> Result<Threads> {
    Ok(match JOB.get() {
        Some(job) => Threads::new(if asked == 0 { job.threads } else { asked })?.on_ranks(job.ranks.clone()),
        None => Threads::new(asked)?,
    })
}

/// Does work that all ranks share.
#[cfg(feature = "mpi")]
pub fn together(work: impl FnOnce() -> Result<()>) -> Result<()> {
    if alone() {
        return work();
    }
    let Some((universe, mpi)) = mpi::Mpi::start() else {
        bail!("this MPI library cannot be used by a program with threads; build with another, or set {ALONE}=1 to work without")
    };
    if mpi.count() == 1 {
        return work();
    }
    let mpi = Arc::new(mpi);
    JOB.get_or_init(|| Job { threads: mpi.threads(), ranks: mpi.clone() });
    silence_others();
    // Other ranks do not learn that this one is gone, and would wait for it.
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_or_else(|_| mpi.abort());
    let done = mpi.leave(done);
    drop(universe);
    done
}

/// Does work that all ranks would share if this program knew of them.
#[cfg(not(feature = "mpi"))]
pub fn together(work: impl FnOnce() -> Result<()>) -> Result<()> {
    match told() {
        None => work(),
        Some((_, count)) => bail!(
            "this is one of {count} ranks, and this program was built without MPI; build it with `cargo build --release -p cinoc-cli \
             --features mpi`, or set {ALONE}=1 for {count} runs that have nothing to do with each other"
        ),
    }
}
