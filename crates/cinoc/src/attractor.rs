//! States on the attractor of a chaotic equation: computed once, cached in a file, and sampled.

use crate::Real;
use crate::disk::cache;
use crate::random::{Rng, Split, Stream};
use cinoc_pde::sampler::{refine, settle};
use cinoc_pde::{Grid, Stepper};
use cinoc_tape::kernel::parallel;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

/// Version of the cached files. Increase it when a change of a solver produces other states from the same settings.
const VERSION: u32 = 2;

/// Samples the field that an uncontrolled run starts from.
pub type Begin = Box<dyn Fn(&mut Rng) -> Vec<Real> + Send + Sync>;

/// Settings of the uncontrolled runs that states are taken from. They determine the states, independently of the number
/// of threads and of whether states are computed one by one or together.
pub struct FreeRuns {
    /// Description of all dependencies of the states besides the fields below.
    pub name: String,
    /// The uncontrolled equation.
    pub stepper: Box<dyn Stepper>,
    /// Grid on which states are returned, at least as fine as that of the equation.
    pub shown_on: Grid,
    /// Sampler of the initial field of a run.
    pub begin: Begin,
    /// Steps from the start of a run to its first state.
    pub settle: usize,
    /// Steps from one state of a run to the next.
    pub apart: usize,
    /// Number of states per run.
    pub per_run: usize,
    /// Numbers of states for training, validation and test of each seed. No run contributes to two splits or two seeds.
    pub sizes: [usize; 3],
    /// Sign of a mirror image: 1, or −1 if the mirror image of −z, not of z, satisfies the equation.
    pub mirror: Real,
}

/// States computed alone, by split, seed and index.
type Singles = HashMap<(Split, u64, usize), Arc<[Real]>>;

/// Sets of states of one equation, one per split and seed, computed when first needed.
pub struct Attractor {
    recipe: FreeRuns,
    sets: Mutex<HashMap<(Split, u64), Arc<Set>>>,
    singles: Mutex<Singles>,
}

/// States in memory by their cache key: variants of a problem share them.
static SHARED: Mutex<BTreeMap<String, Weak<[Real]>>> = Mutex::new(BTreeMap::new());

/// Concatenated states, once computed.
type Set = OnceLock<Arc<[Real]>>;

/// Runs stepped together, and the number of states to take from each.
struct Chunk {
    number: usize,
    states: usize,
}

/// All splits, in the order of `sizes`.
pub const USES: [Split; 3] = [Split::Training, Split::Validation, Split::Test];

/// Steps between two progress reports.
const PIECE: usize = 500;

impl Attractor {
    /// Creates empty sets.
    ///
    /// # Panics
    /// If a split or a run has no state, or in more than two dimensions.
    pub fn new(recipe: FreeRuns) -> Self {
        assert!(recipe.per_run > 0 && recipe.sizes.iter().all(|&size| size > 0), "every split needs a state");
        let d = recipe.stepper.grid().dimensions();
        assert!(d <= 2, "states are moved and mirrored on a ring or a torus, not in {d} dimensions");
        Self { recipe, sets: Mutex::default(), singles: Mutex::default() }
    }

    /// Returns the number of states of a set.
    pub fn size(&self, purpose: Split) -> usize {
        self.recipe.sizes[purpose as usize]
    }

    /// Returns all states of a set, concatenated; they are computed, or read from the cache, when needed.
    pub fn states(&self, purpose: Split, seed: u64) -> Arc<[Real]> {
        self.make(purpose, seed, &|_| {})
    }

    /// Like [`states`](Self::states), calling `progress` with the completed fraction.
    pub fn make(&self, purpose: Split, seed: u64, progress: &(dyn Fn(f64) + Sync)) -> Arc<[Real]> {
        let set = self.set(purpose, seed);
        let made = set.get_or_init(|| {
            let (key, count) = (self.key(purpose, seed), self.size(purpose) * self.nodes());
            let shared = || SHARED.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(found) = shared().get(&key).and_then(Weak::upgrade) {
                return found;
            }
            let made: Arc<[Real]> = cache::numbers(&key, count, || self.compute(purpose, seed, progress)).into();
            shared().insert(key, Arc::downgrade(&made));
            made
        });
        made.clone()
    }

