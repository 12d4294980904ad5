//! Drawing into an SVG document.

use super::colour::Scale;
use super::font;
use super::surface::{Align, Frame, Label, Point, Surface};
use anyhow::{Context, Result, anyhow};
use cinoc::internal::disk::write_whole;
use plotters::prelude::{DrawingBackend, SVGBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontTransform, RGBAColor, ShapeStyle, TextStyle};
use std::path::Path;

/// Plotters' coordinates are whole numbers; counting in quarters of a pixel keeps curves smooth.
const FINE: f32 = 4.0;
/// Fields become squares of this many pixels, in few colours so that neighbours can be merged.
const CELL: f32 = 4.0;
const LEVELS: usize = 64;

/// An SVG document in the making.
pub struct Vector<'a> {
    backend: SVGBackend<'a>,
    failure: Option<String>,
}

/// Draws with `figure` on a document of this size in pixels and writes it to `path`.
pub fn save(size: (u32, u32), path: &Path, figure: impl FnOnce(&mut Vector<'_>)) -> Result<()> {
    let mut document = String::new();
    let fine = (size.0 * FINE as u32, size.1 * FINE as u32);
    let mut vector = Vector { backend: SVGBackend::with_string(&mut document, fine), failure: None };
    figure(&mut vector);
    vector.backend.present().context("cannot finish the SVG")?;
    if let Some(failure) = vector.failure.take() {
        return Err(anyhow!("cannot draw the SVG: {failure}"));
    }
    drop(vector);
    let extent = |(width, height)| format!("width=\"{width}\" height=\"{height}\"");
    let document = document.replacen(&extent(fine), &extent(size), 1);
    Ok(write_whole(path, document.as_bytes())?)
}

impl Vector<'_> {
    /// Remembers the first failure, so that figures need not check every stroke.
    fn note<E: std::fmt::Display>(&mut self, result: Result<(), E>) {
        if let (Err(error), None) = (result, &self.failure) {
            self.failure = Some(error.to_string());
        }
    }
}

fn fine(point: Point) -> (i32, i32) {
    ((point.0 * FINE).round() as i32, (point.1 * FINE).round() as i32)
}

impl Surface for Vector<'_> {
    fn rect(&mut self, frame: Frame, ink: RGBAColor) {
        let (from, to) = (fine((frame.left, frame.top)), fine((frame.right, frame.bottom)));
        let done = self.backend.draw_rect(from, to, &ink, true);
        self.note(done);
    }

    fn stroke(&mut self, points: &[Point], width: f32, ink: RGBAColor) {
        let stroke_width = (width * FINE).round().max(1.0) as u32;
        let style = ShapeStyle { color: ink, filled: false, stroke_width };
        let mut path: Vec<_> = points.iter().copied().map(fine).collect();
        path.dedup();
        let done = self.backend.draw_path(path, &style);
        self.note(done);
    }

    fn band(&mut self, upper: &[Point], lower: &[Point], ink: RGBAColor) {
        let around: Vec<_> = upper.iter().chain(lower.iter().rev()).copied().map(fine).collect();
        let done = self.backend.fill_polygon(around, &ink);
        self.note(done);
    }

    fn disc(&mut self, centre: Point, radius: f32, ink: RGBAColor) {
        let radius = (radius * FINE).round() as u32;
        let done = self.backend.draw_circle(fine(centre), radius, &ink, true);
        self.note(done);
    }

    fn field(&mut self, frame: Frame, scale: &Scale, value_at: &dyn Fn(f32, f32) -> f32) {
        let columns = (frame.width() / CELL).ceil().max(1.0) as usize;
        let rows = (frame.height() / CELL).ceil().max(1.0) as usize;
        let x = |column: usize| frame.left + frame.width() * column as f32 / columns as f32;
        let y = |row: usize| frame.top + frame.height() * row as f32 / rows as f32;
        for row in 0..rows {
            let up = 1.0 - (row as f32 + 0.5) / rows as f32;
            let colour_of = |column: usize| {
                let value = value_at((column as f32 + 0.5) / columns as f32, up);
                scale.colour(scale.rounded(value, LEVELS))
            };
            let mut start = 0;
            while start < columns {
                let colour = colour_of(start);
                let more = (start + 1..columns).take_while(|c| colour_of(*c) == colour);
                let end = start + 1 + more.count();
                // One cell further than needed: the next squares cover it, and no seam shows.
                let (right, bottom) = (x((end + 1).min(columns)), y((row + 2).min(rows)));
                let (left, top) = (x(start), y(row));
                self.rect(Frame { left, top, right, bottom }, colour.to_rgba());
                start = end;
            }
        }
    }

    fn text(&mut self, text: &str, baseline: Point, label: Label) {
        let across = match label.align {
            Align::Left => HPos::Left,
            Align::Centre => HPos::Center,
            Align::Right => HPos::Right,
        };
        // The backend divides sizes by 1.24, and sets "top" texts 0.76 em above the baseline.
        let rise = 0.76 * label.size;
        let (place, turn) = match label.upward {
            false => ((baseline.0, baseline.1 - rise), FontTransform::None),
            true => ((baseline.0 - rise, baseline.1), FontTransform::Rotate270),
        };
        let style = TextStyle::from((font::FAMILY, label.size * FINE * 1.24))
            .color(&label.ink)
            .pos(Pos::new(across, VPos::Top))
            .transform(turn);
        let done = self.backend.draw_text(text, &style, fine(place));
        self.note(done);
    }
}
