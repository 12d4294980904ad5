//! The figure of an episode in one dimension: space-time fields above, curves below.

use super::Episode1d;
use super::axis::Axis;
use super::colour::{self, Scale};
use super::curves::Histories;
use super::panel::{Panel, colour_bar, headline};
use super::surface::{Frame, Point, Surface};
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
        panel.x_axis(surface, "time t");
        if column == 0 {
            panel.y_axis(surface, "position x");
        }
    }
    let bar = Frame::new(115.0 + 1516.0 + 24.0, 120.0, 26.0, 390.0);
    colour_bar(surface, bar, &scale, TEXT);
    let below = Frame::new(10.0, 610.0, width - 55.0, height - 620.0);
    Histories::of_line(episode).draw(surface, below, TEXT);
}

/// The colour scale that all fields of the episode share.
fn scale_of(episode: &Episode1d) -> Scale {
    let fields = episode.uncontrolled.iter().chain(&episode.controlled);
    Scale::covering(fields.flatten().copied(), &episode.target)
}

/// The field between its grid points and ticks, at shares of time and space.
fn value_at(fields: &[Vec<f32>], periodic: bool, time: f32, space: f32) -> f32 {
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

/// Draws where the agents were; the more there are, the thinner.
fn tracks(surface: &mut dyn Surface, panel: &Panel, episode: &Episode1d) {
    let count = episode.xi[0].len();
    let crowd = (10.0 / count.max(10) as f32).powf(0.36);
    let opacity = f64::from(crowd.powf(1.25));
    let (width, ink) = ((2.6 * crowd).max(0.9), colour::BLACK.mix(opacity));
    let halo = colour::WHITE.mix(f64::from(0.7 * crowd));
    for agent in 0..count {
        let life = episode.alive.iter().take_while(|alive| alive[agent]).count();
        let last = life.min(episode.xi.len() - 1);
        let positions: Vec<f32> = episode.xi[episode.clock.before.min(last)..=last].iter().map(|xi| xi[agent]).collect();
        let pieces = pieces(panel, episode, &positions);
        // A pale rim keeps single tracks visible on dark colours; in a crowd it would be fog.
        for piece in pieces.iter().filter(|_| count <= 40) {
            surface.stroke(piece, width + 2.4, halo);
        }
        for piece in &pieces {
            surface.stroke(piece, width, ink);
        }
        if life < episode.xi.len() {
            let (x, y) = panel.point(episode.clock.time(last as f32), positions[positions.len() - 1]);
            let arm = 3.0 + 5.0 * crowd;
            for (thick, ink) in [(width + 3.5, halo), (width + 0.8, colour::BLACK.to_rgba())] {
                surface.stroke(&[(x - arm, y - arm), (x + arm, y + arm)], thick, ink);
                surface.stroke(&[(x - arm, y + arm), (x + arm, y - arm)], thick, ink);
            }
        }
    }
}

/// A track from time 0 on as drawn lines: on a periodic domain it leaves at one edge and enters at the other.
fn pieces(panel: &Panel, episode: &Episode1d, positions: &[f32]) -> Vec<Vec<Point>> {
    let (length, tick_time) = (episode.length, episode.clock.tick);
    let mut pieces = vec![vec![panel.point(0.0, positions[0])]];
    for (tick, pair) in positions.windows(2).enumerate() {
        let step = pair[1] - pair[0];
        if episode.periodic && step.abs() > length / 2.0 {
            let (leave, enter) = if step < 0.0 { (length, 0.0) } else { (0.0, length) };
            let whole = step - length * step.signum();
            let share = if whole == 0.0 { 0.0 } else { (leave - pair[0]) / whole };
            let time = (tick as f32 + share) * tick_time;
            pieces.last_mut().into_iter().for_each(|p| p.push(panel.point(time, leave)));
            pieces.push(vec![panel.point(time, enter)]);
        }
        let place = panel.point((tick + 1) as f32 * tick_time, pair[1]);
        pieces.last_mut().into_iter().for_each(|p| p.push(place));
    }
    pieces
}
