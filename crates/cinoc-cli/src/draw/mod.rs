//! Figures and animations of controlled episodes: PNG, SVG and GIF without external programs.

mod axis;
mod check;
mod colour;
mod contour;
mod curves;
mod font;
mod growth;
mod movie;
mod movie1d;
mod movie2d;
mod panel;
mod plane;
mod raster;
mod rows;
mod spacetime;
mod surface;
mod vector;

#[cfg(test)]
mod tests;

pub use cinoc::task::Reading;
pub use growth::Growth;

use anyhow::{Result, bail};
use std::path::Path;

/// When ticks are.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// Time between two ticks.
    pub tick: f32,
    /// Ticks before control is switched on, at time 0.
    pub before: usize,
}

impl Clock {
    /// The time of a tick, or of a moment between two.
    pub fn time(self, tick: f32) -> f32 {
        (tick - self.before as f32) * self.tick
    }

    /// An axis from the first tick to the `last`.
    fn axis(self, last: usize) -> axis::Axis {
        axis::Axis::linear(self.time(0.0), self.time(last as f32))
    }

    /// The time of a tick in words, of an episode with so many.
    fn words(self, tick: usize, last: usize) -> String {
        format!("t = {}", axis::number(self.time(tick as f32), last as f32 * self.tick / 100.0))
    }
}

/// One controlled episode in one space dimension, ready to be drawn.
///
/// The values of a field lie at x = i·length/N on a periodic domain,
/// and evenly from 0 to length (both included) on any other.
#[derive(Clone, Debug)]
pub struct Episode1d {
    /// Headline of the figure.
    pub title: String,
    /// What is drawn against time.
    pub measure: Reading,
    /// The domain is [0, length].
    pub length: f32,
    /// Time between two ticks, and which tick is at time 0.
    pub clock: Clock,
    /// Whether the two ends of the domain are the same place.
    pub periodic: bool,
    /// Target field, `[N]`.
    pub target: Vec<f32>,
    /// Field without control, `[T+1][N]`.
    pub uncontrolled: Vec<Vec<f32>>,
    /// Field under control, `[T+1][N]`.
    pub controlled: Vec<Vec<f32>>,
    /// Positions of the agents, `[T+1][M]`.
    pub xi: Vec<Vec<f32>>,
    /// Which agents are alive, `[T+1][M]`.
    pub alive: Vec<Vec<bool>>,
    /// Controls, `[T][M]`.
    pub u: Vec<Vec<f32>>,
    /// Velocities, `[T][M]`; rows are empty when agents do not move.
    pub v: Vec<Vec<f32>>,
}

/// One controlled episode in two space dimensions, ready to be drawn.
///
/// The values of a field lie at i·length/N along each axis of a periodic domain,
/// and evenly from 0 to the length (both included) on any other.
#[derive(Clone, Debug)]
pub struct Episode2d {
    /// Headline of the figure.
    pub title: String,
    /// What is drawn against time.
    pub measure: Reading,
    /// The domain is [0, lengths\[0\]] × [0, lengths\[1\]].
    pub lengths: [f32; 2],
    /// Values of a field along x and along y; fields are row-major, `[x][y]`.
    pub shape: [usize; 2],
    /// Whether opposite edges of the domain are the same place.
    pub periodic: bool,
    /// Time between two ticks, and which tick is at time 0.
    pub clock: Clock,
    /// Target field, `[X*Y]`.
    pub target: Vec<f32>,
    /// Field without control, `[T+1][X*Y]`.
    pub uncontrolled: Vec<Vec<f32>>,
    /// Field under control, `[T+1][X*Y]`.
    pub controlled: Vec<Vec<f32>>,
    /// Positions of the agents, `[T+1][M]`.
    pub xi: Vec<Vec<[f32; 2]>>,
    /// Which agents are alive, `[T+1][M]`.
    pub alive: Vec<Vec<bool>>,
    /// Controls, `[T][M]`.
    pub u: Vec<Vec<f32>>,
    /// Velocities, `[T][M]`; rows are empty when agents do not move.
    pub v: Vec<Vec<[f32; 2]>>,
    /// Discs (x, y, radius) that agents cannot enter.
    pub obstacles: Vec<[f32; 3]>,
}

/// A controlled episode on a line or in the plane.
#[derive(Clone, Debug)]
pub enum Episode {
    /// One space dimension.
    Line(Episode1d),
    /// Two space dimensions.
    Plane(Episode2d),
}

/// Draws the episode into a file; its extension decides how: a figure (`.png`, `.svg`)
/// or an animation (`.gif`).
pub fn draw(episode: &Episode, path: &Path) -> Result<()> {
    check::shapes(episode)?;
    font::register()?;
    match (extension(path).as_str(), episode) {
        ("png" | "svg", Episode::Line(line)) => save(spacetime::SIZE, path, |surface| spacetime::draw(surface, line)),
        ("png" | "svg", Episode::Plane(plane)) => save(rows::size(plane), path, |surface| rows::draw(surface, plane)),
        ("gif", Episode::Line(line)) => movie1d::save(line, path),
        ("gif", Episode::Plane(plane)) => movie2d::save(plane, path),
        _ => bail!("cannot draw {}: the extension must be .png or .svg (a figure) or .gif (an animation)", path.display()),
    }
}

/// Draws how something grows with sizes into a `.png` or `.svg` file.
pub fn draw_growth(title: &str, growths: &[Growth], path: &Path) -> Result<()> {
    font::register()?;
    match extension(path).as_str() {
        "png" | "svg" => save(growth::size(growths), path, |surface| growth::draw(surface, title, growths)),
        _ => bail!("cannot draw {}: the extension must be .png or .svg", path.display()),
    }
}

fn extension(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_lowercase()
}

/// Writes a figure of this size in pixels, as SVG or else as PNG.
fn save(size: (u32, u32), path: &Path, figure: impl Fn(&mut dyn surface::Surface)) -> Result<()> {
    if extension(path) == "svg" {
        return vector::save(size, path, |vector| figure(vector));
    }
    let mut raster = raster::Raster::new(size);
    figure(&mut raster);
    raster.save(path)
}
