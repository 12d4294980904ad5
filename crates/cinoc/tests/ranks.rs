//! Any number of ranks gives the same bits, and an error on one rank ends all.

mod common;

use cinoc::evaluate::{Request, Scores, scores};
use cinoc::internal::random::{Rng, Stream};
use cinoc::internal::ranks::Ranks;
use cinoc::internal::threads::Threads;
use cinoc::run::{Origin, Run};
use cinoc::train::Trainer;
use cinoc::{Config, Error, Real};
use cinoc_lab::optimum::{Goal, Horizon, Listen, OptimumRecord, RecedingRecord, Record, Search, recede, search};
use common::{config, names, parts, problem};
use std::path::PathBuf;
use std::sync::{Arc, Barrier, Mutex};
use std::thread;

/// Ranks that are threads of this process and exchange messages over shared memory.
struct Board {
    count: usize,
    meeting: Barrier,
    messages: Mutex<Vec<Result<Vec<Vec<u8>>, String>>>,
}

struct Rank {
    rank: usize,
    board: Arc<Board>,
}

impl Rank {
    /// Posts a message for each rank and returns all messages once every rank has posted.
    fn meet(&self, own: Result<Vec<Vec<u8>>, String>) -> Result<Vec<Vec<Vec<u8>>>, Error> {
        self.board.messages.lock().unwrap()[self.rank] = own;
        self.board.meeting.wait();
        let all = self.board.messages.lock().unwrap().clone();
        self.board.meeting.wait();
        let failed = |(rank, message): (usize, Result<_, String>)| message.map_err(|reason| Error::Elsewhere { rank, reason });
        all.into_iter().enumerate().map(failed).collect()
    }
}

impl Ranks for Rank {
    fn rank(&self) -> usize {
        self.rank
    }

    fn count(&self) -> usize {
        self.board.count
    }

    fn here(&self) -> usize {
        self.board.count
    }

    fn gather(&self, own: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
        Ok(self.meet(Ok(vec![own.to_vec()]))?.into_iter().map(|mut message| message.remove(0)).collect())
    }

