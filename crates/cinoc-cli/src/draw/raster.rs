//! Smooth-edged drawing into a bitmap, for PNG files and frames of GIFs.

use super::colour::Scale;
use super::font;
use super::surface::{Align, Frame, Label, Point, Surface};
use anyhow::Result;
use cinoc::internal::disk::write_whole;
use plotters::style::{Color, RGBAColor};
use std::path::Path;

/// Text is set this many times larger and averaged, so that letters keep their true spacing.
const TEXT_ZOOM: i32 = 3;

/// A bitmap in RGB.
pub struct Raster {
    /// Width and height in pixels.
    pub size: (u32, u32),
    /// Three bytes per pixel, row by row.
    pub pixels: Vec<u8>,
}

impl Raster {
    /// A white bitmap.
    pub fn new(size: (u32, u32)) -> Self {
        let pixels = vec![255; (size.0 * size.1 * 3) as usize];
        Self { size, pixels }
    }

    /// Writes the bitmap as a PNG file.
    pub fn save(&self, path: &Path) -> Result<()> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.size.0, self.size.1);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_filter(png::FilterType::Sub);
        encoder.write_header()?.write_image_data(&self.pixels)?;
        Ok(write_whole(path, &bytes)?)
    }

    fn paint(&mut self, x: i32, y: i32, ink: RGBAColor, coverage: f32) {
        let (width, height) = (self.size.0 as i32, self.size.1 as i32);
        if x < 0 || y < 0 || x >= width || y >= height {
            return;
        }
        let (r, g, b) = ink.rgb();
        let opacity = coverage.min(1.0) * ink.alpha() as f32;
        let start = (y * width + x) as usize * 3;
        for (old, new) in self.pixels[start..start + 3].iter_mut().zip([r, g, b]) {
            *old = (f32::from(*old) + (f32::from(new) - f32::from(*old)) * opacity).round() as u8;
        }
    }
}

impl Surface for Raster {
    fn rect(&mut self, frame: Frame, ink: RGBAColor) {
        for y in frame.top.round() as i32..frame.bottom.round() as i32 {
            for x in frame.left.round() as i32..frame.right.round() as i32 {
                self.paint(x, y, ink, 1.0);
            }
        }
    }

    fn stroke(&mut self, points: &[Point], width: f32, ink: RGBAColor) {
        let reach = width / 2.0 + 1.0;
        let Some(bounds) = bounds(points, reach) else { return };
        let [left, top, right, bottom] = bounds;
        let columns = (right - left + 1) as usize;
        // All segments go to one mask first: a translucent line must not darken at its joints.
        let mut mask = vec![0f32; columns * (bottom - top + 1) as usize];
        for pair in points.windows(2) {
            let Some([x0, y0, x1, y1]) = self::bounds(pair, reach) else { continue };
            for y in y0..=y1 {
                for x in x0..=x1 {
                    let away = distance((x as f32 + 0.5, y as f32 + 0.5), pair[0], pair[1]);
                    let cover = (width / 2.0 + 0.5 - away).clamp(0.0, width.min(1.0));
                    let cell = &mut mask[(y - top) as usize * columns + (x - left) as usize];
                    *cell = cell.max(cover);
                }
            }
        }
        for (index, cover) in mask.into_iter().enumerate().filter(|(_, cover)| *cover > 0.0) {
            let (x, y) = (left + (index % columns) as i32, top + (index / columns) as i32);
            self.paint(x, y, ink, cover);
        }
    }

    fn band(&mut self, upper: &[Point], lower: &[Point], ink: RGBAColor) {
        for (from, to) in upper.windows(2).zip(lower.windows(2)) {
            let (left, right) = (from[0].0, from[1].0);
            let height = |ends: &[Point], x: f32| ends[0].1 + (x - left) / (right - left) * (ends[1].1 - ends[0].1);
            for column in left.round() as i32..right.round() as i32 {
                let x = (column as f32 + 0.5).clamp(left, right);
                for row in height(from, x).round() as i32..height(to, x).round() as i32 {
                    self.paint(column, row, ink, 1.0);
                }
            }
        }
    }

