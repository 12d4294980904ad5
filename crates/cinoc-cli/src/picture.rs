//! Fields from images.

use anyhow::{Context, Result, anyhow, bail};
use cinoc::internal::disk::picture::Picture;
use cinoc::internal::{disk, shown};
use cinoc::{Problem, Real};
use std::path::Path;

/// The most pixels of a picture, far beyond any grid.
const MOST: u64 = 1 << 26;

/// The field of a `.png` for a problem in the plane: grey levels, black 0 and white 1, interpolated to the grid. The image fills the domain,
/// with y upwards.
pub fn field(path: &Path, problem: &Problem) -> Result<Vec<Real>> {
    let place = || format!("{} cannot be used as a field", shown(path));
    let &[columns, rows] = &problem.stepper.grid().nodes[..] else {
        bail!("{}: {} is not a problem in the plane; give a .npy file", place(), problem.name);
    };
    if problem.stepper.fields() > 1 {
        bail!("{}: {} has several fields; give a .npy file", place(), problem.name);
    }
    let picture = read(path).with_context(place)?;
    let (width, height) = (picture.width, picture.height);
    let level = |x: usize, y: usize| picture.level(x, height - 1 - y);
    // The pixels around a node, and its share of the way from one to the next.
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

fn read(path: &Path) -> Result<Picture> {
    Picture::read(&disk::read(path)?, MOST).map_err(|reason| anyhow!(reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A grey picture of one pixel that says it has another size; the checksum fits.
    fn forged(width: u32, height: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, 1, 1);
        encoder.set_color(png::ColorType::Grayscale);
        encoder.write_header().and_then(|mut writer| writer.write_image_data(&[7])).expect("a picture");
        bytes[16..24].copy_from_slice(&[width.to_be_bytes(), height.to_be_bytes()].concat());
        let mut sum = flate2::Crc::new();
        sum.update(&bytes[12..29]);
        bytes[29..33].copy_from_slice(&sum.sum().to_be_bytes());
        bytes
    }

    /// A picture of one pixel of the first colour of a palette.
    fn indexed(palette: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, 1, 1);
        encoder.set_color(png::ColorType::Indexed);
        encoder.set_palette(palette.to_vec());
        encoder.write_header().and_then(|mut writer| writer.write_image_data(&[0])).expect("a picture");
        bytes
    }

    /// The decoder panics where a palette is no list of at most 256 colours.
    #[test]
    fn palettes_are_lists_of_colours() {
        for colours in [3, 6, 768] {
            assert_eq!(answer(&indexed(&vec![9; colours])), "1 × 1", "{colours}");
        }
        for wrong in [0, 1, 2, 4, 5, 767, 771, 3000] {
            let text = answer(&indexed(&vec![9; wrong]));
            assert!(text.contains("; save it again"), "{wrong}: {text}");
        }
    }

    fn answer(bytes: &[u8]) -> String {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.png");
        std::fs::write(&path, bytes).expect("written");
        read(&path).map_or_else(|error| format!("{error:#}"), |picture| format!("{} × {}", picture.width, picture.height))
    }

    /// Seventy bytes once took 67 MB, for the 8192 × 8192 pixels they claimed.
    #[test]
    fn no_memory_is_taken_for_pixels_that_are_not_there() {
        assert_eq!(answer(&forged(1, 1)), "1 × 1");
        for (width, height, expected) in
            [(8192, 8192, "bytes cannot hold 8192 × 8192 pixels; save it again"), (1 << 20, 1 << 20, "make it smaller")]
        {
            let text = answer(&forged(width, height));
            assert!(text.contains(expected), "{text}");
        }
    }
}
