//! Fields from NumPy files, and episodes into them.

use crate::out::unwritten;
use crate::picture;
use anyhow::{Context, Result, bail};
use cinoc::export::Trial;
use cinoc::internal::disk::WholeFile;
use cinoc::internal::disk::npy::Header;
use cinoc::internal::trace::Trace;
use cinoc::internal::{budget, disk};
use cinoc::internal::{shortened, shown};
use cinoc::{Problem, Real};
use npyz::WriterBuilder;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// The most bytes of a file of fields.
const MOST: u64 = 1 << 31;

/// The most bytes of the header of such a file; NumPy writes 128.
const HEADER: u64 = 4096;

/// States of a file: of a `.npy` one, of the shape of the grid (`[fields, nodes…]` of several), or several along a first axis; of a `.png` its grey levels.
pub fn fields(path: &Path, problem: &Problem) -> Result<Vec<Vec<Real>>> {
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("png")) {
        return Ok(vec![picture::field(path, problem)?]);
    }
    let nodes: Vec<u64> = problem.stepper.state_axes().into_iter().map(|n| n as u64).collect();
    let place = || format!("{} cannot be used as fields", shown(path));
    let mut file = disk::open(path).with_context(place)?;
    let length = file.metadata().with_context(place)?.len();
    if length > MOST {
        bail!("{}: it is larger than 2 GB; give fewer fields", place());
    }
    let mut start = Vec::new();
    Read::by_ref(&mut file).take(HEADER).read_to_end(&mut start).with_context(place)?;
    let Some(Header { descr, fortran, shape, size }) = Header::of(&start) else {
        bail!("{}: it is not a .npy file; save it with numpy.save", place());
    };
    let fits = shape == nodes || (shape.len() == nodes.len() + 1 && shape[1..] == nodes && shape[0] > 0);
    if !fits {
        let shape = shortened(&format!("{shape:?}"));
        bail!("{}: its shape is {shape}; {} needs {nodes:?}, or several of these along a first axis", place(), problem.name);
    }
    if fortran {
        bail!("{}: it is in Fortran order; save it with numpy.ascontiguousarray", place());
    }
    let (big, width) = match descr {
        "<f4" => (false, 4),
        ">f4" => (true, 4),
        "<f8" => (false, 8),
        ">f8" => (true, 8),
        other => bail!("{}: its numbers are {}; save them as float32 or float64", place(), shortened(other)),
    };
    let count = shape.iter().try_fold(1u64, |count, n| count.checked_mul(*n));
    if count.and_then(|count| count.checked_mul(width)?.checked_add(size)) != Some(length) {
        bail!("{}: it is {length} bytes long, which is not what its shape {shape:?} asks for; save it again", place());
    }
    budget::check(&format!("the fields of {}", shown(path)), 3.0 * length as f64)?;
    file.seek(SeekFrom::Start(size)).with_context(place)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).with_context(place)?;
    let values: Vec<Real> = match width {
        4 => {
            bytes.as_chunks().0.iter().map(|&b| if big { f32::from_be_bytes(b) } else { f32::from_le_bytes(b) } as Real).collect()
        }
        _ => {
            bytes.as_chunks().0.iter().map(|&b| if big { f64::from_be_bytes(b) } else { f64::from_le_bytes(b) } as Real).collect()
        }
    };
    if !values.iter().all(|x| x.is_finite()) {
        bail!("{}: it holds NaN or infinite numbers; replace them", place());
    }
    Ok(values.chunks_exact(problem.stepper.state_count()).map(<[Real]>::to_vec).collect())
}

/// A `.npz` file while it is written.
struct Archive<'a> {
    path: &'a Path,
    file: ZipWriter<Patient>,
}

/// A file that remembers its first failure and accepts everything after it: the writer of an archive that is told of a full disk would try
/// to finish all the same, and complain to the terminal.
struct Patient {
    file: BufWriter<WholeFile>,
    failure: Option<io::Error>,
}

impl Patient {
    fn attempt<T: Default>(&mut self, work: impl FnOnce(&mut BufWriter<WholeFile>) -> io::Result<T>) -> T {
        if self.failure.is_some() {
            return T::default();
        }
        work(&mut self.file).unwrap_or_else(|error| {
            self.failure = Some(error);
            T::default()
        })
    }
}

impl Write for Patient {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.attempt(|file| file.write_all(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.attempt(Write::flush);
        Ok(())
    }
}

impl Seek for Patient {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        Ok(self.attempt(|file| file.seek(to)))
    }
}

impl<'a> Archive<'a> {
    fn new(path: &'a Path) -> Result<Self> {
        let file = WholeFile::create(path).with_context(|| unwritten(path))?;
        Ok(Self { path, file: ZipWriter::new(Patient { file: BufWriter::new(file), failure: None }) })
    }

