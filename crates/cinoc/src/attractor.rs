//! States on the attractor of a chaotic equation: made once, kept in a file, and drawn from.

use crate::Real;
use crate::disk::cache;
use crate::random::{Rng, Stream, Use};
use cinoc_pde::sampler::{refine, settle};
use cinoc_pde::{Grid, Stepper};
use cinoc_tape::kernel::crew;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Raise this whenever a change of a solver gives other states from the same recipe: kept files then no longer count.
const VERSION: u32 = 2;

/// Draws the field a free run starts from.
pub type Begin = Box<dyn Fn(&mut Rng) -> Vec<Real> + Send + Sync>;

/// How states are made. The same recipe gives the same states, whatever the number of threads.
pub struct Recipe {
    /// Everything that the states depend on and that is not written below.
    pub name: String,
    /// The free equation.
    pub stepper: Box<dyn Stepper>,
    /// The grid that states are shown on, as fine as that of the equation or finer.
    pub shown_on: Grid,
    /// Where a run starts.
    pub begin: Begin,
    /// Steps from the start of a run to its first state.
    pub settle: usize,
    /// Steps from one state of a run to the next.
    pub apart: usize,
    /// States of each run.
    pub per_run: usize,
    /// States for training, validation and test, of each seed. No run gives states for two of them, nor for two seeds.
    pub sizes: [usize; 3],
    /// What a mirror image does to the sign of the field: 1, or −1 if the equation holds for the mirror image of −z only.
    pub mirror: Real,
}

/// Sets of states of one equation: one for each use and seed, made when first needed.
pub struct Attractor {
    recipe: Recipe,
    sets: Mutex<HashMap<(Use, u64), Arc<Set>>>,
}

/// States one after the other, once they are made.
type Set = OnceLock<Arc<[Real]>>;

/// All uses, in the order of the sets.
pub const USES: [Use; 3] = [Use::Training, Use::Validation, Use::Test];

/// Steps between two reports of progress.
const PIECE: usize = 500;

impl Attractor {
    /// Empty sets.
    ///
    /// # Panics
    /// Unless there is a state for each use and every run gives one; in more than two dimensions, whose symmetries are yet to be written.
    pub fn new(recipe: Recipe) -> Self {
        assert!(recipe.per_run > 0 && recipe.sizes.iter().all(|&size| size > 0), "every use needs a state");
        let d = recipe.stepper.grid().dimensions();
        assert!(d <= 2, "states are moved and mirrored on a ring or a torus, not in {d} dimensions");
        Self { recipe, sets: Mutex::default() }
    }

    /// How many states a set has.
    pub fn size(&self, purpose: Use) -> usize {
        self.recipe.sizes[purpose as usize]
    }

    /// All states of a set, one after the other; they are made or read from the disk if need be.
    pub fn states(&self, purpose: Use, seed: u64) -> Arc<[Real]> {
        self.make(purpose, seed, &|_| {})
    }

    /// The same, telling `progress` the share that is done.
    pub fn make(&self, purpose: Use, seed: u64, progress: &(dyn Fn(f64) + Sync)) -> Arc<[Real]> {
        let set = self.sets.lock().unwrap_or_else(PoisonError::into_inner).entry((purpose, seed)).or_default().clone();
        let made = set.get_or_init(|| {
            let Recipe { name, stepper, settle, apart, per_run, .. } = &self.recipe;
            let (grid, size) = (stepper.grid(), self.size(purpose));
            let key = format!(
                "{name}, version {VERSION}; {:?} nodes on {:?}; {settle} + {apart} steps of {} in {} substeps, {per_run} per run, {size} for {purpose:?} of seed {seed}",
                grid.nodes,
                grid.lengths,
                stepper.dt(),
                stepper.substeps(),
            );
            cache::numbers(&key, size * grid.count(), || self.compute(purpose, seed, progress)).into()
        });
        made.clone()
    }

