//! What all animations share: which ticks are shown, and frames in one fixed set of colours.

use super::colour::{self, Scale, blend};
use super::raster::Raster;
use anyhow::{Context, Result};
use plotters::prelude::{BitMapBackend, DrawingBackend};
use plotters::style::RGBColor;
use std::collections::HashMap;
use std::path::Path;

/// Milliseconds per frame.
const DELAY: u32 = 90;
const FRAMES: usize = 60;
/// Colours for fields: more would look no smoother but make larger files.
const SHADES: usize = 48;
/// How often the last frame is shown again before the animation restarts.
const HOLD: usize = 5;

/// An animation in the making.
pub struct Movie<'a> {
    file: BitMapBackend<'a>,
    path: &'a Path,
    palette: Vec<RGBColor>,
    nearest: HashMap<[u8; 3], [u8; 3]>,
}

/// The ticks to show of an episode whose last tick is `last`.
pub fn ticks(last: usize) -> Vec<usize> {
    let steps = last.clamp(1, FRAMES - 1);
    let even = (0..=steps).map(|frame| (frame * last + steps / 2) / steps);
    even.chain(std::iter::repeat_n(last, HOLD)).collect()
}

impl<'a> Movie<'a> {
    /// Opens the file; `scale` is that of the fields, if there will be any.
    pub fn create(path: &'a Path, size: (u32, u32), scale: Option<Scale>) -> Result<Self> {
        let file = BitMapBackend::gif(path, size, DELAY).with_context(|| format!("cannot write {}", path.display()))?;
        let mut palette = Vec::new();
        let inks = [colour::BLACK, colour::CONTROLLED, colour::EFFORT];
        for (ink, shades) in inks.into_iter().zip([48, 24, 12]) {
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
            .with_context(|| format!("cannot write {}", self.path.display()))
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
        assert_eq!(ticks(1)[..2], [0, 1]);
        let long = ticks(1000);
        assert_eq!((long[0], long.len(), long[59]), (0, FRAMES + HOLD, 1000));
    }
}
