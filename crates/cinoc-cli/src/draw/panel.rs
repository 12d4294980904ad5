//! Parts of a figure: a framed panel with axes, a heat map's colour bar, a legend.

use super::Clock;
use super::axis::Axis;
use super::colour::{self, Scale};
use super::font;
use super::surface::{Align, Frame, Label, Point, Surface, dashes};
use plotters::style::{Color, RGBColor};

/// Distance from the middle of a digit or small letter down to its baseline, in em.
pub const HALF_LETTER: f32 = 0.36;

/// Radius of a single point, in em.
pub const DOT: f32 = 0.28;

/// A framed drawing with an axis on each side; all its sizes follow from `text`.
pub struct Panel {
    /// Frame of the drawing; numbers and names are outside of it.
    pub frame: Frame,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// Font size in pixels.
    pub text: f32,
}

impl Panel {
    /// Returns the point at which the values (x, y) are drawn.
    pub fn point(&self, x: f32, y: f32) -> Point {
        self.frame.at(self.x.place(x), self.y.place(y))
    }

    /// Width of the thinnest lines.
    pub fn hair(&self) -> f32 {
        hair(self.text)
    }

    /// Writes the title above the frame.
    pub fn title(&self, surface: &mut dyn Surface, title: &str) {
        let place = (self.frame.left, self.frame.top - 0.6 * self.text);
        surface.text(title, place, Label::new(1.04 * self.text, Align::Left));
    }

    /// Draws the frame itself.
    pub fn border(&self, surface: &mut dyn Surface) {
        border(surface, self.frame, self.text);
    }

    /// Marks the moment when control is switched on, on an axis of time that begins earlier.
    pub fn switch(&self, surface: &mut dyn Surface, clock: Clock) {
        if clock.before > 0 {
            let (x, _) = self.point(clock.time(clock.before as f32), 0.0);
            let line = [(x, self.frame.top), (x, self.frame.bottom)].map(crisp);
            dashes(surface, &line, self.text / 11.0, colour::BLACK.to_rgba());
        }
    }

    /// Marks the tick whose field is scored.
    pub fn scored(&self, surface: &mut dyn Surface, clock: Clock) {
        let Some(tick) = clock.scored else { return };
        let (x, _) = self.point(clock.time(tick as f32), 0.0);
        let line = [(x, self.frame.top), (x, self.frame.bottom)].map(crisp);
        dashes(surface, &line, self.text / 14.0, colour::EFFORT.to_rgba());
        let place = (x + 0.3 * self.text, self.frame.top + 0.95 * self.text);
        surface.text("scored", place, Label { ink: colour::EFFORT.to_rgba(), ..Label::new(0.85 * self.text, Align::Left) });
    }

    /// Draws ticks, numbers and name of the horizontal axis.
    pub fn x_axis(&self, surface: &mut dyn Surface, name: &str) {
        for (share, label) in self.x.ticks(4) {
            let (x, y) = self.frame.at(share, 0.0);
            let length = if label.is_some() { 0.3 } else { 0.16 };
            let ink = colour::AXIS.to_rgba();
            let mark = [(x, y), (x, y + length * self.text)].map(crisp);
            surface.stroke(&mark, self.hair(), ink);
            let style = Label::new(self.text, Align::Centre);
            surface.text(&label.unwrap_or_default(), (x, y + 1.25 * self.text), style);
        }
        let (x, y) = self.frame.at(0.5, 0.0);
        let style = Label::new(self.text, Align::Centre);
        surface.text(name, (x, y + 2.45 * self.text), style);
    }

    /// Draws ticks, numbers and name of the vertical axis.
    pub fn y_axis(&self, surface: &mut dyn Surface, name: &str) {
        let mut widest = 0f32;
        for (share, label) in self.y.ticks(4) {
            let (x, y) = self.frame.at(0.0, share);
            let length = if label.is_some() { 0.3 } else { 0.16 };
            let ink = colour::AXIS.to_rgba();
            let mark = [(x, y), (x - length * self.text, y)].map(crisp);
            surface.stroke(&mark, self.hair(), ink);
            let label = label.unwrap_or_default();
            widest = widest.max(font::width(&label, self.text));
            let place = (x - 0.45 * self.text, y + HALF_LETTER * self.text);
            surface.text(&label, place, Label::new(self.text, Align::Right));
        }
        let (x, y) = self.frame.at(0.0, 0.5);
        let style = Label::new(self.text, Align::Centre).upward();
        surface.text(name, (x - widest - 1.05 * self.text, y), style);
    }
}

/// Width of the thinnest lines beside a text of this size.
fn hair(text: f32) -> f32 {
    (text / 18.0).max(1.0)
}

/// Moves a place to the middle of its pixel, where thin straight lines are sharp.
fn crisp((x, y): Point) -> Point {
    (x.floor() + 0.5, y.floor() + 0.5)
}