    /// Runs the equation for one set.
    fn compute(&self, purpose: Use, seed: u64, progress: &(dyn Fn(f64) + Sync)) -> Vec<Real> {
        let Recipe { stepper, settle: first, apart, .. } = &self.recipe;
        let (nodes, size) = (stepper.grid().count(), self.size(purpose));
        let per_run = &self.recipe.per_run.min(size);
        let runs = size.div_ceil(*per_run);
        // Short fields are run side by side. Who runs with whom never depends on the number of threads.
        let together = (4096 / nodes).clamp(1, 16);
        let chunks = runs.div_ceil(together);
        let total = chunks * (first + (per_run - 1) * apart);
        let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let advance = |fields: &mut Vec<Real>, steps: usize| {
            for from in (0..steps).step_by(PIECE) {
                let piece = PIECE.min(steps - from);
                *fields = settle(&**stepper, fields, piece);
                progress((done.fetch_add(piece, Ordering::Relaxed) + piece) as f64 / total as f64);
            }
        };
        let run_chunk = |chunk: usize| {
            let members = chunk * together..((chunk + 1) * together).min(runs);
            let mut fields: Vec<Real> = members.flat_map(|run| self.start(purpose, seed, run)).collect();
            let mut states = Vec::new();
            for k in 0..*per_run {
                advance(&mut fields, if k == 0 { *first } else { *apart });
                states.push(fields.clone());
            }
            // [state][run] to [run][state]
            let count = fields.len() / nodes;
            (0..count).flat_map(|run| states.iter().flat_map(move |s| s[run * nodes..][..nodes].to_vec())).collect::<Vec<Real>>()
        };
        let found: Vec<OnceLock<Vec<Real>>> = (0..chunks).map(|_| OnceLock::new()).collect();
        let work = || {
            let mut chunk = next.fetch_add(1, Ordering::Relaxed);
            while let Some(slot) = found.get(chunk) {
                slot.get_or_init(|| crew::alone(|| run_chunk(chunk)));
                chunk = next.fetch_add(1, Ordering::Relaxed);
            }
        };
        // Threads of its own: whoever waits for a set inside a team of threads must not be given other work that waits for it too.
        let threads = if cfg!(feature = "threads") { std::thread::available_parallelism().map_or(1, usize::from) } else { 1 };
        if threads.min(chunks) > 1 {
            std::thread::scope(|scope| (0..threads.min(chunks)).for_each(|_| drop(scope.spawn(work))));
        } else {
            work();
        }
        let mut all: Vec<Real> = found.into_iter().flat_map(|slot| slot.into_inner().expect("every chunk was run")).collect();
        all.truncate(size * nodes);
        all
    }

    /// Where a run of a set starts.
    fn start(&self, purpose: Use, seed: u64, run: usize) -> Vec<Real> {
        (self.recipe.begin)(&mut Rng::new(seed, Stream::Attractor, (purpose as u64) << 48 | run as u64))
    }

    /// A state of the generator's seed. For training, any, moved and mirrored as the equation does not mind; for scores, one after the other,
    /// and moved only once all have been seen.
    pub fn draw(&self, rng: &mut Rng, purpose: Use) -> Vec<Real> {
        let (size, nodes) = (self.size(purpose), self.recipe.stepper.grid().count());
        let (chosen, again) = match purpose {
            Use::Training => (below(rng, size), true),
            _ => (rng.index as usize % size, rng.index as usize >= size),
        };
        let (grid, states) = (self.recipe.stepper.grid(), self.states(purpose, rng.seed));
        let state = &states[chosen * nodes..][..nodes];
        let state = if again { moved(grid, state, self.recipe.mirror, rng) } else { state.to_vec() };
        refine(grid, &self.recipe.shown_on, &state)
    }
}

/// A whole number below `bound`.
fn below(rng: &mut Rng, bound: usize) -> usize {
    (rng.uniform(0.0, bound as f64) as usize).min(bound - 1)
}

/// A periodic field elsewhere: shifted by a random number of nodes, mirrored along each axis or not, and in a square turned or not.
/// Each mirror image multiplies it by `mirror`.
fn moved(grid: &Grid, field: &[Real], mirror: Real, rng: &mut Rng) -> Vec<Real> {
    let mut sign = 1.0;
    let mut along = |nodes: usize| -> Vec<usize> {
        let shift = below(rng, nodes);
        let mirrored = nodes > 1 && below(rng, 2) == 1;
        sign *= if mirrored { mirror } else { 1.0 };
        (0..nodes).map(|i| (shift + if mirrored { nodes - i } else { i }) % nodes).collect()
    };
    let width = grid.nodes.get(1).copied().unwrap_or(1);
    let (x, y) = (along(grid.nodes[0]), along(width));
    let turned = x.len() == y.len() && grid.lengths[0] == grid.lengths[1] && below(rng, 2) == 1;
    sign *= if turned { mirror } else { 1.0 };
    let at = |i: usize, j: usize| if turned { j * width + i } else { i * width + j };
    x.iter().flat_map(|&i| y.iter().map(move |&j| (i, j))).map(|(i, j)| sign * field[at(i, j)]).collect()
}
