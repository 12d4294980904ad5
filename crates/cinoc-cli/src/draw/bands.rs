//! Lines with bands: a mean and a range against something that is varied.

use super::axis::Axis;
use super::colour;
use super::panel::{DOT, Entry, Panel, Sign, headline, legend_column};
use super::surface::{Frame, Point, Surface, dashes};
use plotters::style::{Color, RGBColor};

const TEXT: f32 = 27.0;
const LEFT: f32 = 150.0;
const TOP: f32 = 120.0;
/// Width and height of each panel, from one to the next, and of the legend beside the last.
const PANEL: (f32, f32) = (620.0, 460.0);
const PITCH: f32 = PANEL.0 + 170.0;
const LEGEND: f32 = 430.0;

/// One panel.
pub struct Band {
    /// Name of the horizontal axis, and whether it is logarithmic.
    pub x: (String, bool),
    /// The same of the vertical one.
    pub y: (String, bool),
    /// Its lines; the same in every panel of a figure, from the first on.
    pub lines: Vec<BandLine>,
}

/// A line with its band.
pub struct BandLine {
    /// Name in the legend.
    pub name: String,
    /// True if it is dashed: published results, for comparison.
    pub dashed: bool,
    /// From left to right.
    pub points: Vec<BandPoint>,
}

/// A mean and a range.
#[derive(Clone, Copy)]
pub struct BandPoint {
    /// Horizontal position.
    pub x: f32,
    /// Lower end.
    pub low: f32,
    /// Mean.
    pub middle: f32,
    /// Upper end.
    pub high: f32,
}

/// Size of the figure in pixels.
pub fn size(bands: &[Band]) -> (u32, u32) {
    let width = LEFT + bands.len() as f32 * PITCH - (PITCH - PANEL.0) + LEGEND;
    let lines = bands.first().map_or(0, |band| band.lines.len());
    let height = PANEL.1.max(1.35 * TEXT * lines as f32);
    (width as u32, (TOP + height + 3.2 * TEXT) as u32)
}

/// The colour of a line.
fn ink(line: usize) -> RGBColor {
    colour::LINES[line % colour::LINES.len()]
}

/// Draws the whole figure.
pub fn draw(surface: &mut dyn Surface, title: &str, bands: &[Band]) {
    let (width, height) = size(bands);
    surface.rect(Frame::new(0.0, 0.0, width as f32, height as f32), colour::WHITE.to_rgba());
    headline(surface, title, (LEFT, 52.0), TEXT, width as f32 - LEFT - 40.0);
    for (column, band) in bands.iter().enumerate() {
        draw_panel(surface, band, Frame::new(LEFT + column as f32 * PITCH, TOP, PANEL.0, PANEL.1));
    }
    let Some(first) = bands.first() else { return };
    let sign = |line: &BandLine| if line.dashed { Sign::Dashes } else { Sign::Line };
    let entry = |(i, line)| {
        let line: &BandLine = line;
        Entry { name: &line.name, ink: if line.dashed { colour::BLACK } else { ink(i) }, sign: sign(line) }
    };
    let entries: Vec<Entry<'_>> = first.lines.iter().enumerate().map(entry).collect();
    legend_column(surface, (width as f32 - LEGEND + 20.0, TOP + 0.6 * TEXT), 0.92 * TEXT, &entries);
}

fn draw_panel(surface: &mut dyn Surface, band: &Band, frame: Frame) {
    let all = || band.lines.iter().flat_map(|line| &line.points);
    let ys = || all().flat_map(|point| [point.low, point.middle, point.high]);
    let axis = |log: bool, values: Vec<f32>| match log {
        true => Axis::log(values.into_iter()),
        false => Axis::covering(values.into_iter()),
    };
    let panel =
        Panel { frame, x: axis(band.x.1, all().map(|point| point.x).collect()), y: axis(band.y.1, ys().collect()), text: TEXT };
    let place = |line: &BandLine, of: &dyn Fn(&BandPoint) -> f32| -> Vec<Point> {
        line.points.iter().map(|point| panel.point(point.x, of(point))).collect()
    };
    for (i, line) in band.lines.iter().enumerate().filter(|(_, line)| !line.dashed) {
        surface.band(&place(line, &|p| p.high), &place(line, &|p| p.low), ink(i).mix(0.2));
    }
    for (i, line) in band.lines.iter().enumerate() {
        let middle = place(line, &|p| p.middle);
        if line.dashed {
            dashes(surface, &middle, TEXT / 11.0, colour::BLACK.to_rgba());
            continue;
        }
        // Earlier lines are wider, so that they are seen below later ones that coincide with them.
        let wide = 1.0 + 0.9 * (band.lines.len() - 1 - i) as f32 / band.lines.len() as f32;
        surface.stroke(&middle, wide * TEXT / 9.0, ink(i).to_rgba());
        middle.iter().for_each(|point| surface.disc(*point, 0.8 * wide * DOT * TEXT, ink(i).to_rgba()));
    }
    panel.border(surface);
    panel.x_axis(surface, &band.x.0);
    panel.y_axis(surface, &band.y.0);
}
