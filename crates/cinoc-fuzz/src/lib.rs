//! Damaged and forged files for every reader of files: settings, problem files, models, checkpoints, caches, arrays, pictures, run
//! folders, tables.
//!
//! An input is a valid file with some of the changes in [`mutate`], or assembled from meaningful parts; where the
//! format has checksums they are often corrected, so that the code behind them is reached too. Every read must end in a
//! result or in one sentence that says what to do: no panic, no hang ([`watch::SECONDS`]), no more memory than the
//! file's size explains ([`Allowance`]).
//!
//! Every input has an address, (target, seed, number), that determines it: `cinoc-fuzz COUNT SEED TARGET NUMBER`
//! generates it again and writes it to a file. Choices are drawn through `arbitrary`, so an input is a string of bytes
//! that a coverage-guided fuzzer could find as well.

pub mod allocation;
pub mod mutate;
pub mod target;
pub mod watch;

use arbitrary::{Result, Unstructured};

/// A reader of files, and a generator of files for it.
pub trait Target: Send {
    /// Returns its name.
    fn name(&self) -> &'static str;

    /// Returns the memory that it may allocate.
    fn allowance(&self) -> Allowance;

    /// Returns the CPU seconds allowed for one file.
    fn seconds(&self) -> f64 {
        watch::SECONDS
    }

    /// Generates a file.
    fn input(&self, choice: &mut Unstructured) -> Result<Vec<u8>>;

    /// Reads a file; an error describes a wrong reaction.
    fn read(&self, input: &[u8]) -> Result<Answer, String>;
}

/// Outcome of reading a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Its content was accepted.
    Accepted,
    /// It was refused with this sentence.
    Refused(String),
}

impl Answer {
    /// Converts the result of a reader.
    pub fn of<T, E: std::fmt::Display>(done: std::result::Result<T, E>) -> Self {
        match done {
            Ok(_) => Self::Accepted,
            // All causes, as the command line prints them.
            Err(error) => Self::Refused(format!("{error:#}")),
        }
    }
}

/// Bytes that may be allocated while a file is read: a fixed number, and a number for each byte of the file.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    /// Independent of the file.
    pub fixed: usize,
    /// For each byte of the file.
    pub per_byte: usize,
}

impl Allowance {
    /// Returns the allowance of a file of `bytes` bytes.
    pub fn of(&self, bytes: usize) -> usize {
        self.fixed + self.per_byte * bytes
    }
}

/// Returns the bytes that all choices of one input are drawn from.
pub fn entropy(target: &str, seed: u64, number: u64) -> Vec<u8> {
    // FNV-1a of the name, then Splitmix64.
    let name =
        target.bytes().fold(0xcbf2_9ce4_8422_2325, |sum: u64, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let mut state = name ^ seed.wrapping_mul(0xd605_bbb5_8c8a_bcf1) ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    (0..128).flat_map(|_| next().to_le_bytes()).collect()
}

/// Generates one input.
pub fn input(target: &dyn Target, seed: u64, number: u64) -> Vec<u8> {
    let entropy = entropy(target.name(), seed, number);
    // Choices end with the bytes; a partial input is an input as well.
    target.input(&mut Unstructured::new(&entropy)).unwrap_or_default()
}