    fn disc(&mut self, centre: Point, radius: f32, ink: RGBAColor) {
        let Some([x0, y0, x1, y1]) = bounds(&[centre], radius + 1.0) else { return };
        for y in y0..=y1 {
            for x in x0..=x1 {
                let away = (x as f32 + 0.5 - centre.0).hypot(y as f32 + 0.5 - centre.1);
                let cover = (radius + 0.5 - away).clamp(0.0, 1.0);
                self.paint(x, y, ink, cover);
            }
        }
    }

    fn field(&mut self, frame: Frame, scale: &Scale, value_at: &dyn Fn(f32, f32) -> f32) {
        for y in frame.top.round() as i32..frame.bottom.round() as i32 {
            let up = ((frame.bottom - y as f32 - 0.5) / frame.height()).clamp(0.0, 1.0);
            for x in frame.left.round() as i32..frame.right.round() as i32 {
                let across = ((x as f32 + 0.5 - frame.left) / frame.width()).clamp(0.0, 1.0);
                let colour = scale.colour(value_at(across, up));
                self.paint(x, y, colour.to_rgba(), 1.0);
            }
        }
    }

    fn text(&mut self, text: &str, baseline: Point, label: Label) {
        let back = match label.align {
            Align::Left => 0.0,
            Align::Centre => font::width(text, label.size) / 2.0,
            Align::Right => font::width(text, label.size),
        };
        let zoom = TEXT_ZOOM as f32;
        let (start_x, start_y) = match label.upward {
            false => (baseline.0 - back, baseline.1),
            true => (baseline.0, baseline.1 + back),
        };
        let start = ((start_x * zoom).round() as i32, (start_y * zoom).round() as i32);
        let mut mask = std::collections::BTreeMap::new();
        font::rasterise(text, label.size * zoom, |x, y, coverage| {
            let (x, y) = if label.upward { (y, -x) } else { (x, y) };
            let pixel = ((start.0 + x).div_euclid(TEXT_ZOOM), (start.1 + y).div_euclid(TEXT_ZOOM));
            *mask.entry(pixel).or_insert(0f32) += coverage / (zoom * zoom);
        });
        for ((x, y), coverage) in mask {
            self.paint(x, y, label.ink, coverage);
        }
    }
}

/// Left, top, right and bottom pixel within `reach` of the points, if these are finite.
fn bounds(points: &[Point], reach: f32) -> Option<[i32; 4]> {
    let sane = |p: &Point| p.0.abs() < 1e5 && p.1.abs() < 1e5;
    if points.is_empty() || !points.iter().all(sane) {
        return None;
    }
    let least = |axis: fn(&Point) -> f32| points.iter().map(axis).fold(f32::INFINITY, f32::min);
    let most = |axis: fn(&Point) -> f32| points.iter().map(axis).fold(-f32::INFINITY, f32::max);
    let (low, high) = ((least(|p| p.0), least(|p| p.1)), (most(|p| p.0), most(|p| p.1)));
    let down = |edge: f32| (edge - reach).floor() as i32;
    let up = |edge: f32| (edge + reach).ceil() as i32;
    Some([down(low.0), down(low.1), up(high.0), up(high.1)])
}

/// Distance of a place from the segment between two others.
fn distance(place: Point, from: Point, to: Point) -> f32 {
    let (along, offset) = ((to.0 - from.0, to.1 - from.1), (place.0 - from.0, place.1 - from.1));
    let squared = along.0 * along.0 + along.1 * along.1;
    let share = (offset.0 * along.0 + offset.1 * along.1) / squared.max(1e-12);
    let share = share.clamp(0.0, 1.0);
    (offset.0 - share * along.0).hypot(offset.1 - share * along.1)
}
