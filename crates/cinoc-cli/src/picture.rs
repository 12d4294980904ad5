//! Fields from images.

use anyhow::{Context, Result, bail};
use cinoc::internal::shown;
use cinoc::internal::{budget, disk};
use cinoc::{Problem, Real};
use std::io::BufReader;
use std::path::Path;

/// The most pixels of a picture, far beyond any grid.
const MOST: u64 = 1 << 26;

/// The most bytes that a byte of a packed image unpacks to: Deflate writes 258 of them in two bits.
const UNPACKED: u64 = 1032;

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
    let picture = Picture::read(path).with_context(place)?;
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

/// A picture in eight bits per colour, row by row from the top.
struct Picture {
    width: usize,
    height: usize,
    /// Colours of a pixel, transparency included.
    samples: usize,
    bytes: Vec<u8>,
}

impl Picture {
    fn read(path: &Path) -> Result<Self> {
        let file = disk::open(path)?;
        let length = file.metadata()?.len();
        let mut decoder = png::Decoder::new(BufReader::new(file));
        decoder.set_transformations(png::Transformations::normalize_to_color8());
        // Packed texts and profiles say nothing about a level.
        decoder.set_ignore_text_chunk(true);
        decoder.set_ignore_iccp_chunk(true);
        let mut reader = decoder.read_info().context("it is not a picture in PNG format; save it again")?;
        let (width, height) = (reader.info().width, reader.info().height);
        if u64::from(width) * u64::from(height) > MOST {
            bail!("it has {width} × {height} pixels; make it smaller, the grid has far fewer nodes");
        }
        if reader.info().raw_bytes() as u64 > UNPACKED * length {
            bail!("it is damaged: {length} bytes cannot hold {width} × {height} pixels; save it again");
        }
        // The decoder takes it for granted.
        if reader.info().palette.as_ref().is_some_and(|palette| palette.len() % 3 != 0 || !(3..=768).contains(&palette.len())) {
            bail!("it is damaged: its palette is no list of colours; save it again");
        }
        budget::check(&format!("the picture {}", shown(path)), reader.output_buffer_size() as f64)?;
        let mut bytes = vec![0; reader.output_buffer_size()];
        // The first picture of an animation may be smaller than the file says.
        let info = reader.next_frame(&mut bytes).context("it is damaged; save it again")?;
        bytes.truncate(info.buffer_size());
        Ok(Self { width: info.width as usize, height: info.height as usize, samples: info.color_type.samples(), bytes })
    }

    /// The grey level of a pixel, from 0 to 1.
    fn level(&self, x: usize, y: usize) -> f64 {
        // Transparency says nothing about a level.
        let colours = if self.samples < 3 { 1 } else { 3 };
        let pixel = &self.bytes[(y * self.width + x) * self.samples..][..colours];
        pixel.iter().map(|&c| f64::from(c)).sum::<f64>() / (255 * colours) as f64
    }
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
        Picture::read(&path)
            .map_or_else(|error| format!("{error:#}"), |picture| format!("{} × {}", picture.width, picture.height))
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