    fn exchange(&self, pieces: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, Error> {
        assert_eq!(pieces.len(), self.board.count);
        Ok(self.meet(Ok(pieces.to_vec()))?.into_iter().map(|mut message| message.swap_remove(self.rank)).collect())
    }
}

/// Runs `f` on `count` ranks with `threads` threads each and returns their results.
fn on_ranks<R: Send>(count: usize, threads: usize, f: impl Fn(Threads) -> Result<R, Error> + Sync) -> Vec<Result<R, Error>> {
    let messages = Mutex::new(vec![Ok(Vec::new()); count]);
    let board = Arc::new(Board { count, meeting: Barrier::new(count), messages });
    let run = |rank: usize| {
        let ranks = Arc::new(Rank { rank, board: board.clone() });
        let found = f(Threads::new(threads).unwrap().on_ranks(ranks.clone()));
        // As at the end of a process: a failed rank informs the others.
        let left = match &found {
            Err(Error::Elsewhere { .. }) => Ok(Vec::new()),
            found => ranks.meet(found.as_ref().map(|_| Vec::new()).map_err(Error::to_string)),
        };
        found.and_then(|found| left.map(|_| found))
    };
    thread::scope(|scope| {
        let all: Vec<_> = (0..count).map(|rank| scope.spawn(move || run(rank))).collect();
        all.into_iter().map(|rank| rank.join().unwrap()).collect()
    })
}

/// Ranks, and threads of each. Twelve instances make five shards, so some ranks have more shards than others, or none.
const TEAMS: [(usize, usize); 5] = [(1, 1), (2, 1), (3, 2), (5, 1), (7, 1)];

/// Variants of noise, delay and horizon.
const VARIED: &str = "train.vary=[\"swarm.delay = 0..4\", \"swarm.sensor_noise = 0 | 0.01..0.1\", \"physics.ticks = 8 | 5\"]";

fn short(problem: &str) -> Config {
    let (problem, varied) = problem.strip_suffix(" varied").map_or((problem, "train.vary=[]"), |problem| (problem, VARIED));
    let changes = [
        varied,
        "train.variants=6",
        "train.validate_variants=[\"swarm.delay=2 swarm.sensor_noise=0.05\"]",
        "physics.ticks=8",
        "train.batch=14",
        "train.shard=3",
        "train.updates=3",
        "train.validate_every=2",
        "train.validate_instances=19",
    ];
    config(problem, &changes)
}

/// Parameters, numbers of each update, and the best parameters, as bits.
type Trained = (Vec<Real>, Vec<u64>, Vec<Real>, u64);

fn trained(name: &str, threads: Threads) -> Result<Trained, Error> {
    let mut trainer = Trainer::new(parts(&short(name)), 3, threads)?;
    let mut numbers = Vec::new();
    while !trainer.finished() {
        let progress = trainer.step()?;
        numbers.extend([progress.cost, progress.gradient, progress.validation.unwrap_or(0.0)].map(f64::to_bits));
        numbers.extend(progress.terms.iter().map(|term| term.to_bits()));
    }
    let best = trainer.best.clone().expect("a validation");
    Ok((trainer.params.theta().to_vec(), numbers, best.theta, best.score.to_bits()))
}

#[test]
fn training() {
    for name in names().into_iter().chain(["heat1d varied", "ks1d varied"]) {
        let alone = trained(name, Threads::single()).unwrap();
        // All problems with one layout, and all layouts with one problem.
        for (ranks, threads) in TEAMS.into_iter().filter(|team| name == "heat1d" || *team == (3, 2)) {
            for found in on_ranks(ranks, threads, |threads| trained(name, threads)) {
                assert!(found.unwrap() == alone, "{name}: {ranks} ranks of {threads} threads");
            }
        }
    }
}

#[test]
fn scores_of_all_instances() {
    let parts = parts(&short("heat1d"));
    let params = parts.policy.init(&mut Rng::new(1, Stream::Init, 0));
    let found = |threads: Threads| {
        let Scores { measures, efforts, diverged } =
            scores(&parts.problem, &*parts.policy, &params, &Request::test(5, 37, 2), &threads)?;
        Ok((measures.concat(), efforts, diverged))
    };
    let alone = found(Threads::single()).unwrap();
    assert_eq!(alone.1.len(), 37);
    for (ranks, threads) in TEAMS {
        for found in on_ranks(ranks, threads, found) {
            assert!(found.unwrap() == alone, "{ranks} ranks of {threads} threads");
        }
    }
}

struct Kept<T> {
    found: Mutex<Vec<T>>,
    stop: bool,
}

impl<T: Send> Listen<T> for Kept<T> {
    fn stop(&self) -> bool {
        self.stop
    }

    fn found(&self, found: Vec<T>) {
        self.found.lock().unwrap().extend(found);
    }
}

impl<T: Record> Kept<T> {
    fn new(stop: bool) -> Self {
        Self { found: Mutex::default(), stop }
    }

