//! Drawing surfaces: the same few shapes for bitmaps and for SVG.

use super::colour::{self, Scale};
use plotters::style::{Color, RGBAColor};

/// A place in pixels, from the upper left corner.
pub type Point = (f32, f32);

/// An upright rectangle in pixels.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Left edge.
    pub left: f32,
    /// Upper edge.
    pub top: f32,
    /// Right edge.
    pub right: f32,
    /// Lower edge.
    pub bottom: f32,
}

impl Frame {
    /// The frame with this corner and size.
    pub fn new(left: f32, top: f32, width: f32, height: f32) -> Self {
        let (right, bottom) = (left + width, top + height);
        Self { left, top, right, bottom }
    }

    /// Width in pixels.
    pub fn width(&self) -> f32 {
        self.right - self.left
    }

    /// Height in pixels.
    pub fn height(&self) -> f32 {
        self.bottom - self.top
    }

    /// The place at these shares of the width (from the left) and height (from the bottom).
    pub fn at(&self, across: f32, up: f32) -> Point {
        (self.left + across * self.width(), self.bottom - up * self.height())
    }
}

/// Which end of a text its given place fixes.
#[derive(Clone, Copy, Debug)]
pub enum Align {
    /// The text starts there.
    Left,
    /// The text is centred there.
    Centre,
    /// The text ends there.
    Right,
}

/// Size, alignment, direction and colour of a text.
#[derive(Clone, Copy, Debug)]
pub struct Label {
    /// Font size in pixels per em.
    pub size: f32,
    /// Which end is fixed.
    pub align: Align,
    /// True if it runs upwards.
    pub upward: bool,
    /// Its colour.
    pub ink: RGBAColor,
}

impl Label {
    /// A black horizontal text.
    pub fn new(size: f32, align: Align) -> Self {
        let ink = colour::BLACK.to_rgba();
        Self { size, align, upward: false, ink }
    }

    /// The same, running upwards.
    pub fn upward(self) -> Self {
        Self { upward: true, ..self }
    }
}

/// Something to draw on.
pub trait Surface {
    /// Fills a rectangle.
    fn rect(&mut self, frame: Frame, ink: RGBAColor);
    /// Draws a line through `points`, evenly inked even where it crosses itself.
    fn stroke(&mut self, points: &[Point], width: f32, ink: RGBAColor);
    /// Fills what is between two lines over the same horizontal places, from left to right.
    fn band(&mut self, upper: &[Point], lower: &[Point], ink: RGBAColor);
    /// Fills a disc.
    fn disc(&mut self, centre: Point, radius: f32, ink: RGBAColor);
    /// Paints a field whose value is given at shares (across, up) of the frame.
    fn field(&mut self, frame: Frame, scale: &Scale, value_at: &dyn Fn(f32, f32) -> f32);
    /// Writes a text whose baseline is fixed at a place.
    fn text(&mut self, text: &str, baseline: Point, label: Label);
}

/// Draws a dashed line through `points`.
pub fn dashes(surface: &mut dyn Surface, points: &[Point], width: f32, ink: RGBAColor) {
    let (dash, gap) = (4.0 * width, 2.5 * width);
    let mut visible = true;
    let mut left_over = dash;
    let mut piece: Vec<Point> = points.first().copied().into_iter().collect();
    for pair in points.windows(2) {
        let (mut from, to) = (pair[0], pair[1]);
        let mut length = (to.0 - from.0).hypot(to.1 - from.1);
        while length > left_over {
            let share = left_over / length;
            from = (from.0 + share * (to.0 - from.0), from.1 + share * (to.1 - from.1));
            length -= left_over;
            piece.push(from);
            if visible {
                surface.stroke(&piece, width, ink);
            }
            visible = !visible;
            left_over = if visible { dash } else { gap };
            piece = vec![from];
        }
        left_over -= length;
        piece.push(to);
    }
    if visible && piece.len() > 1 {
        surface.stroke(&piece, width, ink);
    }
}
