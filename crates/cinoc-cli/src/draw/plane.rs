//! Pictures of fields, agents and obstacles in the plane.

use super::Episode2d;
use super::axis::number;
use super::colour::{self, Scale};
use super::contour::{contours, levels};
use super::surface::{Frame, Point, Surface};
use plotters::style::Color;
use std::borrow::Cow;

const CONTOURS: usize = 4;

/// Pictures in a row; where there is a target, it takes the place of one.
pub const PICTURES: usize = 6;

/// The ticks a figure shows: the first one, and others evenly spread from the moment when control is switched on to the last.
pub fn moments(episode: &Episode2d) -> Vec<usize> {
    let (before, count) = (episode.clock.before, if episode.measure.has_target { PICTURES - 1 } else { PICTURES });
    let gaps = if before > 0 { count - 2 } else { count - 1 };
    let under_control = episode.controlled.len() - 1 - before;
    let even = (0..=gaps).map(|moment| before + (moment * under_control + gaps / 2) / gaps);
    (before > 0).then_some(0).into_iter().chain(even).collect()
}

/// The colour scale that all fields of the episode share. The few moments of a figure count, among them the start,
/// which is often steep and soon over: among all ticks it would be lost.
pub fn scale_of(episode: &Episode2d) -> Scale {
    let fields = moments(episode).into_iter().flat_map(|tick| [&episode.uncontrolled[tick], &episode.controlled[tick]]);
    Scale::covering(fields.flatten().copied(), &episode.target)
}

/// Values of a field in the middle of a box; in the plane all of them.
fn middle<'a>(episode: &Episode2d, values: &'a [f32]) -> Cow<'a, [f32]> {
    match episode.depth {
        Some((count, _)) => values.iter().skip(count / 2).step_by(count).copied().collect(),
        None => values.into(),
    }
}

/// Paints a field; of one in a box the values in the middle.
pub fn field(surface: &mut dyn Surface, frame: Frame, scale: &Scale, episode: &Episode2d, values: &[f32]) {
    paint(surface, frame, scale, episode, &middle(episode, values));
}

/// Paints the mean of a field in a box along z.
pub fn mean_field(surface: &mut dyn Surface, frame: Frame, scale: &Scale, episode: &Episode2d, values: &[f32]) {
    let count = episode.depth.map_or(1, |(count, _)| count);
    let mean: Vec<f32> = values.chunks_exact(count).map(|along| along.iter().sum::<f32>() / count as f32).collect();
    paint(surface, frame, scale, episode, &mean);
}

fn paint(surface: &mut dyn Surface, frame: Frame, scale: &Scale, episode: &Episode2d, values: &[f32]) {
    let [columns, rows] = episode.shape;
    let between = |share: f32, count: usize, periodic: bool| {
        let cells = if periodic { count } else { count - 1 };
        let place = share * cells as f32;
        let before = (place as usize).min(cells - 1);
        (before, (before + 1) % count, place - before as f32)
    };
    let value_at = |across: f32, up: f32| {
        let ((left, right, dx), (low, high, dy)) =
            (between(across, columns, episode.periodic[0]), between(up, rows, episode.periodic[1]));
        let column = |x: usize| {
            let (from, to) = (values[x * rows + low], values[x * rows + high]);
            from + (to - from) * dy
        };
        column(left) + (column(right) - column(left)) * dx
    };
    surface.field(frame, scale, &value_at);
}

/// Returns the legend of the symbols over the controlled fields.
pub fn note(episode: &Episode2d) -> String {
    let failed = episode.alive.iter().flatten().any(|alive| !alive);
    let at = episode.depth.map_or_else(String::new, |(_, z)| format!("fields at z = {}", number(z, 0.01)));
    let signs = [
        (episode.depth.is_some(), at.as_str()),
        (true, "dots: agents"),
        (failed, "grey rings: failed agents"),
        (episode.measure.has_target, "lines: contours of the target"),
        (!episode.obstacles[0].is_empty(), "hatched: obstacles"),
    ];
    let words: Vec<&str> = signs.into_iter().filter_map(|(shown, word)| shown.then_some(word)).collect();
    words.join(" · ")
}

/// Draws a few contour lines of the target.
pub fn target_lines(surface: &mut dyn Surface, frame: Frame, episode: &Episode2d, width: f32) {
    let [columns, rows] = episode.shape;
    if !episode.measure.has_target {
        return;
    }
    let target = middle(episode, &episode.target);
    for level in levels(&target, CONTOURS) {
        for line in contours(&target, episode.shape, level) {
            let place = |(x, y): (f32, f32)| frame.at(x / (columns - 1) as f32, y / (rows - 1) as f32);
            let points: Vec<Point> = line.into_iter().map(place).collect();
            surface.stroke(&points, width, colour::BLACK.mix(0.6));
        }
    }
}

/// Draws the obstacles as hatched discs.
pub fn obstacles(surface: &mut dyn Surface, frame: Frame, episode: &Episode2d, tick: usize, width: f32) {
    for [x, y, radius] in &episode.obstacles[tick] {
        let centre = frame.at(x / episode.lengths[0], y / episode.lengths[1]);
        let radius = radius / episode.lengths[0] * frame.width();
        surface.disc(centre, radius, colour::MISSING.to_rgba());
        let angle = |k: usize| k as f32 * std::f32::consts::TAU / 48.0;
        let rim = |k| (centre.0 + radius * f32::cos(angle(k)), centre.1 + radius * f32::sin(angle(k)));
        let circle: Vec<Point> = (0..=48).map(rim).collect();
        surface.stroke(&circle, width, colour::BLACK.to_rgba());
        let count = (radius / (5.0 * width)) as i32;
        for line in -count..=count {
            // A chord at this distance from the centre, under 45 degrees.
            let away = line as f32 * 5.0 * width;
            let half = (radius * radius - away * away).max(0.0).sqrt();
            let turned = |along: f32| {
                let (dx, dy) = (away + along, away - along);
                (centre.0 + dx * 0.5f32.sqrt(), centre.1 + dy * 0.5f32.sqrt())
            };
            surface.stroke(&[turned(-half), turned(half)], 0.6 * width, colour::BLACK.mix(0.5));
        }
    }
}

/// Draws the agents as dots, failed ones as rings; the more there are, the smaller.
pub fn agents(surface: &mut dyn Surface, frame: Frame, episode: &Episode2d, tick: usize, size: f32) {
    let count = episode.xi[tick].len().max(10) as f32;
    let radius = (size * (10.0 / count).powf(0.3)).max(1.5);
    let rim = colour::WHITE.mix(0.85);
    // Failed agents are drawn below: active ones may have come to their positions.
    for active in [false, true] {
        let alike = episode.xi[tick].iter().zip(&episode.alive[tick]).filter(|(_, alive)| **alive == active);
        for ([x, y], _) in alike {
            let share = |value: f32| value.clamp(0.0, 1.0);
            let place = frame.at(share(x / episode.lengths[0]), share(y / episode.lengths[1]));
            surface.disc(place, radius + 0.25 * radius.min(4.0) + 0.4, rim);
            match active {
                true => surface.disc(place, radius, colour::BLACK.to_rgba()),
                false => failed(surface, place, radius),
            }
        }
    }
}

/// Draws a failed agent: a hollow grey ring.
pub fn failed(surface: &mut dyn Surface, place: Point, radius: f32) {
    surface.disc(place, radius, colour::FAILED.to_rgba());
    surface.disc(place, 0.6 * radius, colour::WHITE.to_rgba());
}