    /// Computes some states of a set without the others, in a fraction of the time and with the same bits. `progress`
    /// is called with the completed fraction.
    pub fn make_some(&self, purpose: Split, seed: u64, which: &[usize], progress: &(dyn Fn(f64) + Sync)) {
        let nodes = self.nodes();
        let set = self.set(purpose, seed);
        if set.get().is_some() {
            return;
        }
        if let Some(found) = cache::kept(&self.key(purpose, seed), self.size(purpose) * nodes) {
            set.get_or_init(|| found.into());
            return;
        }
        let mut which: Vec<usize> = which.iter().map(|state| state % self.size(purpose)).collect();
        which.sort_unstable();
        which.dedup();
        let key = |state: usize| format!("{}, state {state} of them", self.key(purpose, seed));
        let keep = |state: usize, numbers: Vec<Real>| {
            self.singles.lock().unwrap_or_else(PoisonError::into_inner).insert((purpose, seed, state), numbers.into());
        };
        which.retain(|&state| match cache::kept(&key(state), nodes) {
            Some(found) => {
                keep(state, found);
                false
            }
            None => true,
        });
        let per_run = self.per_run(purpose);
        let chunk_of = |state: usize| state / per_run / self.together();
        let mut chunks: Vec<Chunk> = Vec::new();
        for &state in &which {
            let (number, states) = (chunk_of(state), state % per_run + 1);
            match chunks.last_mut().filter(|last| last.number == number) {
                Some(last) => last.states = last.states.max(states),
                None => chunks.push(Chunk { number, states }),
            }
        }
        let found = self.run(purpose, seed, &chunks, progress);
        for &state in &which {
            let at = chunks.iter().position(|chunk| chunk.number == chunk_of(state)).expect("its chunk was run");
            let (run, k) = (state / per_run % self.together(), state % per_run);
            let numbers = &found[at][(run * chunks[at].states + k) * nodes..][..nodes];
            keep(state, cache::numbers(&key(state), nodes, || numbers.to_vec()));
        }
    }

    fn set(&self, purpose: Split, seed: u64) -> Arc<Set> {
        self.sets.lock().unwrap_or_else(PoisonError::into_inner).entry((purpose, seed)).or_default().clone()
    }

    /// Returns the cache key: everything that a set depends on.
    fn key(&self, purpose: Split, seed: u64) -> String {
        let FreeRuns { name, stepper, settle, apart, per_run, .. } = &self.recipe;
        let (grid, size) = (stepper.grid(), self.size(purpose));
        format!(
            "{name}, version {VERSION}; {:?} nodes on {:?}; {settle} + {apart} steps of {} in {} substeps, {per_run} per run, {size} for {purpose:?} of seed {seed}",
            grid.nodes,
            grid.lengths,
            stepper.dt(),
            stepper.substeps(),
        )
    }

    fn nodes(&self) -> usize {
        self.recipe.stepper.grid().count()
    }

    /// Returns the number of states that each run contributes.
    fn per_run(&self, purpose: Split) -> usize {
        self.recipe.per_run.min(self.size(purpose))
    }

    /// Returns the number of runs per chunk: small fields are stepped together. It never depends on the number of
    /// threads.
    fn together(&self) -> usize {
        (4096 / self.nodes()).clamp(1, 16)
    }

    /// Computes a set.
    fn compute(&self, purpose: Split, seed: u64, progress: &(dyn Fn(f64) + Sync)) -> Vec<Real> {
        let (size, per_run) = (self.size(purpose), self.per_run(purpose));
        let count = size.div_ceil(per_run).div_ceil(self.together());
        let chunks: Vec<Chunk> = (0..count).map(|number| Chunk { number, states: per_run }).collect();
        let mut all: Vec<Real> = self.run(purpose, seed, &chunks, progress).into_iter().flatten().collect();
        all.truncate(size * self.nodes());
        all
    }

