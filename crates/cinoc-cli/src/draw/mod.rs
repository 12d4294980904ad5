//! Figures and animations of controlled episodes: PNG, SVG and GIF without external programs.

mod axis;
mod bands;
mod card;
mod check;
mod colour;
mod contour;
mod curves;
mod episode;
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
mod swarms;
mod swarms1d;
mod swarms2d;
mod tracks;
mod vector;

#[cfg(test)]
mod tests;

pub use bands::{Band, BandLine, BandPoint};
pub use card::CardRow;
pub use cinoc::task::PlotLabels;
pub use colour::palette;
pub use episode::{Clock, Episode, Episode1d, Episode2d, Scene};
pub use growth::Growth;

use anyhow::{Result, anyhow, bail};
use cinoc::internal::shown;
use std::path::Path;

/// Refuses a name whose extension no figure has, before anything is computed.
pub fn known(path: &Path, several: bool) -> Result<()> {
    match extension(path).as_str() {
        "png" | "svg" => Ok(()),
        "gif" | "html" if !several => Ok(()),
        "gif" | "html" => bail!(
            "{} cannot be drawn: several swarms side by side are a figure, so its name must end in .png or .svg",
            shown(path)
        ),
        _ => Err(no_figure(path)),
    }
}

fn no_figure(path: &Path) -> anyhow::Error {
    anyhow!(
        "{} cannot be drawn: its name must end in .png or .svg (a figure), .gif (an animation) or .html (a page)",
        shown(path)
    )
}

/// Draws the episode into a file; its extension decides how: a figure (`.png`, `.svg`)
/// or an animation (`.gif`). `progress` is called with the frames of an animation that are drawn, and with their number.
pub fn draw(episode: &Episode, path: &Path, progress: &dyn Fn(usize, usize)) -> Result<()> {
    check::shapes(episode)?;
    font::register()?;
    match (extension(path).as_str(), episode) {
        ("png" | "svg", Episode::Line(line)) => save(spacetime::SIZE, path, |surface| spacetime::draw(surface, line)),
        ("png" | "svg", Episode::Plane(plane)) => save(rows::size(plane), path, |surface| rows::draw(surface, plane)),
        ("gif", Episode::Line(line)) => movie1d::save(line, path, progress),
        ("gif", Episode::Plane(plane)) => movie2d::save(plane, path, progress),
        _ => Err(no_figure(path)),
    }
}

/// Draws several swarms in the same instance into a `.png` or `.svg` file; the score is that of tick `scored`.
pub fn draw_swarms(title: &str, scenes: &[Scene], scored: usize, path: &Path) -> Result<()> {
    scenes.iter().try_for_each(|scene| check::shapes(&scene.episode))?;
    font::register()?;
    known(path, true)?;
    let (mut lines, mut planes) = (Vec::new(), Vec::new());
    for scene in scenes {
        match &scene.episode {
            Episode::Line(line) => lines.push((scene, line)),
            Episode::Plane(plane) => planes.push((scene, plane)),
        }
    }
    let marks = swarms::marks(scenes, scored);
    match (lines.is_empty(), planes.is_empty()) {
        (false, true) => save(swarms1d::SIZE, path, |surface| swarms1d::draw(surface, title, &lines, &marks)),
        (true, false) => save(swarms2d::size(&planes), path, |surface| swarms2d::draw(surface, title, &planes, &marks)),
        _ => bail!("swarms in one figure must be all on a line or all in the plane"),
    }
}

/// Draws how something grows with sizes into a `.png` or `.svg` file.
pub fn draw_growth(title: &str, growths: &[Growth], path: &Path) -> Result<()> {
    font::register()?;
    match extension(path).as_str() {
        "png" | "svg" => save(growth::size(growths), path, |surface| growth::draw(surface, title, growths)),
        _ => bail!("{} cannot be drawn: its name must end in .png or .svg", shown(path)),
    }
}

/// Draws lines with bands into a `.png` or `.svg` file.
pub fn draw_bands(title: &str, bands: &[Band], path: &Path) -> Result<()> {
    font::register()?;
    match extension(path).as_str() {
        "png" | "svg" => save(bands::size(bands), path, |surface| bands::draw(surface, title, bands)),
        _ => bail!("{} cannot be drawn: its name must end in .png or .svg", shown(path)),
    }
}

/// Draws a card into a `.png` or `.svg` file.
pub fn draw_card(title: &str, axis: &str, rows: &[CardRow], path: &Path) -> Result<()> {
    font::register()?;
    match extension(path).as_str() {
        "png" | "svg" => save(card::size(rows), path, |surface| card::draw(surface, title, axis, rows)),
        _ => bail!("{} cannot be drawn: its name must end in .png or .svg", shown(path)),
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
