//! All readers of files.

mod arrays;
mod cache;
mod lines;
mod pictures;
mod problems;
mod runs;
mod sealed;
mod settings;

use crate::Target;
use cinoc::problem::{Preset, Problem};
use cinoc::settings::Overlay;
use cinoc::{Config, Registry};
use std::path::PathBuf;
use std::sync::Once;
use tempfile::TempDir;

/// Returns every target with its share of a long run, in thousandths.
pub fn all() -> Vec<(Box<dyn Target>, u64)> {
    prepare();
    vec![
        (Box::new(settings::Settings::new()), 190),
        (Box::new(problems::Problems::new()), 10),
        (Box::new(sealed::Models::new()), 150),
        (Box::new(sealed::Checkpoints::new()), 100),
        (Box::new(cache::Cache::new()), 100),
        (Box::new(arrays::Arrays::new()), 150),
        (Box::new(pictures::Pictures::new()), 150),
        (Box::new(runs::Curves::new()), 50),
        (Box::new(lines::Studies::new()), 50),
        (Box::new(lines::Optima::new()), 50),
    ]
}

/// Memory limit of settings in megabytes. A model of a hundred bytes may belong to a large problem; its size is
/// estimated and compared with this number, which thus bounds the memory of such a file.
const MEGABYTES: usize = 32;

/// Sets the cache folder and the memory limit.
#[allow(unsafe_code)]
fn prepare() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: only the standard library reads the environment, and locks it.
        unsafe {
            std::env::set_var("CINOC_CACHE", std::env::temp_dir().join("cinoc-fuzz-nowhere"));
            std::env::set_var("CINOC_MEMORY_MB", MEGABYTES.to_string());
        }
    });
}

/// Returns a folder in memory where possible: nothing here is about disks, and a million files would wear one out.
fn scratch() -> TempDir {
    let memory = PathBuf::from("/dev/shm");
    let made = tempfile::Builder::new().prefix("cinoc-fuzz-").tempdir_in(&memory);
    made.or_else(|_| tempfile::tempdir()).expect("a temporary folder")
}

/// Returns settings of a small problem and a small policy.
fn tiny(problem: &str) -> Config {
    let few = ["physics.ticks=3", "train.batch=2", "train.validate_instances=1", "train.validate_every=1", "train.updates=3"];
    let own: &[&str] = match problem {
        "heat1d" | "fkpp1d" => &["physics.nodes=12", "swarm.agents=2", "observe.points=3"],
        "heat2d" | "heat2d_obstacles" => &["physics.nodes=12", "swarm.agents=4", "observe.points=3", "policy.convolutions=[]"],
        "density2d" => {
            &["physics.nodes_x=8", "physics.nodes_y=10", "swarm.agents=4", "observe.points=3", "policy.convolutions=[]"]
        }
        "ks1d" => &["physics.nodes=16", "swarm.agents=4", "observe.points=3"],
        _ => &["physics.nodes=32", "swarm.agents=4", "observe.points=3", "policy.convolutions=[]", "data.train_states=3"],
    };
    let small = ["policy.branch=[3]", "policy.trunk=[2]", "policy.head=2"];
    let pairs = few.iter().chain(own).chain(&small);
    let overlay = Overlay::from_pairs(pairs).expect("pairs");
    Registry::builtin().config(problem, Preset::Paper, &overlay).unwrap_or_else(|error| panic!("{problem}: {error}"))
}

fn built(problem: &str) -> Problem {
    Registry::builtin().build(&tiny(problem)).expect("a small problem")
}
