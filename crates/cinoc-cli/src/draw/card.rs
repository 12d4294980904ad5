//! A card: one row per case, with a mean, its range over policies, and the worst instance.

use super::axis::Axis;
use super::colour;
use super::font;
use super::panel::{DOT, Entry, HALF_LETTER, Panel, Sign, headline, legend_row};
use super::surface::{Align, Frame, Label, Surface, dashes};
use plotters::style::Color;

const TEXT: f32 = 25.0;
const TOP: f32 = 130.0;
const WIDTH: f32 = 760.0;
const ROW: f32 = 1.45 * TEXT;

/// One row.
pub struct CardRow {
    /// Its name.
    pub name: String,
    /// Lowest, mean and highest over policies.
    pub values: [f32; 3],
    /// The 95th percentile of the instances, and the worst one; the largest over policies.
    pub tail: [f32; 2],
}

/// Width of the names in pixels.
fn names(rows: &[CardRow]) -> f32 {
    rows.iter().map(|row| font::width(&row.name, TEXT)).fold(0.0, f32::max) + 1.6 * TEXT
}

/// Size of the figure in pixels.
pub fn size(rows: &[CardRow]) -> (u32, u32) {
    ((names(rows) + WIDTH + 50.0) as u32, (TOP + ROW * rows.len() as f32 + 3.4 * TEXT) as u32)
}

/// Draws the whole figure; the first row is what the others are compared with.
pub fn draw(surface: &mut dyn Surface, title: &str, axis: &str, rows: &[CardRow]) {
    let (width, height) = size(rows);
    surface.rect(Frame::new(0.0, 0.0, width as f32, height as f32), colour::WHITE.to_rgba());
    headline(surface, title, (0.8 * TEXT, 48.0), TEXT, width as f32 - 1.6 * TEXT);
    let frame = Frame::new(names(rows), TOP, WIDTH, ROW * rows.len() as f32);
    let all = rows.iter().flat_map(|row| row.values.into_iter().chain(row.tail)).filter(|x| x.is_finite() && *x > 0.0);
    let panel = Panel { frame, x: Axis::log(all.collect::<Vec<_>>().into_iter()), y: Axis::linear(0.0, 1.0), text: TEXT };
    let middle = |row: usize| frame.top + (row as f32 + 0.5) * ROW;
    for row in (1..rows.len()).step_by(2) {
        surface.rect(Frame::new(0.0, middle(row) - 0.5 * ROW, frame.right, ROW), colour::AXIS.mix(0.07));
    }
    if let Some(first) = rows.first() {
        let (x, _) = panel.point(first.values[1], 0.0);
        dashes(surface, &[(x, frame.top), (x, frame.bottom)], TEXT / 16.0, colour::AXIS.to_rgba());
    }
    let (mean, tail) = (colour::LINES[0], colour::LINES[1]);
    for (i, row) in rows.iter().enumerate() {
        let (y, at) = (middle(i), |x: f32| panel.point(x, 0.0).0);
        surface.text(&row.name, (frame.left - 0.6 * TEXT, y + HALF_LETTER * TEXT), Label::new(TEXT, Align::Right));
        if !row.values.iter().all(|x| x.is_finite()) {
            let ink = colour::LINES[1].to_rgba();
            surface.text(
                "diverged",
                (frame.right - 0.6 * TEXT, y + HALF_LETTER * TEXT),
                Label { ink, ..Label::new(TEXT, Align::Right) },
            );
            continue;
        }
        if row.tail.iter().all(|x| x.is_finite()) {
            surface.stroke(&[(at(row.values[1]), y), (at(row.tail[1]), y)], TEXT / 14.0, tail.mix(0.55));
            surface.disc((at(row.tail[0]), y), 0.6 * DOT * TEXT, tail.to_rgba());
            surface.stroke(&[(at(row.tail[1]), y - 0.3 * TEXT), (at(row.tail[1]), y + 0.3 * TEXT)], TEXT / 10.0, tail.to_rgba());
        }
        surface.stroke(&[(at(row.values[0]), y), (at(row.values[2]), y)], TEXT / 4.0, mean.mix(0.4));
        surface.disc((at(row.values[1]), y), DOT * TEXT, mean.to_rgba());
    }
    panel.border(surface);
    panel.x_axis(surface, axis);
    let entries = [
        Entry { name: "mean", ink: mean, sign: Sign::Dot },
        Entry { name: "95th percentile and worst instance", ink: tail, sign: Sign::Line },
    ];
    legend_row(surface, frame, 0.92 * TEXT, &entries);
}
