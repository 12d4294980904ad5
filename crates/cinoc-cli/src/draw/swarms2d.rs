//! Several swarms in the same instance in the plane: a row of moments for each, all errors below.

use super::axis::Axis;
use super::colour::{self, Scale};
use super::panel::{Panel, border, colour_bar, headline};
use super::plane;
use super::surface::{Align, Frame, Label, Surface};
use super::swarms::{self, Chart, FAILURES, Mark, SingleRank};
use super::{Episode2d, Scene};
use cinoc::task::with_unit;
use plotters::style::Color;

const WIDTH: f32 = 1800.0;
const TEXT: f32 = 25.0;
const LEFT: f32 = 122.0;
const TOP: f32 = 182.0;
/// Pictures in a row; where there is a target, it takes the place of one.
const PICTURES: usize = 5;
/// From the left edge of the first picture to the right edge of the last, and the tallest that a picture gets.
const ROOM: f32 = 1520.0;
const TALLEST: f32 = 285.0;
/// Between two rows: the name of a swarm.
const BETWEEN: f32 = 62.0;
/// From the lowest row to the chart, and the height of that.
const BELOW: f32 = 165.0;
const CHART: f32 = 360.0;

/// Size of the figure in pixels, which depends on the shape of the domain.
pub fn size(scenes: &[(&Scene, &Episode2d)]) -> (u32, u32) {
    let rows = scenes.first().map_or(0.0, |(_, first)| rows_height(first, scenes.len()));
    (WIDTH as u32, (TOP + rows + BELOW + CHART + 3.2 * TEXT).round() as u32)
}

/// Width and height of each picture, and the gap to the next.
fn picture(episode: &Episode2d) -> (f32, f32, f32) {
    let widest = (ROOM + 14.0) / PICTURES as f32 - 14.0;
    let ratio = episode.lengths[1] / episode.lengths[0];
    let height = (widest * ratio).min(TALLEST);
    let width = height / ratio;
    (width, height, (ROOM - PICTURES as f32 * width) / (PICTURES - 1) as f32)
}

fn rows_height(episode: &Episode2d, rows: usize) -> f32 {
    rows as f32 * (picture(episode).1 + BETWEEN) - BETWEEN
}

/// The moments that are shown: the start, those marked, one between the last mark and the end if there is room, and the end.
fn moments(episode: &Episode2d, marks: &[Mark]) -> Vec<Mark> {
    let (before, last) = (episode.clock.before, episode.controlled.len() - 1);
    let count = if episode.measure.has_target { PICTURES - 1 } else { PICTURES };
    let start = [(0, "free"), (before, if before > 0 { "control on" } else { "start" })];
    let mut all = start[usize::from(before == 0 || episode.measure.has_target)..].to_vec();
    // Failures are seen a tick later.
    let seen = marks.iter().map(|&(tick, word)| (tick + usize::from(word == FAILURES), word));
    all.extend(seen.filter(|mark| mark.0 > before && mark.0 < last));
    let latest = all[all.len() - 1].0;
    let (spare, span) = (count.saturating_sub(all.len() + 1), last - latest);
    all.extend((1..=spare).map(|k| (latest + k * span / (spare + 1), "")));
    all.push((last, "end"));
    all.dedup_by_key(|mark| mark.0);
    all
}

/// Draws the whole figure.
pub fn draw(surface: &mut dyn Surface, title: &str, scenes: &[(&Scene, &Episode2d)], marks: &[Mark]) {
    let Some(&(_, first)) = scenes.first() else { return };
    surface.rect(Frame::new(0.0, 0.0, WIDTH, size(scenes).1 as f32), colour::WHITE.to_rgba());
    headline(surface, title, (LEFT, 50.0), TEXT, WIDTH - LEFT - 40.0);
    let moments = moments(first, marks);
    let fields = scenes.iter().flat_map(|(_, episode)| moments.iter().map(|(tick, _)| &episode.controlled[*tick]));
    let scale = Scale::covering(fields.flatten().copied(), &first.target);
    for (row, (scene, episode)) in scenes.iter().enumerate() {
        let top = TOP + row as f32 * (picture(first).1 + BETWEEN);
        let name = format!("{}: {}", scene.name, scene.result);
        swarms::name(surface, row, &name, (LEFT, top - 0.6 * TEXT), 1.04 * TEXT, ROOM);
        draw_row(surface, episode, &scale, &moments, (row, scenes.len()));
    }
    draw_target(surface, first, &scale, scenes.len());
    let below = TOP + rows_height(first, scenes.len());
    // Only the last swarm has failed agents to be explained.
    let note = scenes.iter().map(|(_, episode)| plane::note(episode)).max_by_key(String::len).unwrap_or_default();
    surface.text(&note, (LEFT + ROOM, below + 3.9 * TEXT), Label::new(0.92 * TEXT, Align::Right));
    let alone =
        SingleRank { clock: first.clock, measure: first.measure, uncontrolled: &first.uncontrolled, target: &first.target };
    let chart = Chart::of(&alone, scenes.iter().map(|(scene, episode)| (*scene, episode.controlled.as_slice())), marks);
    chart.draw(surface, Frame::new(LEFT, below + BELOW, ROOM, CHART), TEXT);
}

fn draw_row(surface: &mut dyn Surface, episode: &Episode2d, scale: &Scale, moments: &[Mark], (row, rows): (usize, usize)) {
    let (width, height, gap) = picture(episode);
    let top = TOP + row as f32 * (height + BETWEEN);
    let last = episode.controlled.len() - 1;
    for (column, &(tick, word)) in moments.iter().enumerate() {
        let frame = Frame::new(LEFT + column as f32 * (width + gap), top, width, height);
        plane::field(surface, frame, scale, episode, &episode.controlled[tick]);
        plane::target_lines(surface, frame, episode, 1.6);
        plane::obstacles(surface, frame, episode, tick, 1.6);
        plane::agents(surface, frame, episode, tick, 8.5);
        border(surface, frame, TEXT);
        if row == 0 {
            let time = episode.clock.words(tick, last);
            let words = if word.is_empty() { time } else { format!("{word}, {time}") };
            surface.text(&words, (frame.at(0.5, 1.0).0, TOP - 2.3 * TEXT), Label::new(TEXT, Align::Centre));
        }
    }
    let [x, y] = episode.lengths.map(|length| Axis::linear(0.0, length));
    let panel = Panel { frame: Frame::new(LEFT, top, width, height), x, y, text: TEXT };
    panel.y_axis(surface, &with_unit("y", episode.measure.length));
    if row + 1 == rows {
        panel.x_axis(surface, &with_unit("x", episode.measure.length));
    }
}

/// Draws the target, if there is one, and the colour bar to the right of the rows.
fn draw_target(surface: &mut dyn Surface, episode: &Episode2d, scale: &Scale, rows: usize) {
    let (width, height, _) = picture(episode);
    let all = rows_height(episode, rows);
    if episode.measure.has_target {
        let frame = Frame::new(LEFT + ROOM - width, TOP + (all - height) / 2.0, width, height);
        plane::field(surface, frame, scale, episode, &episode.target);
        plane::target_lines(surface, frame, episode, 1.6);
        border(surface, frame, TEXT);
        surface.text("target", (frame.at(0.5, 1.0).0, frame.top - 0.6 * TEXT), Label::new(TEXT, Align::Centre));
    }
    colour_bar(surface, Frame::new(LEFT + ROOM + 24.0, TOP, 26.0, all), scale, TEXT, episode.measure.field);
}
