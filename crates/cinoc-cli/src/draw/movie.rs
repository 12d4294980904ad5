//! Parts of all animations: the ticks that are shown, and frames in one fixed set of colours.

use super::colour::{self, Scale, blend};
use super::raster::Raster;
use crate::out::unwritten;
use anyhow::{Context, Result};
use plotters::prelude::{BitMapBackend, DrawingBackend};
use plotters::style::RGBColor;
use std::collections::HashMap;
use std::path::Path;

/// Milliseconds that an animation lasts.
const DURATION: u32 = 5400;
const FRAMES: usize = 60;
/// Animations are for web pages: a larger one is made again with fewer frames.
const MOST_BYTES: u64 = 2_500_000;
/// Colours of text and lines: black, of the controlled curve, of the control effort; each blends into white.
const INKS: [(RGBColor, usize); 3] = [(colour::BLACK, 24), (colour::CONTROLLED, 12), (colour::EFFORT, 8)];
/// Colours of fields: all that a GIF has left. With fewer, smooth fields show bands.
const SHADES: usize = 208;
/// Repetitions of the last frame before the animation restarts.
const HOLD: usize = 5;

/// An animation in the making.
pub struct Movie<'a> {
    file: BitMapBackend<'a>,
    path: &'a Path,
    palette: Vec<RGBColor>,
    nearest: HashMap<[u8; 3], [u8; 3]>,
}

/// Reports the frames that are drawn, and their number.
pub type Progress<'a> = &'a dyn Fn(usize, usize);

/// Writes an animation with `save`, which takes the number of frames.
pub fn save_within_limit(path: &Path, save: impl Fn(usize) -> Result<()>) -> Result<()> {
    save(FRAMES)?;
    let bytes = std::fs::metadata(path).with_context(|| unwritten(path))?.len();
    if bytes <= MOST_BYTES {
        return Ok(());
    }
    let affordable = (FRAMES + HOLD) as u64 * MOST_BYTES / bytes;
    save((affordable as usize).saturating_sub(HOLD).max(12))
}

/// The ticks to show, in at most `frames` frames, of an episode whose last tick is `last`.
pub fn ticks(last: usize, frames: usize) -> Vec<usize> {
    let steps = last.clamp(1, frames - 1);
    let even = (0..=steps).map(|frame| (frame * last + steps / 2) / steps);
    even.chain(std::iter::repeat_n(last, HOLD)).collect()
}

impl<'a> Movie<'a> {
    /// Opens the file of an animation of about `frames` frames; `scale` is that of the fields, if there are any.
    pub fn create(path: &'a Path, size: (u32, u32), frames: usize, scale: Option<Scale>) -> Result<Self> {
        let file = BitMapBackend::gif(path, size, DURATION / frames as u32).with_context(|| unwritten(path))?;
        let mut palette = Vec::new();
        for (ink, shades) in INKS {
            let shade = |k: usize| blend(&[colour::WHITE, ink], k as f32 / (shades - 1) as f32);
            palette.extend((0..shades).map(shade));
        }
        if let Some(scale) = scale {
            let value = |k: usize| scale.low + (scale.high - scale.low) * k as f32 / (SHADES - 1) as f32;
            palette.extend((0..SHADES).map(|k| scale.colour(value(k))));
        }
        Ok(Self { file, path, palette, nearest: HashMap::new() })
    }

    /// Appends a frame.
    ///
    /// A GIF frame has at most 256 colours. Choosing them once for all frames keeps the
    /// encoder from choosing others in every frame, which would flicker.
    pub fn push(&mut self, frame: &Raster) -> Result<()> {
        let mut pixels = frame.pixels.clone();
        for pixel in pixels.chunks_exact_mut(3) {
            let exact = [pixel[0], pixel[1], pixel[2]];
            let palette = &self.palette;
            let snapped = *self.nearest.entry(exact).or_insert_with(|| nearest(palette, exact));
            pixel.copy_from_slice(&snapped);
        }
        self.file
            .blit_bitmap((0, 0), frame.size, &pixels)
            .and_then(|()| self.file.present())
            .with_context(|| unwritten(self.path))
    }
}

fn nearest(palette: &[RGBColor], exact: [u8; 3]) -> [u8; 3] {
    let away = |candidate: &&RGBColor| {
        let parts = [candidate.0, candidate.1, candidate.2];
        let squares = parts.into_iter().zip(exact).map(|(a, b)| i32::from(a.abs_diff(b)).pow(2));
        squares.sum::<i32>()
    };
    palette.iter().min_by_key(away).map_or(exact, |best| [best.0, best.1, best.2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn movie_shows_both_ends_of_long_and_short_episodes() {
        assert_eq!(ticks(1, FRAMES)[..2], [0, 1]);
        let long = ticks(1000, FRAMES);
        assert_eq!((long[0], long.len(), long[59]), (0, FRAMES + HOLD, 1000));
    }
}