    /// Adds an array.
    fn array(&mut self, name: &str, shape: &[usize], values: impl IntoIterator<Item = f64>) -> Result<()> {
        let place = || unwritten(self.path);
        let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored).large_file(true);
        let shape: Vec<u64> = shape.iter().map(|&n| n as u64).collect();
        self.file.start_file(npyz::npz::file_name_from_array_name(name), stored).with_context(place)?;
        let options = npyz::WriteOptions::<f64>::new().default_dtype().shape(&shape).writer(&mut self.file);
        let mut writer = options.begin_nd().with_context(place)?;
        writer.extend(values).with_context(place)?;
        writer.finish().with_context(place)
    }

    fn finish(self) -> Result<()> {
        let place = || unwritten(self.path);
        let mut file = self.file.finish().with_context(place)?;
        file.flush().with_context(place)?;
        file.failure.map_or(Ok(()), Err).with_context(place)?;
        file.file.into_inner().map_err(io::IntoInnerError::into_error).and_then(WholeFile::finish).with_context(place)
    }
}

fn double(values: &[Real]) -> impl Iterator<Item = f64> {
    values.iter().map(|&x| x as f64)
}

/// Writes an episode as `.npz`: `z [ticks+1, nodes…]` (`[ticks+1, fields, nodes…]` of several), `xi [ticks+1, agents, d]`, `action [ticks, agents, k]`, `alive [ticks+1, agents]`, `target`,
/// times `t` and positions of the nodes along each axis, `x` and `y`.
pub fn export(path: &Path, problem: &Problem, trace: &Trace) -> Result<()> {
    let (grid, swarm, mut archive) = (problem.stepper.grid(), &problem.swarm, Archive::new(path)?);
    let (moments, agents) = (trace.z.len(), trace.alive[0].len());
    let flat = |rows: &[Vec<Real>]| double(&rows.concat()).collect::<Vec<_>>();
    let state = problem.stepper.state_axes();
    archive.array("z", &[&[moments], &state[..]].concat(), flat(&trace.z))?;
    archive.array("target", &state, double(&trace.target))?;
    archive.array("xi", &[moments, agents, swarm.dimensions()], flat(&trace.xi))?;
    archive.array("action", &[trace.action.len(), agents, swarm.action_width()], flat(&trace.action))?;
    archive.array("alive", &[moments, agents], trace.alive.iter().flatten().map(|&alive| f64::from(u8::from(alive))))?;
    let time = |tick: usize| trace.begins + (tick as f64 - trace.before as f64) * problem.tick_time();
    archive.array("t", &[moments], (0..moments).map(time))?;
    for (axis, name) in (0..grid.dimensions()).zip(["x", "y", "z_axis"]) {
        archive.array(name, &[grid.nodes[axis]], grid.positions(axis))?;
    }
    archive.finish()
}

/// Writes test vectors as `.npz`: `readings [decisions, n]`, `first [decisions]` (1 where an agent is given its memory), `memory [decisions, h]`, `actions [decisions, k]` and the largest magnitudes of actions, `limits [k]`.
pub fn vectors(path: &Path, trial: &Trial, limits: &[Real]) -> Result<()> {
    let (decisions, mut archive) = (trial.first.len(), Archive::new(path)?);
    archive.array("readings", &[decisions, trial.readings.len() / decisions], double(&trial.readings))?;
    archive.array("first", &[decisions], trial.first.iter().map(|&first| f64::from(u8::from(first))))?;
    archive.array("memory", &[decisions, trial.memory.len() / decisions], double(&trial.memory))?;
    archive.array("actions", &[decisions, limits.len()], double(&trial.actions))?;
    archive.array("limits", &[limits.len()], double(limits))?;
    archive.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A full disk was reported twice, and an error of the last flush was lost.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_reported_once() {
        for count in [1, 100_000] {
            let mut archive = Archive::new(Path::new("/dev/full")).expect("it can be opened");
            archive.array("x", &[count], (0..count).map(|i| i as f64)).expect("reported at the end");
            let text = format!("{:#}", archive.finish().expect_err("it is full"));
            assert!(text.starts_with("/dev/full cannot be written; make room") && text.contains("space"), "{text}");
        }
    }

    #[test]
    fn headers_as_numpy_writes_them_are_understood() {
        for (shape, line) in [(vec![3], "3,"), (vec![2, 3], "2, 3")] {
            let mut bytes = Vec::new();
            let options = npyz::WriteOptions::<f32>::new().default_dtype().shape(&shape).writer(&mut bytes);
            let mut writer = options.begin_nd().expect("a header");
            writer.extend((0..shape.iter().product()).map(|i: u64| i as f32)).expect("numbers");
            writer.finish().expect("all of them");
            let header = Header::of(&bytes).expect("a header");
            assert_eq!((header.descr, header.fortran, &header.shape), ("<f4", false, &shape), "{line}");
            assert_eq!(bytes.len() as u64, header.size + 4 * shape.iter().product::<u64>());
            let text = format!("{{'descr': '>f8', 'fortran_order': True, 'shape': ({line}), }}\n");
            let start = [b"\x93NUMPY\x03\x00", &(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat();
            let header = Header::of(&start).expect("a header");
            assert_eq!((header.descr, header.fortran, header.shape), (">f8", true, shape));
        }
    }
}
