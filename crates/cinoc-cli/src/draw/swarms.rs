//! Common parts of figures of several swarms in the same instance: their colours, and all errors in one chart.

use super::axis::Axis;
use super::colour;
use super::curves::errors;
use super::font;
use super::panel::{DOT, Entry, HALF_LETTER, Panel, Sign, legend_row};
use super::surface::{Align, Frame, Label, Point, Surface, dashes};
use super::{Clock, PlotLabels, Scene};
use plotters::style::{Color, RGBColor};

/// A colour for each swarm; the first and the last are often one curve for a while and must differ most.
const INKS: [RGBColor; 3] = [colour::CONTROLLED, colour::SPEED, colour::EFFORT];

/// The colour of a swarm.
pub fn ink(swarm: usize) -> RGBColor {
    INKS[swarm % INKS.len()]
}

/// Writes the name of a swarm behind a dot in its colour, smaller if it would not fit into the `room` in pixels.
pub fn name(surface: &mut dyn Surface, swarm: usize, name: &str, (x, y): Point, text: f32, room: f32) {
    surface.disc((x + 0.4 * text, y - HALF_LETTER * text), 1.3 * DOT * text, ink(swarm).to_rgba());
    let shrink = ((room - 1.1 * text) / font::width(name, text).max(1.0)).min(1.0);
    surface.text(name, (x + 1.1 * text, y), Label::new(shrink * text, Align::Left));
}

/// A moment worth a mark: its tick, and what happens.
pub type Mark = (usize, &'static str);

/// Word at the mark of failing agents.
pub const FAILURES: &str = "failures";

fn first_failed(alive: &[Vec<bool>]) -> Option<usize> {
    alive.iter().position(|agents| agents.contains(&false))
}

/// Returns the tick of the first failure of each swarm, and that of the score if it is not the end.
pub fn marks(scenes: &[Scene], scored: usize) -> Vec<Mark> {
    let failed = |scene: &Scene| first_failed(scene.episode.alive());
    // An agent that is inactive after a tick failed before it.
    let mut marks: Vec<Mark> = scenes.iter().filter_map(failed).map(|tick| (tick.saturating_sub(1), FAILURES)).collect();
    if scenes.iter().any(|scene| scored + 1 < scene.episode.alive().len()) {
        marks.push((scored, "score"));
    }
    marks.sort_unstable();
    marks.dedup();
    marks
}

/// Name and error of a swarm, and whether it loses agents.
pub type Curve<'a> = (&'a str, Vec<f32>, bool);

/// The fields of an instance without control and what they should be.
pub struct SingleRank<'a> {
    pub clock: Clock,
    pub measure: PlotLabels,
    pub uncontrolled: &'a [Vec<f32>],
    pub target: &'a [f32],
}

/// Errors of all swarms against time.
pub struct Chart<'a> {
    /// Times of the ticks.
    pub clock: Clock,
    /// Labels of the errors.
    pub measure: PlotLabels,
    /// Error without control.
    pub uncontrolled: Vec<f32>,
    /// The swarms.
    pub swarms: Vec<Curve<'a>>,
    /// Moments to be marked.
    pub marks: Vec<Mark>,
}

impl<'a> Chart<'a> {
    /// Of swarms in the same instance, each with its fields.
    pub fn of(alone: &SingleRank, swarms: impl Iterator<Item = (&'a Scene, &'a [Vec<f32>])>, marks: &[Mark]) -> Self {
        let loses = |scene: &Scene| first_failed(scene.episode.alive()).is_some();
        let curve = |(scene, fields): (&'a Scene, &[Vec<f32>])| (scene.name.as_str(), errors(fields, alone.target), loses(scene));
        Self {
            clock: alone.clock,
            measure: alone.measure,
            uncontrolled: errors(alone.uncontrolled, alone.target),
            swarms: swarms.map(curve).collect(),
            marks: marks.to_vec(),
        }
    }

    /// Draws the chart; its legend is above, where it hides nothing.
    pub fn draw(&self, surface: &mut dyn Surface, frame: Frame, text: f32) {
        let all = self.swarms.iter().flat_map(|(_, errors, _)| errors).chain(&self.uncontrolled).copied();
        let most = all.clone().filter(|error| error.is_finite()).fold(0.0, f32::max);
        // Room above all curves for the words at the marks.
        let room = if self.marks.is_empty() { 1.0 } else { 6.0 };
        let x = self.clock.axis(self.uncontrolled.len() - 1);
        let panel = Panel { frame, x, y: Axis::log(all.chain([room * most])), text };
        let points = |errors: &[f32], from: usize| -> Vec<Point> {
            let finite = errors.iter().enumerate().skip(from).take_while(|(_, error)| error.is_finite());
            finite.map(|(tick, error)| panel.point(self.clock.time(tick as f32), *error)).collect()
        };
        panel.switch(surface, self.clock);
        self.draw_marks(surface, &panel);
        surface.stroke(&points(&self.uncontrolled, 0), text / 8.0, colour::UNCONTROLLED.to_rgba());
        for (swarm, (_, errors, loses)) in self.swarms.iter().enumerate() {
            let (line, width, ink) = (points(errors, self.clock.before), text / 7.0, ink(swarm).to_rgba());
            // Until agents fail, the curve is that of the swarm that loses none: dashes show both.
            if *loses { dashes(surface, &line, width, ink) } else { surface.stroke(&line, width, ink) }
        }
        panel.border(surface);
        panel.title(surface, self.measure.title);
        panel.x_axis(surface, &self.clock.name());
        panel.y_axis(surface, self.measure.axis);
        let entry = |(swarm, (name, _, loses)): (usize, &Curve<'a>)| Entry {
            name,
            ink: ink(swarm),
            sign: if *loses { Sign::Dashes } else { Sign::Line },
        };
        let mut entries: Vec<Entry> = self.swarms.iter().enumerate().map(entry).collect();
        entries.push(Entry { name: "uncontrolled", ink: colour::UNCONTROLLED, sign: Sign::Line });
        let left = frame.left + font::width(self.measure.title, 1.04 * text) + 2.0 * text;
        legend_row(surface, Frame { left, ..frame }, 0.92 * text, &entries);
    }

    /// Draws a dashed line at each moment to be marked, with a word about it.
    fn draw_marks(&self, surface: &mut dyn Surface, panel: &Panel) {
        let (frame, text) = (panel.frame, panel.text);
        for (tick, word) in &self.marks {
            let (x, _) = panel.point(self.clock.time(*tick as f32), 0.0);
            dashes(surface, &[(x, frame.top), (x, frame.bottom)], text / 14.0, colour::AXIS.to_rgba());
            let label = Label { ink: colour::FAILED.to_rgba(), ..Label::new(0.92 * text, Align::Left) };
            surface.text(word, (x + 0.35 * text, frame.top + 1.1 * text), label);
        }
    }
}
