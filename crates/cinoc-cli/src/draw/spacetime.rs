//! The figure of an episode in one dimension: space-time fields above, curves below.

use super::Episode1d;
use super::axis::Axis;
use super::colour::{self, Scale};
use super::curves::Histories;
use super::panel::{Panel, colour_bar, headline};
use super::surface::{Frame, Surface};
use super::tracks::tracks;
use cinoc::task::with_unit;
use plotters::style::Color;

/// Size of the figure in pixels; its texts are still legible at half of it.
pub const SIZE: (u32, u32) = (1800, 1040);
const TEXT: f32 = 25.0;

/// Draws the whole figure.
pub fn draw(surface: &mut dyn Surface, episode: &Episode1d) {
    let (width, height) = (SIZE.0 as f32, SIZE.1 as f32);
    surface.rect(Frame::new(0.0, 0.0, width, height), colour::WHITE.to_rgba());
    headline(surface, &episode.title, (115.0, 50.0), TEXT, width - 150.0);
    let scale = scale_of(episode);
    let columns = if episode.measure.has_target { 3 } else { 2 };
    let gap = 56.0;
    let each = (1516.0 - (columns - 1) as f32 * gap) / columns as f32;
    let panel = |column: usize| Panel {
        frame: Frame::new(115.0 + column as f32 * (each + gap), 120.0, each, 390.0),
        x: episode.clock.axis(episode.controlled.len() - 1),
        y: Axis::linear(0.0, episode.length),
        text: TEXT,
    };
    let target = std::slice::from_ref(&episode.target);
    let parts: [(&str, &[Vec<f32>]); 3] =
        [("uncontrolled", &episode.uncontrolled), ("controlled (lines: agents)", &episode.controlled), ("target", target)];
    for (column, (title, fields)) in parts.into_iter().take(columns).enumerate() {
        let panel = panel(column);
        let value_at = |time, space| value_at(fields, episode.periodic, time, space);
        surface.field(panel.frame, &scale, &value_at);
        if column == 1 {
            tracks(surface, &panel, episode);
        }
        if column < 2 {
            panel.switch(surface, episode.clock);
        }
        panel.border(surface);
        panel.title(surface, title);
        panel.x_axis(surface, &episode.clock.name());
        if column == 0 {
            panel.y_axis(surface, &with_unit("position x", episode.measure.length));
        }
    }
    let bar = Frame::new(115.0 + 1516.0 + 24.0, 120.0, 26.0, 390.0);
    colour_bar(surface, bar, &scale, TEXT, episode.measure.field);
    let below = Frame::new(10.0, 610.0, width - 55.0, height - 620.0);
    Histories::of_line(episode).draw(surface, below, TEXT);
}

/// The colour scale that all fields of the episode share.
fn scale_of(episode: &Episode1d) -> Scale {
    let fields = episode.uncontrolled.iter().chain(&episode.controlled);
    Scale::covering(fields.flatten().copied(), &episode.target)
}

/// The field between its grid points and ticks, at shares of time and space.
pub fn value_at(fields: &[Vec<f32>], periodic: bool, time: f32, space: f32) -> f32 {
    let tick = time * (fields.len() - 1) as f32;
    let next = (tick as usize + 1).min(fields.len() - 1);
    let (now, then) = (&fields[tick as usize], &fields[next]);
    let cells = if periodic { now.len() } else { now.len() - 1 };
    let place = space * cells as f32;
    let (low, high) = (place as usize % now.len(), (place as usize + 1) % now.len());
    let high = if periodic { high } else { high.max(low) };
    let across = |field: &[f32]| field[low] + (field[high] - field[low]) * place.fract();
    across(now) + (across(then) - across(now)) * tick.fract()
}
