//! Curves against time, the same for episodes in one and in two dimensions.

use super::axis::Axis;
use super::colour;
use super::panel::{Entry, Panel, Sign, legend};
use super::surface::{Frame, Point, Surface};
use super::{Clock, Episode1d, Episode2d, PlotLabels};
use plotters::style::{Color, RGBColor};

/// Numbers per tick that sum up an episode.
pub struct Histories {
    /// Times of the ticks.
    pub clock: Clock,
    /// Labels of the mean squares below.
    pub measure: PlotLabels,
    /// Mean-square error to the target without control.
    pub uncontrolled: Vec<f32>,
    /// Mean-square error to the target under control.
    pub controlled: Vec<f32>,
    /// Mean size of the controls of the active agents.
    pub effort: Vec<f32>,
    /// Mean speed of the active agents; empty if agents do not move.
    pub speed: Vec<f32>,
}

impl Histories {
    /// The histories of an episode in one dimension.
    pub fn of_line(episode: &Episode1d) -> Self {
        let speeds = episode.v.iter().map(|row| row.iter().map(|v| v.abs()).collect());
        Self {
            clock: episode.clock,
            measure: episode.measure,
            uncontrolled: errors(&episode.uncontrolled, &episode.target),
            controlled: errors(&episode.controlled, &episode.target),
            effort: means(sizes(&episode.u), &episode.alive),
            speed: means(speeds, &episode.alive),
        }
    }

    /// The histories of an episode in two dimensions.
    pub fn of_plane(episode: &Episode2d) -> Self {
        let speed = |row: &Vec<[f32; 2]>| row.iter().map(|[x, y]| x.hypot(*y)).collect();
        Self {
            clock: episode.clock,
            measure: episode.measure,
            uncontrolled: errors(&episode.uncontrolled, &episode.target),
            controlled: errors(&episode.controlled, &episode.target),
            effort: means(sizes(&episode.u), &episode.alive),
            speed: means(episode.v.iter().map(speed), &episode.alive),
        }
    }

    /// Draws error, effort and (if agents move) speed side by side in `area`.
    pub fn draw(&self, surface: &mut dyn Surface, area: Frame, text: f32) {
        let count = if self.speed.is_empty() { 2 } else { 3 };
        // Room for the numbers and the name left of each frame, for titles and names around.
        let (beside, between) = (5.3 * text, 0.5 * text);
        let each = (area.width() + between) / count as f32 - between;
        let frame = |column: usize| Frame {
            left: area.left + column as f32 * (each + between) + beside,
            top: area.top + 1.8 * text,
            right: area.left + column as f32 * (each + between) + each,
            bottom: area.bottom - 2.8 * text,
        };
        let error = self.error_panel(frame(0), text);
        error.title(surface, self.measure.title);
        error.y_axis(surface, self.measure.axis);
        self.draw_errors(surface, &error, self.controlled.len());
        error.scored(surface, self.clock);
        let effort = self.panel(frame(1), Axis::from_zero(&self.effort), text);
        effort.title(surface, "control effort");
        let action = self.measure.action;
        effort.y_axis(surface, if action.is_empty() { "mean |u|" } else { action });
        self.line(surface, &effort, &self.effort, colour::EFFORT);
        let mut panels = vec![error, effort];
        if count == 3 {
            let speed = self.panel(frame(2), Axis::from_zero(&self.speed), text);
            speed.title(surface, "speed of the agents");
            speed.y_axis(surface, &self.speed_name());
            self.line(surface, &speed, &self.speed, colour::SPEED);
            panels.push(speed);
        }
        for panel in panels {
            panel.switch(surface, self.clock);
            panel.border(surface);
            panel.x_axis(surface, &self.clock.name());
        }
    }

    /// Name of an axis of speeds.
    fn speed_name(&self) -> String {
        let PlotLabels { length, time, .. } = self.measure;
        if length.is_empty() || time.is_empty() { "mean |v|".into() } else { format!("mean |v| ({length}/{time})") }
    }

    /// The panel of the errors, on a logarithmic axis.
    pub fn error_panel(&self, frame: Frame, text: f32) -> Panel {
        let both = self.uncontrolled.iter().chain(&self.controlled);
        self.panel(frame, Axis::log(both.copied()), text)
    }

    /// Draws both errors with their legend; the controlled one only up to `ticks`.
    pub fn draw_errors(&self, surface: &mut dyn Surface, panel: &Panel, ticks: usize) {
        let shown = ticks.min(self.uncontrolled.len());
        self.line(surface, panel, &self.uncontrolled[..shown], colour::UNCONTROLLED);
        let shown = ticks.min(self.controlled.len());
        self.line(surface, panel, &self.controlled[..shown], colour::CONTROLLED);
        let entry = |name, ink| Entry { name, ink, sign: Sign::Line };
        let entries = [entry("uncontrolled", colour::UNCONTROLLED), entry("controlled", colour::CONTROLLED)];
        let mut busy = self.points(panel, &self.uncontrolled);
        busy.extend(self.points(panel, &self.controlled));
        legend(surface, panel.frame, 0.92 * panel.text, &entries, &busy);
    }

    fn panel(&self, frame: Frame, y: Axis, text: f32) -> Panel {
        let last = self.controlled.len().saturating_sub(1);
        Panel { frame, x: self.clock.axis(last), y, text }
    }

    fn points(&self, panel: &Panel, values: &[f32]) -> Vec<Point> {
        let place = |(tick, value): (usize, &f32)| panel.point(self.clock.time(tick as f32), *value);
        values.iter().enumerate().map(place).collect()
    }

    fn line(&self, surface: &mut dyn Surface, panel: &Panel, values: &[f32], ink: RGBColor) {
        surface.stroke(&self.points(panel, values), panel.text / 8.0, ink.to_rgba());
    }
}

/// Mean square of what each field lacks to the target.
pub fn errors(fields: &[Vec<f32>], target: &[f32]) -> Vec<f32> {
    let square = |(value, wanted): (&f32, &f32)| (value - wanted) * (value - wanted);
    let error = |field: &Vec<f32>| field.iter().zip(target).map(square).sum::<f32>() / target.len() as f32;
    fields.iter().map(error).collect()
}

fn sizes(rows: &[Vec<f32>]) -> impl Iterator<Item = Vec<f32>> {
    rows.iter().map(|row| row.iter().map(|value| value.abs()).collect())
}

/// Mean over the active agents per tick; empty if no tick has any values.
fn means(rows: impl Iterator<Item = Vec<f32>>, alive: &[Vec<bool>]) -> Vec<f32> {
    let mut some = false;
    let mean = |(row, alive): (Vec<f32>, &Vec<bool>)| {
        some |= !row.is_empty();
        let active = row.iter().zip(alive).filter(|(_, alive)| **alive);
        let (sum, count) = active.fold((0.0, 0), |(sum, n), (value, _)| (sum + value, n + 1));
        sum / count.max(1) as f32
    };
    // The action of a tick is that of the agents that are active throughout: those active at its end.
    let means: Vec<f32> = rows.zip(alive.iter().skip(1)).map(mean).collect();
    if some { means } else { Vec::new() }
}
