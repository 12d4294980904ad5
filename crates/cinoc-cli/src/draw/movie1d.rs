//! The animation of an episode in one dimension: the field with its agents, and the error.

use super::Episode1d;
use super::axis::Axis;
use super::colour;
use super::curves::Histories;
use super::movie::{Movie, Progress, save_within_limit, ticks};
use super::panel::{Entry, Panel, Sign, headline, legend_row};
use super::plane;
use super::raster::Raster;
use super::surface::{Align, Frame, Label, Point, Surface, dashes};
use anyhow::Result;
use cinoc::task::with_unit;
use plotters::style::Color;
use std::path::Path;

const SIZE: (u32, u32) = (800, 390);
const TEXT: f32 = 14.0;

/// Writes the animation.
pub fn save(episode: &Episode1d, path: &Path, progress: Progress) -> Result<()> {
    save_within_limit(path, |frames| save_frames(episode, path, frames, progress))
}

fn save_frames(episode: &Episode1d, path: &Path, frames: usize, progress: Progress) -> Result<()> {
    let mut movie = Movie::create(path, SIZE, frames, None)?;
    let histories = Histories::of_line(episode);
    let x = Axis::linear(0.0, episode.length);
    let fields = episode.uncontrolled.iter().chain(&episode.controlled).flatten();
    let y = Axis::covering(fields.chain(&episode.target).copied());
    let line = Panel { frame: Frame::new(66.0, 76.0, 370.0, 185.0), x, y, text: TEXT };
    let strip = Panel { frame: Frame::new(66.0, 267.0, 370.0, 70.0), x, y, text: TEXT };
    let errors = histories.error_panel(Frame::new(525.0, 76.0, 258.0, 261.0), TEXT);
    let shown = ticks(episode.controlled.len() - 1, frames);
    for (done, &tick) in shown.iter().enumerate() {
        let mut frame = Raster::new(SIZE);
        headline(&mut frame, &episode.title, (66.0, 26.0), TEXT, 610.0);
        let clock = Label::new(1.2 * TEXT, Align::Right);
        frame.text(&episode.clock.words(tick, episode.controlled.len() - 1), (783.0, 26.0), clock);
        draw_fields(&mut frame, &line, episode, tick);
        draw_agents(&mut frame, &strip, episode, tick);
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

fn draw_fields(frame: &mut Raster, panel: &Panel, episode: &Episode1d, tick: usize) {
    let count = episode.target.len();
    let cells = if episode.periodic { count } else { count - 1 };
    let points = |field: &[f32]| -> Vec<Point> {
        let x = |k: usize| k as f32 * episode.length / cells as f32;
        (0..=cells).map(|k| panel.point(x(k), field[k % count])).collect()
    };
    let target = points(&episode.target);
    let (uncontrolled, controlled) = (&episode.uncontrolled[tick], &episode.controlled[tick]);
    frame.stroke(&points(uncontrolled), 1.8, colour::UNCONTROLLED.to_rgba());
    frame.stroke(&points(controlled), 2.2, colour::CONTROLLED.to_rgba());
    dashes(frame, &target, 1.6, colour::BLACK.to_rgba());
    panel.border(frame);
    let name = episode.measure.field;
    panel.y_axis(frame, if name.is_empty() { "field z(x)" } else { name });
    let entry = |name, ink, sign| Entry { name, ink, sign };
    let entries = [
        entry("uncontrolled", colour::UNCONTROLLED, Sign::Line),
        entry("controlled", colour::CONTROLLED, Sign::Line),
        entry("target", colour::BLACK, Sign::Dashes),
    ];
    legend_row(frame, panel.frame, TEXT, &entries);
}

/// Draws the agents on a separate line, each with a bar for its control. Bars are as long as the root of the control:
/// the first pushes are often a hundred times those that hold a target.
fn draw_agents(frame: &mut Raster, panel: &Panel, episode: &Episode1d, tick: usize) {
    let most = episode.u.iter().flatten().filter(|u| u.is_finite()).fold(0f32, |m, u| m.max(u.abs()));
    let (_, middle) = panel.frame.at(0.0, 0.5);
    let ground = [(panel.frame.left, middle), (panel.frame.right, middle)];
    frame.stroke(&ground, panel.hair(), colour::AXIS.mix(0.6));
    let agents = episode.xi[tick].len();
    let radius = (4.5 * (10.0 / agents.max(10) as f32).powf(0.3)).max(1.6);
    // The field at the last tick is the result of the last controls.
    let controls = &episode.u[tick.min(episode.u.len() - 1)];
    let (active, failed): (Vec<_>, Vec<_>) =
        episode.xi[tick].iter().enumerate().partition(|(agent, _)| episode.alive[tick][*agent]);
    for (_, x) in failed {
        plane::failed(frame, (panel.point(*x, 0.0).0, middle), radius);
    }
    for (agent, x) in active {
        let (x, _) = panel.point(*x, 0.0);
        let share = (controls[agent].abs() / most.max(f32::MIN_POSITIVE)).sqrt().copysign(controls[agent]);
        let height = 0.46 * panel.frame.height() * share;
        let bar = [(x, middle), (x, middle - height)];
        frame.stroke(&bar, 0.8 * radius, colour::EFFORT.to_rgba());
        frame.disc((x, middle), radius, colour::BLACK.to_rgba());
    }
    panel.border(frame);
    panel.x_axis(frame, &with_unit("position x", episode.measure.length));
    let name = Label::new(TEXT, Align::Centre).upward();
    frame.text("√ control", (panel.frame.left - 0.6 * TEXT, middle), name);
}
