//! What figures of several swarms in the same instance share: their colours, and all errors in one chart.

use super::axis::Axis;
use super::colour;
use super::font;
use super::panel::{DOT, Entry, HALF_LETTER, Panel, Sign, legend};
use super::surface::{Align, Frame, Label, Point, Surface, dashes};
use super::{Clock, Reading, Scene};
use plotters::style::{Color, RGBColor};

/// A colour for each swarm.
const INKS: [RGBColor; 3] = [colour::CONTROLLED, colour::EFFORT, colour::SPEED];

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

/// When agents die first, and when the score is known if that is not the end.
pub fn marks(scenes: &[Scene], scored: usize) -> Vec<Mark> {
    let death = |scene: &Scene| scene.episode.alive().iter().position(|agents| agents.contains(&false));
    let mut marks: Vec<Mark> = scenes.iter().filter_map(death).map(|tick| (tick, "deaths")).collect();
    if scenes.iter().any(|scene| scored + 1 < scene.episode.alive().len()) {
        marks.push((scored, "score"));
    }
    marks.sort_unstable();
    marks.dedup();
    marks
}

/// Errors of all swarms against time.
pub struct Chart<'a> {
    /// When the ticks are.
    pub clock: Clock,
    /// What the errors stand for.
    pub measure: Reading,
    /// Error without control.
    pub uncontrolled: Vec<f32>,
    /// Name and error of each swarm.
    pub swarms: Vec<(&'a str, Vec<f32>)>,
    /// Moments to be marked.
    pub marks: Vec<Mark>,
}

impl Chart<'_> {
    /// Draws the chart with its legend.
    pub fn draw(&self, surface: &mut dyn Surface, frame: Frame, text: f32) {
        let all = self.swarms.iter().flat_map(|(_, errors)| errors).chain(&self.uncontrolled);
        let x = self.clock.axis(self.uncontrolled.len() - 1);
        let panel = Panel { frame, x, y: Axis::log(all.copied()), text };
        let points = |errors: &[f32]| -> Vec<Point> {
            let finite = errors.iter().enumerate().take_while(|(_, error)| error.is_finite());
            finite.map(|(tick, error)| panel.point(self.clock.time(tick as f32), *error)).collect()
        };
        panel.switch(surface, self.clock);
        self.draw_marks(surface, &panel);
        let mut busy = points(&self.uncontrolled);
        surface.stroke(&busy, text / 8.0, colour::UNCONTROLLED.to_rgba());
        let mut entries = vec![Entry { name: "uncontrolled", ink: colour::UNCONTROLLED, sign: Sign::Line }];
        for (swarm, (name, errors)) in self.swarms.iter().enumerate() {
            let line = points(errors);
            surface.stroke(&line, text / 7.0, ink(swarm).to_rgba());
            busy.extend(line);
            entries.push(Entry { name, ink: ink(swarm), sign: Sign::Line });
        }
        legend(surface, frame, 0.92 * text, &entries, &busy);
        panel.border(surface);
        panel.title(surface, self.measure.title);
        panel.x_axis(surface, "time t");
        panel.y_axis(surface, self.measure.axis);
    }

    /// Draws a dashed line at each moment to be marked; what happens stands at its foot, where errors are rare.
    fn draw_marks(&self, surface: &mut dyn Surface, panel: &Panel) {
        let (frame, text) = (panel.frame, panel.text);
        for (tick, word) in &self.marks {
            let (x, _) = panel.point(self.clock.time(*tick as f32), 0.0);
            dashes(surface, &[(x, frame.top), (x, frame.bottom)], text / 14.0, colour::AXIS.to_rgba());
            let label = Label { ink: colour::DEAD.to_rgba(), ..Label::new(0.88 * text, Align::Left) };
            surface.text(word, (x + 0.35 * text, frame.bottom - 0.5 * text), label);
        }
    }
}