/// Writes the headline of a figure, smaller if it would not fit into the `room` in pixels.
pub fn headline(surface: &mut dyn Surface, title: &str, place: Point, text: f32, room: f32) {
    let size = 1.2 * text;
    let shrink = (room / font::width(title, size).max(1.0)).min(1.0);
    surface.text(title, place, Label::new(shrink * size, Align::Left));
}

/// Draws a thin grey frame that suits a text of this size.
pub fn border(surface: &mut dyn Surface, frame: Frame, text: f32) {
    let corners = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0), (0.0, 0.0)];
    let corners = corners.map(|(across, up)| crisp(frame.at(across, up)));
    surface.stroke(&corners, hair(text), colour::AXIS.to_rgba());
}

/// Width of the name of a colour bar, in em.
const NAME: f32 = 8.0;

/// Draws a colour bar with its numbers to the right and its name above, smaller if it is long.
pub fn colour_bar(surface: &mut dyn Surface, frame: Frame, scale: &Scale, text: f32, name: &str) {
    if !name.is_empty() {
        let size = text * (NAME * text / font::width(name, text).max(1.0)).min(1.0);
        surface.text(name, (frame.at(0.5, 1.0).0, frame.top - 0.6 * text), Label::new(size, Align::Centre));
    }
    surface.field(frame, scale, &|_, up| scale.low + up * (scale.high - scale.low));
    border(surface, frame, text);
    for (share, label) in Axis::linear(scale.low, scale.high).ticks(5) {
        let (x, y) = frame.at(1.0, share);
        let mark = [(x, y), (x + 0.25 * text, y)].map(crisp);
        surface.stroke(&mark, hair(text), colour::AXIS.to_rgba());
        let place = (x + 0.45 * text, y + HALF_LETTER * text);
        let style = Label::new(text, Align::Left);
        surface.text(&label.unwrap_or_default(), place, style);
    }
}

/// One entry of a legend.
#[derive(Clone, Copy)]
pub struct Entry<'a> {
    /// Text of the entry.
    pub name: &'a str,
    /// Its colour.
    pub ink: RGBColor,
    /// Its symbol.
    pub sign: Sign,
}

/// Symbol of an entry in a legend.
#[derive(Clone, Copy)]
pub enum Sign {
    /// A line.
    Line,
    /// A dashed line.
    Dashes,
    /// Single points.
    Dot,
}

/// Draws a legend at that place of the frame where it hides the fewest of the `busy` points; corners first.
pub fn legend(surface: &mut dyn Surface, frame: Frame, text: f32, entries: &[Entry<'_>], busy: &[Point]) {
    let names = entries.iter().map(|entry| font::width(entry.name, text));
    let width = names.fold(0.0, f32::max) + 2.9 * text;
    let height = (1.35 * entries.len() as f32 + 0.35) * text;
    let inset = 0.35 * text;
    let (left, right) = (frame.left + inset, frame.right - width - inset);
    let (high, low) = (frame.top + inset, frame.bottom - height - inset);
    let heights = [0.0, 1.0, 0.5, 0.25, 0.75].map(|part| high + part * (low - high));
    let boxes = [right, left, 0.5 * (left + right)].into_iter().flat_map(|x| heights.map(|y| Frame::new(x, y, width, height)));
    let hidden = |area: &Frame| {
        let inside = |p: &&Point| p.0 > area.left && p.0 < area.right && p.1 > area.top && p.1 < area.bottom;
        busy.iter().filter(inside).count()
    };
    let Some(area) = boxes.min_by_key(hidden) else { return };
    surface.rect(area, colour::WHITE.mix(0.8));
    for (row, entry) in entries.iter().enumerate() {
        let y = area.top + (1.35 * row as f32 + 0.85) * text;
        legend_entry(surface, (area.left + 0.3 * text, y), text, entry);
    }
}

/// Draws a legend in one line above the frame.
pub fn legend_row(surface: &mut dyn Surface, frame: Frame, text: f32, entries: &[Entry<'_>]) {
    let mut left = frame.left;
    for entry in entries {
        legend_entry(surface, (left, frame.top - 0.95 * text), text, entry);
        left += font::width(entry.name, text) + 3.3 * text;
    }
}

/// Draws a legend as a column whose upper left corner is at a place.
pub fn legend_column(surface: &mut dyn Surface, (x, y): Point, text: f32, entries: &[Entry<'_>]) {
    for (row, entry) in entries.iter().enumerate() {
        legend_entry(surface, (x, y + 1.35 * row as f32 * text), text, entry);
    }
}

fn legend_entry(surface: &mut dyn Surface, (x, y): Point, text: f32, entry: &Entry<'_>) {
    let sample = [(x, y), (x + 1.8 * text, y)];
    let (thick, ink) = (text / 8.0, entry.ink.to_rgba());
    match entry.sign {
        Sign::Line => surface.stroke(&sample, thick, ink),
        Sign::Dashes => dashes(surface, &sample, thick, ink),
        Sign::Dot => surface.disc((x + 0.9 * text, y), DOT * text, ink),
    }
    let place = (x + 2.2 * text, y + HALF_LETTER * text);
    surface.text(entry.name, place, Label::new(text, Align::Left));
}
