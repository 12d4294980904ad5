//! The section `agents`.

use super::super::section::Section;
use crate::Error;

/// The section `agents`.
pub struct AgentsText {
    pub number: usize,
    pub width: f64,
    pub range: [f64; 2],
    /// Largest velocity; `None` for immobile agents.
    pub speed: Option<f64>,
    /// Observed field.
    pub error: Option<String>,
    pub window: f64,
    /// Samples of the window along each axis, if the file says so.
    pub points: Option<usize>,
    pub position: bool,
    pub gaps: Option<f64>,
}

pub fn agents_of(mut section: Section) -> Result<AgentsText, Error> {
    let number = section.whole_number("number", 1..=10_000_000)?;
    let number = section.need("number", number, "number = 16")?;
    let push = section.section("push")?;
    let mut push = section.need("push", push, "push = { width = 0.05, range = [-4, 4] }")?;
    push.word("shape", &["gauss"])?;
    let width = push.number("width", 1e-6..=1e6)?;
    let width = push.need("width", width, "width = 0.05")?;
    let range = push.numbers("range")?;
    let range = match push.need("range", range, "range = [-4, 4]")?[..] {
        [low, high] if low <= 0.0 && high >= 0.0 && high - low > 1e-9 && high - low < 1e9 => [low, high],
        _ => return Err(push.fault("range", "it must be two numbers with 0 between them or at one end, like [-4, 4] or [0, 4]")),
    };
    push.done()?;
    let speed = match section.section("move")? {
        None => None,
        Some(mut motion) => {
            let speed = motion.number("speed", 1e-9..=1e9)?;
            let speed = motion.need("speed", speed, "speed = 0.5")?;
            motion.done()?;
            Some(speed)
        }
    };
    let (mut error, mut window, mut points, mut position, mut gaps) = (None, 4.0 * width, None, false, None);
    if let Some(mut see) = section.section("see")? {
        error = see.text("error")?;
        window = see.number("window", 1e-6..=1e6)?.unwrap_or(window);
        points = see.whole_number("points", 2..=64)?;
        position = see.flag("position")?.unwrap_or(position);
        gaps = see.number("gaps", 0.0..=1e6)?;
        see.done()?;
    }
    section.done()?;
    Ok(AgentsText { number, width, range, speed, error, window, points, position, gaps })
}
