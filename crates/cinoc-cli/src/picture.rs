//! Fields from pictures.

use anyhow::{Context, Result, bail};
use cinoc::{Problem, Real};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// The most pixels of a picture, far beyond any grid.
const MOST: u64 = 1 << 26;

/// The field of a `.png` for a problem in the plane: grey levels, black 0 and white 1, brought to the grid. The picture fills the domain, y goes up.
pub fn field(path: &Path, problem: &Problem) -> Result<Vec<Real>> {
    let place = || format!("{} cannot be used as a field", path.display());
    let &[columns, rows] = &problem.stepper.grid().nodes[..] else {
        bail!("{}: {} is not a problem in the plane; give a .npy file", place(), problem.name);
    };
    let Grey { width, height, levels } = grey(path).with_context(place)?;
    let level = |x: usize, y: usize| levels[(height - 1 - y) * width + x];
    // A place between pixels, and its part of the way from one to the next.
    let between = |node: usize, nodes: usize, pixels: usize| {
        let at = node as f64 / (nodes - 1) as f64 * (pixels - 1) as f64;
        let low = (at as usize).min(pixels.saturating_sub(2));
        (low, (low + 1).min(pixels - 1), at - low as f64)
    };
    let mut field = Vec::with_capacity(columns * rows);
    for i in 0..columns {
        let (left, right, across) = between(i, columns, width);
        for j in 0..rows {
            let (below, above, up) = between(j, rows, height);
            let line = |y: usize| level(left, y) + across * (level(right, y) - level(left, y));
            field.push((line(below) + up * (line(above) - line(below))) as Real);
        }
    }
    Ok(field)
}

/// Grey levels from 0 to 1, row by row from the top.
struct Grey {
    width: usize,
    height: usize,
    levels: Vec<f64>,
}

fn grey(path: &Path) -> Result<Grey> {
    let mut decoder = png::Decoder::new(BufReader::new(File::open(path)?));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().context("it is not a picture in PNG format")?;
    let (width, height) = (reader.info().width, reader.info().height);
    if u64::from(width) * u64::from(height) > MOST {
        bail!("it has {width} × {height} pixels; make it smaller, the grid has far fewer nodes");
    }
    let mut bytes = vec![0; reader.output_buffer_size()];
    let info = reader.next_frame(&mut bytes).context("it is damaged; save it again")?;
    let samples = info.color_type.samples();
    // Transparency says nothing about a level.
    let colours = if samples < 3 { 1 } else { 3 };
    let pixels = bytes[..info.buffer_size()].chunks_exact(samples);
    let levels =
        pixels.map(|pixel| pixel[..colours].iter().map(|&c| f64::from(c)).sum::<f64>() / (255 * colours) as f64).collect();
    Ok(Grey { width: width as usize, height: height as usize, levels })
}
