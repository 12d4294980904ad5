//! Paths of agents on a line, over a picture of space and time.

use super::Episode1d;
use super::colour;
use super::panel::Panel;
use super::surface::{Point, Surface, dashes};
use plotters::style::Color;

/// Draws the paths of the agents, from the moment when control is switched on; the more there are, the thinner.
/// A cross marks a failure; from there on a grey dashed line marks the position of the failed agent.
pub fn tracks(surface: &mut dyn Surface, panel: &Panel, episode: &Episode1d) {
    let count = episode.xi[0].len();
    let crowd = (10.0 / count.max(10) as f32).powf(0.36);
    let opacity = f64::from(crowd.powf(1.25));
    let (width, ink) = ((2.6 * crowd).max(0.9), colour::BLACK.mix(opacity));
    let halo = colour::WHITE.mix(f64::from(0.7 * crowd));
    let end = episode.xi.len() - 1;
    for agent in 0..count {
        let active = episode.alive.iter().take_while(|alive| alive[agent]).count();
        let last = active.min(end);
        let first = episode.clock.before.min(last);
        let part = |from: usize, to: usize| {
            let positions: Vec<f32> = episode.xi[from..=to].iter().map(|xi| xi[agent]).collect();
            pieces(panel, episode, from, &positions)
        };
        let failed = if active <= end { part(last, end) } else { Vec::new() };
        for piece in &failed {
            surface.stroke(piece, width + 1.8, colour::WHITE.mix(f64::from(0.85 * crowd)));
            dashes(surface, piece, width, colour::FAILED.to_rgba());
        }
        let pieces = part(first, last);
        // A pale rim keeps single tracks visible on dark colours; in a crowd it would be fog.
        for piece in pieces.iter().filter(|_| count <= 40) {
            surface.stroke(piece, width + 2.4, halo);
        }
        for piece in &pieces {
            surface.stroke(piece, width, ink);
        }
        if let Some(&(x, y)) = failed.first().and_then(|piece| piece.first()) {
            let arm = 3.0 + 5.0 * crowd;
            for (thick, ink) in [(width + 3.5, halo), (width + 0.8, colour::BLACK.to_rgba())] {
                surface.stroke(&[(x - arm, y - arm), (x + arm, y + arm)], thick, ink);
                surface.stroke(&[(x - arm, y + arm), (x + arm, y - arm)], thick, ink);
            }
        }
    }
}

/// A track from tick `first` on as drawn lines: on a periodic domain it leaves at one edge and enters at the other.
fn pieces(panel: &Panel, episode: &Episode1d, first: usize, positions: &[f32]) -> Vec<Vec<Point>> {
    let length = episode.length;
    let time = |ticks: f32| episode.clock.time(first as f32 + ticks);
    let mut pieces = vec![vec![panel.point(time(0.0), positions[0])]];
    for (tick, pair) in positions.windows(2).enumerate() {
        let step = pair[1] - pair[0];
        if episode.periodic && step.abs() > length / 2.0 {
            let (leave, enter) = if step < 0.0 { (length, 0.0) } else { (0.0, length) };
            let whole = step - length * step.signum();
            let share = if whole == 0.0 { 0.0 } else { (leave - pair[0]) / whole };
            let time = time(tick as f32 + share);
            pieces.last_mut().into_iter().for_each(|p| p.push(panel.point(time, leave)));
            pieces.push(vec![panel.point(time, enter)]);
        }
        let place = panel.point(time((tick + 1) as f32), pair[1]);
        pieces.last_mut().into_iter().for_each(|p| p.push(place));
    }
    pieces
}