    fn sorted(self) -> Vec<T> {
        let mut found = self.found.into_inner().unwrap();
        found.sort_by_key(T::instance);
        found
    }
}

#[test]
fn optima_and_receding_horizons() {
    let problem = Arc::new(problem("heat1d", &["physics.ticks=6"]));
    let request = Request::test(3, 5, 1);
    let which = [0, 1, 2, 4];
    let found = |threads: Threads| {
        let (optima, receded) = (Kept::<OptimumRecord>::new(false), Kept::<RecedingRecord>::new(false));
        let how = Search { iterations: 12, ..Search::new(Goal::Score) };
        search(&problem, None, &request, &which, &how, &threads, &optima)?;
        recede(&problem, &request, &which, &Horizon { ahead: 3, every: 2, iterations: 5 }, &threads, &receded)?;
        let (mut optima, mut receded) = (optima.sorted(), receded.sorted());
        optima.iter_mut().for_each(|one| one.seconds = 0.0);
        receded.iter_mut().for_each(|one| (one.seconds, one.seconds_worst) = (0.0, 0.0));
        Ok((optima, receded))
    };
    let alone = found(Threads::single()).unwrap();
    assert!(alone.0.len() == 4 && alone.0.iter().all(|one| one.actions.iter().any(|a| *a != 0.0)));
    for (ranks, threads) in TEAMS {
        for found in on_ranks(ranks, threads, found) {
            assert!(found.unwrap() == alone, "{ranks} ranks of {threads} threads");
        }
    }
}

#[test]
fn all_searches_stop_where_one_rank_is_told_to() {
    let problem = problem("heat1d", &["physics.ticks=60"]);
    let long = Search { iterations: 1_000_000, tolerance: 0.0, ..Search::new(Goal::Score) };
    let stopped = on_ranks(3, 1, |threads| {
        let kept = Kept::<OptimumRecord>::new(threads.ranks().rank() == 1);
        search(&problem, None, &Request::test(3, 6, 1), &[0, 1, 2, 3, 4, 5], &long, &threads, &kept)?;
        Ok(kept.sorted().len())
    });
    assert!(stopped.into_iter().all(|found| found.unwrap() < 6));
}

#[test]
fn a_divergence_is_the_same_error_on_all_ranks() {
    let states = ["data.settle=5", "data.apart=5", "data.train_states=8", "data.validation_states=4"];
    let strong = ["swarm.u_limit=1e9", "physics.ticks=40", "train.updates=3", "train.batch=6", "train.shard=2"];
    let config = config("ks1d", &[&states[..], &strong[..]].concat());
    let failed = |threads: Threads| {
        let mut trainer = Trainer::new(parts(&config), 0, threads)?;
        (0..3).try_for_each(|_| trainer.step().map(drop))
    };
    let alone = failed(Threads::single()).unwrap_err().to_string();
    assert!(alone.contains("at tick"), "{alone}");
    for ranks in [2, 5] {
        for found in on_ranks(ranks, 1, failed) {
            assert_eq!(found.unwrap_err().to_string(), alone);
        }
    }
}

#[test]
fn an_error_of_one_rank_ends_all() {
    let found = on_ranks(3, 1, |threads| match threads.ranks().rank() {
        1 => Err(Error::bad("memory", "0", "more")),
        _ => trained("heat1d", threads).map(drop),
    });
    for (rank, found) in found.into_iter().enumerate() {
        let text = found.unwrap_err().to_string();
        assert_eq!(text, format!("{}memory cannot be 0; it must be more", if rank == 1 { "" } else { "rank 1: " }));
    }
}

/// A temporary folder of a test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("cinoc-ranks-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        Self(folder)
    }

    /// The files in which a resumed run equals another to the byte.
    fn files(&self) -> Vec<Vec<u8>> {
        ["model.safetensors", "last.safetensors", "metrics.csv"].map(|name| std::fs::read(self.0.join(name)).unwrap()).into()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_run_goes_on_with_another_number_of_ranks() {
    let registry = cinoc::Registry::builtin();
    let origin = || Origin { config: short("heat1d"), preset: "paper".into(), seed: 1 };
    let go_on = |mut run: Run| (0..3 - run.trainer.update).try_for_each(|_| run.step().map(drop));
    let (whole, parted) = (Scratch::new("whole"), Scratch::new("parted"));
    go_on(Run::start(&registry, &whole.0, origin(), Threads::single()).unwrap()).unwrap();
    for one in on_ranks(3, 1, |threads| {
        let mut run = Run::start(&registry, &parted.0, origin(), threads)?;
        run.step()?;
        run.close()
    }) {
        one.unwrap();
    }
    on_ranks(2, 2, |threads| go_on(Run::resume(&registry, &parted.0, threads)?)).into_iter().for_each(|one| one.unwrap());
    assert!(whole.files() == parted.files());
    // Only the first rank accesses the folder, and all ranks receive its result.
    let texts = on_ranks(3, 1, |threads| go_on(Run::start(&registry, &whole.0, origin(), threads)?));
    for text in texts {
        assert!(text.unwrap_err().to_string().ends_with("already holds a run; resume it, or choose another folder"));
    }
}