    /// Runs chunks of a set; states of each are ordered `[run][state]`.
    fn run(&self, purpose: Split, seed: u64, chunks: &[Chunk], progress: &(dyn Fn(f64) + Sync)) -> Vec<Vec<Real>> {
        let FreeRuns { stepper, settle: first, apart, .. } = &self.recipe;
        let (nodes, together) = (self.nodes(), self.together());
        let runs = self.size(purpose).div_ceil(self.per_run(purpose));
        let total: usize = chunks.iter().map(|chunk| first + (chunk.states - 1) * apart).sum();
        let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let advance = |fields: &mut Vec<Real>, steps: usize| {
            for from in (0..steps).step_by(PIECE) {
                let piece = PIECE.min(steps - from);
                *fields = settle(&**stepper, fields, piece);
                progress((done.fetch_add(piece, Ordering::Relaxed) + piece) as f64 / total as f64);
            }
        };
        let run_chunk = |chunk: &Chunk| {
            let members = chunk.number * together..((chunk.number + 1) * together).min(runs);
            let mut fields: Vec<Real> = members.flat_map(|run| self.start(purpose, seed, run)).collect();
            let mut states = Vec::new();
            for k in 0..chunk.states {
                advance(&mut fields, if k == 0 { *first } else { *apart });
                states.push(fields.clone());
            }
            // From `[state][run]` to `[run][state]`.
            let count = fields.len() / nodes;
            (0..count).flat_map(|run| states.iter().flat_map(move |s| s[run * nodes..][..nodes].to_vec())).collect::<Vec<Real>>()
        };
        let found: Vec<OnceLock<Vec<Real>>> = chunks.iter().map(|_| OnceLock::new()).collect();
        let work = || {
            let mut at = next.fetch_add(1, Ordering::Relaxed);
            while let Some(slot) = found.get(at) {
                slot.get_or_init(|| parallel::sequential(|| run_chunk(&chunks[at])));
                at = next.fetch_add(1, Ordering::Relaxed);
            }
        };
        // Separate threads: a pool thread that waits for a set could be handed other work that waits for the same set.
        let threads = if cfg!(feature = "threads") { std::thread::available_parallelism().map_or(1, usize::from) } else { 1 };
        if threads.min(chunks.len()) > 1 {
            std::thread::scope(|scope| (0..threads.min(chunks.len())).for_each(|_| drop(scope.spawn(work))));
        } else {
            work();
        }
        found.into_iter().map(|slot| slot.into_inner().expect("every chunk was run")).collect()
    }

    /// Samples the initial field of a run of a set.
    fn start(&self, purpose: Split, seed: u64, run: usize) -> Vec<Real> {
        (self.recipe.begin)(&mut Rng::new(seed, Stream::Attractor, (purpose as u64) << 48 | run as u64))
    }

    /// Samples a state. For training it is random, shifted and reflected by symmetries of the equation; for validation
    /// and test, states are taken in order and shifted only after all have been used.
    pub fn draw(&self, rng: &mut Rng, purpose: Split) -> Vec<Real> {
        let (size, nodes) = (self.size(purpose), self.recipe.stepper.grid().count());
        let (chosen, again) = match purpose {
            Split::Training => (below(rng, size), true),
            _ => (rng.index as usize % size, rng.index as usize >= size),
        };
        let grid = self.recipe.stepper.grid();
        let single = self.singles.lock().unwrap_or_else(PoisonError::into_inner).get(&(purpose, rng.seed, chosen)).cloned();
        let (states, at) = single.map_or_else(|| (self.states(purpose, rng.seed), chosen), |state| (state, 0));
        let state = &states[at * nodes..][..nodes];
        let state = if again { moved(grid, state, self.recipe.mirror, rng) } else { state.to_vec() };
        refine(grid, &self.recipe.shown_on, &state)
    }
}

/// Samples an integer below `bound`.
fn below(rng: &mut Rng, bound: usize) -> usize {
    (rng.uniform(0.0, bound as f64) as usize).min(bound - 1)
}

/// Returns a periodic field, randomly shifted, reflected along each axis and, on a square, transposed. Each reflection
/// multiplies it by `mirror`.
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
