//! Fields from NumPy files, and episodes into them.

use anyhow::{Context, Result, bail};
use cinoc::trace::Trace;
use cinoc::{Problem, Real};
use npyz::WriterBuilder;
use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::Path;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// The most bytes of a file of fields.
const MOST: u64 = 1 << 31;

/// Fields of a `.npy` file: one, of the shape of the grid, or several along a first axis.
pub fn fields(path: &Path, problem: &Problem) -> Result<Vec<Vec<Real>>> {
    let nodes: Vec<u64> = problem.stepper.grid().nodes.iter().map(|&n| n as u64).collect();
    let place = || format!("{} cannot be used as fields", path.display());
    let file = File::open(path).with_context(place)?;
    if file.metadata().with_context(place)?.len() > MOST {
        bail!("{}: it is larger than 2 GB; give fewer fields", place());
    }
    let array = npyz::NpyFile::new(BufReader::new(file)).with_context(place)?;
    let shape = array.shape().to_vec();
    let fits = shape == nodes || (shape.len() == nodes.len() + 1 && shape[1..] == nodes && shape[0] > 0);
    if !fits {
        bail!("{}: its shape is {shape:?}; {} needs {nodes:?}, or several of these along a first axis", place(), problem.name);
    }
    if array.order() != npyz::Order::C {
        bail!("{}: it is in Fortran order; save it with numpy.ascontiguousarray", place());
    }
    let values: Vec<Real> = match array.dtype().descr() {
        text if text.contains("f4") => array.into_vec::<f32>().with_context(place)?.into_iter().map(|x| x as Real).collect(),
        text if text.contains("f8") => array.into_vec::<f64>().with_context(place)?.into_iter().map(|x| x as Real).collect(),
        other => bail!("{}: its numbers are {other}; save them as float32 or float64", place()),
    };
    if !values.iter().all(|x| x.is_finite()) {
        bail!("{}: it holds NaN or infinite numbers; replace them", place());
    }
    Ok(values.chunks_exact(problem.stepper.grid().count()).map(<[Real]>::to_vec).collect())
}

/// Writes an episode as `.npz`: `z [ticks+1, nodes…]`, `xi [ticks+1, agents, d]`, `action [ticks, agents, k]`, `alive [ticks+1, agents]`, `target`,
/// times `t` and positions of the nodes along each axis, `x` and `y`.
pub fn export(path: &Path, problem: &Problem, trace: &Trace) -> Result<()> {
    let (grid, swarm) = (problem.stepper.grid(), &problem.swarm);
    let place = || format!("{} cannot be written", path.display());
    let mut file = ZipWriter::new(BufWriter::new(File::create(path).with_context(place)?));
    let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored).large_file(true);
    let mut array = |name: &str, shape: &[usize], values: &mut dyn Iterator<Item = f64>| -> Result<()> {
        let shape: Vec<u64> = shape.iter().map(|&n| n as u64).collect();
        file.start_file(npyz::npz::file_name_from_array_name(name), stored).with_context(place)?;
        let options = npyz::WriteOptions::<f64>::new().default_dtype().shape(&shape).writer(&mut file);
        let mut writer = options.begin_nd().with_context(place)?;
        writer.extend(values).with_context(place)?;
        writer.finish().with_context(place)
    };
    let (moments, agents) = (trace.z.len(), trace.alive[0].len());
    let flat = |rows: &[Vec<Real>]| rows.iter().flatten().map(|&x| x as f64).collect::<Vec<_>>().into_iter();
    array("z", &[&[moments], &grid.nodes[..]].concat(), &mut flat(&trace.z))?;
    array("target", &grid.nodes, &mut trace.target.iter().map(|&x| x as f64))?;
    array("xi", &[moments, agents, swarm.dimensions()], &mut flat(&trace.xi))?;
    array("action", &[trace.action.len(), agents, swarm.action_width()], &mut flat(&trace.action))?;
    array("alive", &[moments, agents], &mut trace.alive.iter().flatten().map(|&alive| f64::from(u8::from(alive))))?;
    let time = |tick: usize| (tick as f64 - trace.before as f64) * problem.tick_time();
    array("t", &[moments], &mut (0..moments).map(time))?;
    for (axis, name) in (0..grid.dimensions()).zip(["x", "y", "z_axis"]) {
        array(name, &[grid.nodes[axis]], &mut grid.positions(axis).into_iter())?;
    }
    file.finish().map(drop).with_context(place)
}
