//! Messages by MPI. All calls come from the main thread.

use crate::out;
use anyhow::Result;
use cinoc::Error;
use cinoc::internal::ranks::Ranks;
use mpi::Threading;
use mpi::datatype::{Partition, PartitionMut};
use mpi::environment::{Universe, processor_name};
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// All ranks of the job.
pub struct Mpi {
    rank: usize,
    count: usize,
    here: usize,
    threads: usize,
    /// True after a rank has failed or ended: collective calls would then hang.
    over: AtomicBool,
}

/// Flags in the first number that each rank sends when ranks meet; the other bits are the length of its message, or of
/// its error text if it failed.
const FAILED: u64 = 1 << 63;
const DONE: u64 = 1 << 62;

impl Mpi {
    /// Starts MPI; it ends with the first value.
    pub fn start() -> Option<(Universe, Self)> {
        let (universe, threading) = mpi::initialize_with_threading(Threading::Funneled)?;
        let world = universe.world();
        let (rank, count) = (world.rank() as usize, world.size() as usize);
        let mut mpi = Self { rank, count, here: 1, threads: 0, over: AtomicBool::new(false) };
        if threading < Threading::Funneled {
            return None;
        }
        // Ranks that may use the same cores of the same machine share them evenly.
        let machine = processor_name().unwrap_or_default();
        let all = mpi.gather(format!("{machine}\n{}", cores()).as_bytes()).ok()?;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        mpi.here = all.iter().filter(|other| other.starts_with(format!("{machine}\n").as_bytes())).count();
        mpi.threads = (cores / all.iter().filter(|other| **other == all[rank]).count()).max(1);
        Some((universe, mpi))
    }

    /// Threads of this rank: its part of the cores that it may use.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// The end of this rank's work, told to the others: if one of them has failed all have.
    pub fn leave(&self, done: Result<()>) -> Result<()> {
        if self.over.load(Ordering::Relaxed) {
            return done;
        }
        match done {
            Ok(()) => Ok(self.meet(DONE, &[]).map(drop)?),
            Err(error) => {
                let text = crate::advice::told(&error);
                let _ = self.meet(FAILED | text.len() as u64, text.as_bytes());
                Err(error)
            }
        }
    }

    /// Ends all ranks after a panic.
    pub fn abort(&self) -> ! {
        out::write_error(format_args!(
            "{}: rank {} met a fault of the program (above) and ends the job; what was saved is whole, --resume goes on from there",
            out::program(),
            self.rank
        ));
        SimpleCommunicator::world().abort(101)
    }

    /// Waits until all ranks are here; what each says. An error if one of them fails.
    fn meet(&self, word: u64, text: &[u8]) -> Result<Vec<u64>, Error> {
        let mut words = vec![0_u64; self.count];
        mpi::request::scope(|scope| {
            let mut request = SimpleCommunicator::world().immediate_all_gather_into(scope, &word, &mut words[..]);
            let since = Instant::now();
            while let Err(pending) = request.test() {
                request = pending;
                pause(since.elapsed());
            }
        });
        if let Some(rank) = words.iter().position(|word| word & FAILED != 0) {
            self.over.store(true, Ordering::Relaxed);
            let length = |word: &u64| if word & FAILED == 0 { 0 } else { (word & !FAILED) as usize };
            let texts = all(text, &words.iter().map(length).collect::<Vec<usize>>());
            return Err(Error::Elsewhere { rank, reason: String::from_utf8_lossy(&texts[rank]).into_owned() });
        }
        if let Some(rank) = words.iter().position(|other| other & DONE != 0 && word & DONE == 0) {
            self.over.store(true, Ordering::Relaxed);
            let reason = "it has nothing more to do; start every rank with the same version and the same command".into();
            return Err(Error::Elsewhere { rank, reason });
        }
        Ok(words)
    }
}

impl Ranks for Mpi {
    fn rank(&self) -> usize {
        self.rank
    }

    fn count(&self) -> usize {
        self.count
    }

    fn here(&self) -> usize {
        self.here
    }

    fn gather(&self, own: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
        let lengths: Vec<usize> = self.meet(own.len() as u64, &[])?.iter().map(|word| *word as usize).collect();
        Ok(all(own, &lengths))
    }

    fn exchange(&self, pieces: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, Error> {
        self.meet(0, &[])?;
        let (mut sent, world) = (pieces.concat(), SimpleCommunicator::world());
        // An empty vector without memory has the address 1, which Open MPI takes for MPI_IN_PLACE: the others would wait for ever.
        sent.reserve(1);
        let lengths: Vec<u64> = pieces.iter().map(|piece| piece.len() as u64).collect();
        let mut coming = vec![0_u64; self.count];
        world.all_to_all_into(&lengths[..], &mut coming[..]);
        let (to, from) = (Places::new(lengths.iter().map(|n| *n as usize)), Places::new(coming.iter().map(|n| *n as usize)));
        let mut received = vec![0; from.total];
        world.all_to_all_varcount_into(
            &Partition::new(&sent[..], &to.lengths[..], &to.starts[..]),
            &mut PartitionMut::new(&mut received[..], &from.lengths[..], &from.starts[..]),
        );
        Ok(from.cut(&received))
    }
}

/// The messages of all ranks, of these lengths, on all.
fn all(own: &[u8], lengths: &[usize]) -> Vec<Vec<u8>> {
    let places = Places::new(lengths.iter().copied());
    let mut received = vec![0; places.total];
    if places.total > 0 {
        let mut parts = PartitionMut::new(&mut received[..], &places.lengths[..], &places.starts[..]);
        SimpleCommunicator::world().all_gather_varcount_into(own, &mut parts);
    }
    places.cut(&received)
}

/// Messages one behind the other.
struct Places {
    lengths: Vec<i32>,
    starts: Vec<i32>,
    total: usize,
}

impl Places {
    fn new(lengths: impl Iterator<Item = usize>) -> Self {
        let mut places = Self { lengths: Vec::new(), starts: Vec::new(), total: 0 };
        for length in lengths {
            places.starts.push(i32::try_from(places.total).expect("messages of less than two gigabytes"));
            places.lengths.push(i32::try_from(length).expect("messages of less than two gigabytes"));
            places.total += length;
        }
        places
    }

    fn cut(&self, bytes: &[u8]) -> Vec<Vec<u8>> {
        self.starts
            .iter()
            .zip(&self.lengths)
            .map(|(start, length)| bytes[*start as usize..][..*length as usize].to_vec())
            .collect()
    }
}

/// Waits without taking a core from whoever is waited for: MPI itself would ask again and again. The longer it has been, the longer.
fn pause(waited: Duration) {
    match waited / 64 {
        short if short < Duration::from_micros(2) => std::thread::yield_now(),
        long => std::thread::sleep(long.min(Duration::from_millis(1))),
    }
}

/// The cores that this process may use, as Linux writes them; nothing where there is no telling.
fn cores() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().find(|line| line.starts_with("Cpus_allowed_list:")).unwrap_or_default().to_owned()
}
