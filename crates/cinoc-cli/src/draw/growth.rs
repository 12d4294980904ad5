//! Growth of a quantity with a size: measured points and a formula, on two logarithmic axes.

use super::axis::Axis;
use super::colour;
use super::panel::{DOT, Entry, Panel, Sign, headline, legend};
use super::surface::{Frame, Point, Surface, dashes};
use plotters::style::Color;

const TEXT: f32 = 27.0;
const LEFT: f32 = 140.0;
const TOP: f32 = 130.0;
/// Width and height of each panel, and from one to the next.
const PANEL: (f32, f32) = (640.0, 430.0);
const PITCH: f32 = PANEL.0 + 150.0;

/// Something against sizes.
#[derive(Clone, Debug)]
pub struct Growth {
    /// Quantities held constant.
    pub title: String,
    /// Label of the size that grows.
    pub axis: &'static str,
    /// Label of the measured quantity.
    pub measure: &'static str,
    /// Sizes and what was measured.
    pub measured: Vec<(f32, f32)>,
    /// The same along the formula.
    pub fit: Vec<(f32, f32)>,
    /// The formula.
    pub formula: String,
}

/// Size of the figure in pixels.
pub fn size(growths: &[Growth]) -> (u32, u32) {
    let width = LEFT + growths.len() as f32 * PITCH - (PITCH - PANEL.0) + 40.0;
    (width as u32, (TOP + PANEL.1 + 3.2 * TEXT) as u32)
}

/// Draws the whole figure.
pub fn draw(surface: &mut dyn Surface, title: &str, growths: &[Growth]) {
    let (width, height) = size(growths);
    surface.rect(Frame::new(0.0, 0.0, width as f32, height as f32), colour::WHITE.to_rgba());
    headline(surface, title, (LEFT, 52.0), TEXT, width as f32 - LEFT - 40.0);
    for (column, growth) in growths.iter().enumerate() {
        let both = || growth.measured.iter().chain(&growth.fit);
        let panel = Panel {
            frame: Frame::new(LEFT + column as f32 * PITCH, TOP, PANEL.0, PANEL.1),
            x: Axis::log(both().map(|point| point.0)),
            y: Axis::log(both().map(|point| point.1)),
            text: TEXT,
        };
        panel.title(surface, &growth.title);
        let place = |points: &[(f32, f32)]| points.iter().map(|(x, y)| panel.point(*x, *y)).collect::<Vec<Point>>();
        let (measured, fit) = (place(&growth.measured), place(&growth.fit));
        dashes(surface, &fit, TEXT / 9.0, colour::BLACK.to_rgba());
        for point in &measured {
            surface.disc(*point, (DOT + 0.08) * TEXT, colour::WHITE.to_rgba());
            surface.disc(*point, DOT * TEXT, colour::CONTROLLED.to_rgba());
        }
        let entry = |name, ink, sign| Entry { name, ink, sign };
        let entries = [entry("measured", colour::CONTROLLED, Sign::Dot), entry(&growth.formula, colour::BLACK, Sign::Dashes)];
        legend(surface, panel.frame, 0.92 * TEXT, &entries, &[measured, fit].concat());
        panel.border(surface);
        panel.x_axis(surface, growth.axis);
        panel.y_axis(surface, growth.measure);
    }
}
