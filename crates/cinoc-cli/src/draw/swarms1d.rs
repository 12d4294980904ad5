//! Several swarms in the same instance on a line: space and time side by side, all errors below.

use super::axis::Axis;
use super::colour::{self, Scale};
use super::panel::{Panel, border, colour_bar, headline};
use super::spacetime::value_at;
use super::surface::{Align, Frame, Label, Surface};
use super::swarms::{self, Chart, Mark, SingleRank};
use super::tracks::tracks;
use super::{Episode1d, Scene};
use cinoc::task::with_unit;
use plotters::style::Color;

/// Size of the figure in pixels; its texts are still legible at half of it.
pub const SIZE: (u32, u32) = (1800, 1140);
const TEXT: f32 = 25.0;
const LEFT: f32 = 122.0;
const TOP: f32 = 166.0;
const HEIGHT: f32 = 380.0;
/// From the left edge of the first panel to the right edge of the last thing before the colour bar, and the gaps between.
const ROOM: f32 = 1520.0;
const GAP: f32 = 50.0;
/// Width of the target, which does not change with time.
const STRIP: f32 = 70.0;

/// Draws the whole figure.
pub fn draw(surface: &mut dyn Surface, title: &str, scenes: &[(&Scene, &Episode1d)], marks: &[Mark]) {
    let (width, height) = (SIZE.0 as f32, SIZE.1 as f32);
    surface.rect(Frame::new(0.0, 0.0, width, height), colour::WHITE.to_rgba());
    headline(surface, title, (LEFT, 50.0), TEXT, width - LEFT - 40.0);
    let Some((_, first)) = scenes.first() else { return };
    let fields = scenes.iter().flat_map(|(_, episode)| &episode.controlled);
    let scale = Scale::covering(fields.flatten().copied(), &first.target);
    let strip = if first.measure.has_target { STRIP + GAP } else { 0.0 };
    let each = (ROOM - strip + GAP) / scenes.len() as f32 - GAP;
    for (column, (scene, episode)) in scenes.iter().enumerate() {
        let panel = Panel {
            frame: Frame::new(LEFT + column as f32 * (each + GAP), TOP, each, HEIGHT),
            x: episode.clock.axis(episode.controlled.len() - 1),
            y: Axis::linear(0.0, episode.length),
            text: TEXT,
        };
        surface.field(panel.frame, &scale, &|time, space| value_at(&episode.controlled, episode.periodic, time, space));
        tracks(surface, &panel, episode);
        panel.switch(surface, episode.clock);
        panel.border(surface);
        let left = panel.frame.left;
        swarms::name(surface, column, &scene.name, (left, TOP - 1.9 * TEXT), 1.04 * TEXT, each);
        surface.text(&scene.result, (left + 1.144 * TEXT, TOP - 0.6 * TEXT), Label::new(1.04 * TEXT, Align::Left));
        panel.x_axis(surface, &episode.clock.name());
        if column == 0 {
            panel.y_axis(surface, &with_unit("position x", episode.measure.length));
        }
    }
    if first.measure.has_target {
        draw_target(surface, &scale, first);
    }
    colour_bar(surface, Frame::new(LEFT + ROOM + 24.0, TOP, 26.0, HEIGHT), &scale, TEXT, first.measure.field);
    let note = "lines: agents · cross and dashes: a failed agent";
    surface.text(note, (LEFT + ROOM, TOP + HEIGHT + 3.8 * TEXT), Label::new(0.92 * TEXT, Align::Right));
    let below = TOP + HEIGHT + 6.4 * TEXT;
    let alone =
        SingleRank { clock: first.clock, measure: first.measure, uncontrolled: &first.uncontrolled, target: &first.target };
    let chart = Chart::of(&alone, scenes.iter().map(|(scene, episode)| (*scene, episode.controlled.as_slice())), marks);
    chart.draw(surface, Frame::new(LEFT, below, ROOM, height - below - 3.0 * TEXT), TEXT);
}

/// Draws the target as a strip beside the fields that should come to it.
fn draw_target(surface: &mut dyn Surface, scale: &Scale, episode: &Episode1d) {
    let strip = Frame::new(LEFT + ROOM - STRIP, TOP, STRIP, HEIGHT);
    let target = std::slice::from_ref(&episode.target);
    surface.field(strip, scale, &|_, space| value_at(target, episode.periodic, 0.0, space));
    border(surface, strip, TEXT);
    surface.text("target", (strip.at(0.5, 1.0).0, TOP - 0.6 * TEXT), Label::new(1.04 * TEXT, Align::Centre));
}
