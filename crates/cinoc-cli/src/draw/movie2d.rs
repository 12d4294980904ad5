//! The animation of an episode in the plane: both fields with the agents, and the error.

use super::Episode2d;
use super::curves::Histories;
use super::movie::{Movie, Progress, save_within_limit, ticks};
use super::panel::{border, colour_bar, headline};
use super::plane;
use super::raster::Raster;
use super::surface::{Align, Frame, Label, Surface};
use anyhow::Result;
use std::path::Path;

const TEXT: f32 = 14.0;
const TOP: f32 = 72.0;
/// Pictures of fields fit into this width and height.
const ROOM: (f32, f32) = (214.0, 250.0);

/// Writes the animation.
pub fn save(episode: &Episode2d, path: &Path, progress: Progress) -> Result<()> {
    save_within_limit(path, |frames| save_frames(episode, path, frames, progress))
}

fn save_frames(episode: &Episode2d, path: &Path, frames: usize, progress: Progress) -> Result<()> {
    let ratio = episode.lengths[1] / episode.lengths[0];
    let height = (ROOM.0 * ratio).min(ROOM.1);
    let width = height / ratio;
    // Below the fields of a box are their means along z.
    let rows = if episode.depth.is_some() { 2 } else { 1 };
    let pitch = height + 1.8 * TEXT;
    let below = TOP + (rows - 1) as f32 * pitch + height;
    // The error curve needs some height even next to a flat domain.
    let curve = Frame::new(592.0, TOP, 192.0, height.max(190.0));
    let size = (800, (curve.bottom.max(below) + 3.3 * TEXT) as u32);
    let scale = plane::scale_of(episode);
    let mut movie = Movie::create(path, size, frames, Some(scale))?;
    let histories = Histories::of_plane(episode);
    let errors = histories.error_panel(curve, TEXT);
    let last = episode.controlled.len() - 1;
    let shown = ticks(last, frames);
    for (done, &tick) in shown.iter().enumerate() {
        let mut frame = Raster::new(size);
        headline(&mut frame, &episode.title, (16.0, 26.0), TEXT, 660.0);
        let clock = Label::new(1.2 * TEXT, Align::Right);
        frame.text(&episode.clock.words(tick, last), (784.0, 26.0), clock);
        let parts = [("uncontrolled", &episode.uncontrolled), ("controlled", &episode.controlled)];
        for (column, (name, fields)) in parts.into_iter().enumerate() {
            let left = 16.0 + column as f32 * (ROOM.0 + 14.0) + (ROOM.0 - width) / 2.0;
            let picture = Frame::new(left, TOP, width, height);
            if rows > 1 {
                let lower = Frame::new(left, TOP + pitch, width, height);
                plane::mean_field(&mut frame, lower, &scale, episode, &fields[tick]);
                border(&mut frame, lower, TEXT);
                frame.text("mean along z", (left, lower.top - 0.5 * TEXT), Label::new(TEXT, Align::Left));
            }
            plane::field(&mut frame, picture, &scale, episode, &fields[tick]);
            if column == 1 {
                plane::target_lines(&mut frame, picture, episode, 1.0);
                plane::obstacles(&mut frame, picture, episode, tick, 1.0);
                plane::agents(&mut frame, picture, episode, tick, 4.2);
            }
            border(&mut frame, picture, TEXT);
            let label = Label::new(1.04 * TEXT, Align::Left);
            frame.text(name, (picture.left, TOP - 0.6 * TEXT), label);
        }
        let bar = Frame::new(468.0, TOP, 13.0, height);
        colour_bar(&mut frame, bar, &scale, TEXT, episode.measure.field);
        let note = Label::new(0.92 * TEXT, Align::Left);
        let place = (16.0, below + 1.6 * TEXT);
        frame.text(&plane::note(episode), place, note);
        errors.title(&mut frame, episode.measure.title);
        histories.draw_errors(&mut frame, &errors, tick + 1);
        errors.switch(&mut frame, episode.clock);
        errors.scored(&mut frame, episode.clock);
        errors.border(&mut frame);
        errors.x_axis(&mut frame, &episode.clock.name());
        errors.y_axis(&mut frame, episode.measure.axis);
        movie.push(&frame)?;
        progress(done + 1, shown.len());
    }
    Ok(())
}
