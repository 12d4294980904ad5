//! The figure of an episode in the plane: rows of fields at several moments, curves below.

use super::Episode2d;
use super::axis::Axis;
use super::colour;
use super::curves::Histories;
use super::panel::{Panel, border, colour_bar, headline};
use super::plane::{self, PICTURES};
use super::surface::{Align, Frame, Label, Surface};
use cinoc::task::with_unit;
use plotters::style::Color;

const WIDTH: f32 = 1800.0;
const TEXT: f32 = 25.0;
const LEFT: f32 = 136.0;
const TOP: f32 = 122.0;
/// From the lower row to the curves, and the height of these.
const BELOW: f32 = 95.0;
const CURVES: f32 = 420.0;

/// Size of the figure in pixels, which depends on the shape of the domain.
pub fn size(episode: &Episode2d) -> (u32, u32) {
    let total = TOP + rows_height(episode) + BELOW + CURVES;
    (WIDTH as u32, total.round() as u32)
}

/// Width and height of each picture of a field, and the gap to the next.
fn picture(episode: &Episode2d) -> (f32, f32, f32) {
    let (room, least_gap, tallest) = (WIDTH - LEFT - 190.0, 14.0, 330.0);
    let widest = (room - (PICTURES - 1) as f32 * least_gap) / PICTURES as f32;
    let ratio = episode.lengths[1] / episode.lengths[0];
    let height = (widest * ratio).min(tallest);
    let width = height / ratio;
    (width, height, (room - PICTURES as f32 * width) / (PICTURES - 1) as f32)
}

/// From the top of one row to that of the next: the name of a row must fit beside it.
fn pitch(episode: &Episode2d) -> f32 {
    (picture(episode).1 + 34.0).max(7.4 * TEXT)
}

fn rows_height(episode: &Episode2d) -> f32 {
    (rows(episode).len() - 1) as f32 * pitch(episode) + picture(episode).1
}

/// Names of the rows, their fields, and if they show the mean along z.
fn rows(episode: &Episode2d) -> Vec<(&'static str, &[Vec<f32>], bool)> {
    let mut rows = vec![("uncontrolled", &episode.uncontrolled[..], false), ("controlled", &episode.controlled, false)];
    rows.extend(episode.depth.map(|_| ("mean along z", &episode.controlled[..], true)));
    rows
}

/// Draws the whole figure.
pub fn draw(surface: &mut dyn Surface, episode: &Episode2d) {
    let height = size(episode).1 as f32;
    surface.rect(Frame::new(0.0, 0.0, WIDTH, height), colour::WHITE.to_rgba());
    headline(surface, &episode.title, (LEFT, 50.0), TEXT, WIDTH - LEFT - 40.0);
    draw_rows(surface, episode);
    draw_target(surface, episode);
    let below = TOP + rows_height(episode);
    let place = (WIDTH - 45.0, below + 1.5 * TEXT);
    surface.text(&plane::note(episode), place, Label::new(0.92 * TEXT, Align::Right));
    let curves = Frame::new(10.0, below + BELOW, WIDTH - 55.0, CURVES - 10.0);
    Histories::of_plane(episode).draw(surface, curves, TEXT);
}

fn draw_rows(surface: &mut dyn Surface, episode: &Episode2d) {
    let (width, height, gap) = picture(episode);
    let (scale, last) = (plane::scale_of(episode), episode.controlled.len() - 1);
    let rows = rows(episode);
    let lowest = rows.len() - 1;
    for (row, (name, fields, mean)) in rows.into_iter().enumerate() {
        let top = TOP + row as f32 * pitch(episode);
        for (moment, tick) in plane::moments(episode).into_iter().enumerate() {
            let frame = Frame::new(LEFT + moment as f32 * (width + gap), top, width, height);
            match mean {
                true => plane::mean_field(surface, frame, &scale, episode, &fields[tick]),
                false => plane::field(surface, frame, &scale, episode, &fields[tick]),
            }
            if row == 1 {
                plane::target_lines(surface, frame, episode, 1.6);
                plane::obstacles(surface, frame, episode, tick, 1.6);
                plane::agents(surface, frame, episode, tick, 6.5);
            }
            border(surface, frame, TEXT);
            if row == 0 {
                let place = (frame.at(0.5, 1.0).0, top - 0.6 * TEXT);
                surface.text(&episode.clock.words(tick, last), place, Label::new(TEXT, Align::Centre));
            }
        }
        let panel = Panel {
            frame: Frame::new(LEFT, top, width, height),
            x: Axis::linear(0.0, episode.lengths[0]),
            y: Axis::linear(0.0, episode.lengths[1]),
            text: TEXT,
        };
        panel.y_axis(surface, &with_unit("y", episode.measure.length));
        if row == lowest {
            panel.x_axis(surface, &with_unit("x", episode.measure.length));
        }
        let style = Label::new(1.04 * TEXT, Align::Centre).upward();
        surface.text(name, (34.0, top + height / 2.0), style);
    }
}

/// Draws the target, if there is one, and the colour bar to the right of the rows.
fn draw_target(surface: &mut dyn Surface, episode: &Episode2d) {
    let (width, height, gap) = picture(episode);
    let scale = plane::scale_of(episode);
    let left = LEFT + (PICTURES - 1) as f32 * (width + gap);
    let top = TOP + pitch(episode) / 2.0;
    let frame = Frame::new(left + 24.0, top, width, height);
    if episode.measure.has_target {
        plane::field(surface, frame, &scale, episode, &episode.target);
        plane::target_lines(surface, frame, episode, 1.6);
        border(surface, frame, TEXT);
        let place = (frame.at(0.5, 1.0).0, top - 0.6 * TEXT);
        surface.text("target", place, Label::new(TEXT, Align::Centre));
    }
    let bar = Frame::new(frame.right + 24.0, TOP, 26.0, rows_height(episode));
    colour_bar(surface, bar, &scale, TEXT, episode.measure.field);
}
