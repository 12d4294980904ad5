//! Damaged and forged files for everything that reads files: settings, models, checkpoints, caches, arrays, pictures, run folders, tables.
//!
//! An input is made from a sound file by some of the changes in [`mutate`], or put together from parts that mean something; where the format has
//! checksums they are often made to fit again, so that what lies behind them is reached too. Whatever is read must end in an answer or in one sentence
//! that says what to do: no panic, no hang ([`watch::SECONDS`]), no more memory than the file's size explains ([`Allowance`]).
//!
//! Every input has an address, (target, seed, number), from which all of it follows: `cinoc-fuzz COUNT SEED TARGET NUMBER` makes it again and writes it to
//! a file. Choices are drawn through `arbitrary`, so an input is a string of bytes that a fuzzer guided by coverage could find as well.

pub mod allocation;
pub mod mutate;
pub mod target;
pub mod watch;

use arbitrary::{Result, Unstructured};

/// What reads files, and how files for it are made.
pub trait Target: Send {
    /// Its name.
    fn name(&self) -> &'static str;

    /// What it may ask for.
    fn allowance(&self) -> Allowance;

    /// A file.
    fn input(&self, choice: &mut Unstructured) -> Result<Vec<u8>>;

    /// Reads a file; an error says what is wrong with how it was read.
    fn read(&self, input: &[u8]) -> Result<Answer, String>;
}

/// What reading a file came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Its content was taken.
    Accepted,
    /// It was refused with this sentence.
    Refused(String),
}

impl Answer {
    /// From what a reader returned.
    pub fn of<T, E: std::fmt::Display>(done: std::result::Result<T, E>) -> Self {
        match done {
            Ok(_) => Self::Accepted,
            // All causes, as the command line prints them.
            Err(error) => Self::Refused(format!("{error:#}")),
        }
    }
}

/// Bytes that may be asked for at once while a file is read: some, and so many for each byte of the file.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    /// Whatever the file.
    pub fixed: usize,
    /// For each byte of it.
    pub per_byte: usize,
}

impl Allowance {
    /// For a file of so many bytes.
    pub fn of(&self, bytes: usize) -> usize {
        self.fixed + self.per_byte * bytes
    }
}

/// The bytes that all choices of one input are drawn from.
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

/// One input.
pub fn input(target: &dyn Target, seed: u64, number: u64) -> Vec<u8> {
    let entropy = entropy(target.name(), seed, number);
    // Choices end when the bytes do; what was made by then is an input as well.
    target.input(&mut Unstructured::new(&entropy)).unwrap_or_default()
}
