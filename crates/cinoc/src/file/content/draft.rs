//! The content of a problem file.

use super::section::{Section, as_number, as_text, fault};
use crate::Error;
use crate::settings::Overlay;
use toml::{Table, Value};

/// A problem as it is written; texts are not parsed yet.
pub struct Draft {
    /// The file, for errors.
    pub place: String,
    pub about: String,
    /// Lengths of the axes.
    pub size: Vec<f64>,
    pub cells: Vec<usize>,
    /// Lower and upper end of each axis.
    pub sides: Vec<[SideText; 2]>,
    pub constants: Vec<Constant>,
    /// Names and texts of maps.
    pub maps: Vec<(String, String)>,
    /// The field.
    pub field: String,
    pub start: String,
    /// Its time derivative.
    pub equation: String,
    pub agents: AgentsText,
    pub task: TaskText,
    pub time: TimeText,
    /// Sections of settings that the file changes: `swarm`, `observe`, `policy`, `train`.
    pub changes: Table,
}

/// Condition at an end of an axis, with its numbers as texts.
#[derive(Clone, PartialEq)]
pub enum SideText {
    Periodic,
    Value(String),
    Flux(String),
    Exchange { coefficient: String, outside: String },
    Open(String),
}

/// A constant and the range that training draws it from.
pub struct Constant {
    pub name: String,
    pub value: f64,
    pub range: Option<[f64; 2]>,
}

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
    pub points: usize,
    pub position: bool,
    pub gaps: Option<f64>,
}

/// The section `task`.
pub struct TaskText {
    pub target: Option<String>,
    pub cost: Vec<CostText>,
    pub score: String,
    pub when: When,
}

/// A term of the cost.
pub struct CostText {
    pub name: String,
    pub text: String,
    pub when: When,
}

/// Ticks that count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    Last,
    Mean,
    SecondHalf,
}

/// The section `time`.
pub struct TimeText {
    pub tick: f64,
    pub ticks: usize,
    pub second_order: bool,
    pub substeps: Option<usize>,
}

/// Names of the sides at the lower and the upper end of each axis.
const SIDES: [[&str; 2]; 3] = [["left", "right"], ["bottom", "top"], ["front", "back"]];

/// Largest number of names in a section.
const MOST_NAMES: usize = 64;

impl When {
    const WORDS: [&str; 3] = ["last", "mean", "second half"];

    fn read(section: &mut Section, otherwise: Self) -> Result<Self, Error> {
        Ok(match section.word("when", &Self::WORDS)? {
            Some("last") => Self::Last,
            Some("mean") => Self::Mean,
            Some(_) => Self::SecondHalf,
            None => otherwise,
        })
    }

    /// Weight of a tick (from 1); the weights of an episode add up to 1.
    pub fn weight(self, tick: usize, ticks: usize) -> f64 {
        let half = ticks / 2;
        match self {
            Self::Last => f64::from(u8::from(tick == ticks)),
            Self::Mean => 1.0 / ticks as f64,
            Self::SecondHalf => {
                if tick > half {
                    1.0 / (ticks - half) as f64
                } else {
                    0.0
                }
            }
        }
    }

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Last => "after the last tick",
            Self::Mean => "mean over the ticks",
            Self::SecondHalf => "mean over the second half of the ticks",
        }
    }
}

impl Draft {
    /// Reads a file; `place` names it in errors.
    pub fn read(text: &str, place: &str) -> Result<Self, Error> {
        let mut file = Section::whole(crate::settings::parse(text, place)?, place);
        let about = file.text("about")?.unwrap_or_default();
        let domain = file.section("domain")?;
        let (size, cells, sides) = domain_of(file.need("domain", domain, "[domain]")?)?;
        let constants = file.section("constants")?.map_or(Ok(Vec::new()), constants_of)?;
        let maps = file.section("maps")?.map_or(Ok(Vec::new()), |section| texts_of(section).map(|all| all.0))?;
        let fields = file.section("fields")?;
        let (field, start) = field_of(file.need("fields", fields, "[fields]")?)?;
        let equations = file.section("equations")?;
        let equation = equation_of(file.need("equations", equations, "[equations]")?, &field)?;
        let agents = file.section("agents")?;
        let agents = agents_of(file.need("agents", agents, "[agents]")?)?;
        let task = file.section("task")?;
        let task = task_of(file.need("task", task, "[task]")?)?;
        let time = file.section("time")?;
        let time = time_of(file.need("time", time, "[time]")?)?;
        let mut changes = Table::new();
        for section in ["swarm", "observe", "policy", "train"] {
            match file.take(section) {
                None => {}
                Some(Value::Table(table)) => drop(changes.insert(section.into(), Value::Table(table))),
                Some(_) => return Err(fault(place, section, "it must be a section")),
            }
        }
        file.done()?;
        let place = place.into();
        Ok(Self { place, about, size, cells, sides, constants, maps, field, start, equation, agents, task, time, changes })
    }

    /// An error about a key.
    pub fn fault(&self, key: impl Into<String>, reason: impl Into<String>) -> Error {
        fault(&self.place, key, reason)
    }

    /// The settings that the file changes.
    pub fn overlay(&self) -> Result<Overlay, Error> {
        Overlay::from_toml(&self.changes.to_string(), &self.place)
    }

    /// True if all axes are periodic.
    pub fn periodic(&self) -> bool {
        self.sides.iter().flatten().all(|side| *side == SideText::Periodic)
    }
}

type DomainText = (Vec<f64>, Vec<usize>, Vec<[SideText; 2]>);

fn domain_of(mut section: Section) -> Result<DomainText, Error> {
    let size = section.numbers("size")?;
    let size = section.need("size", size, "size = [1.0]")?;
    let cells = section.numbers("cells")?;
    let cells = section.need("cells", cells, "cells = [64]")?;
    let d = size.len();
    if !(1..=2).contains(&d) {
        return Err(section.fault("size", "one or two lengths are supported, like [1.0] or [1.0, 1.0]"));
    }
    if !size.iter().all(|length| (1e-6..=1e6).contains(length)) {
        return Err(section.fault("size", "lengths must be from 1e-6 to 1e6"));
    }
    if cells.len() != d || !cells.iter().all(|n| (4.0..=4096.0).contains(n) && n.fract() == 0.0) {
        return Err(section.fault("cells", format!("it must be a list of {d} whole numbers from 4 to 4096, one for each axis")));
    }
    let all = section.word("sides", &["periodic", "insulated"])?;
    let mut sides = Vec::new();
    for (axis, names) in SIDES.iter().enumerate().take(d) {
        let mut side = |name: &'static str| -> Result<SideText, Error> {
            let given = section.take(name);
            match (given, all) {
                (Some(_), Some("periodic")) => Err(section.fault(name, "all sides are periodic; remove one of both")),
                (Some(value), _) => side_of(&section, name, value),
                (None, Some("periodic")) => Ok(SideText::Periodic),
                (None, _) => Ok(SideText::Flux("0".into())),
            }
        };
        let ends = [side(names[0])?, side(names[1])?];
        if (ends[0] == SideText::Periodic) != (ends[1] == SideText::Periodic) {
            return Err(section.fault(names[0], format!("{} and {} are periodic together or not at all", names[0], names[1])));
        }
        if axis > 0 && (ends[0] == SideText::Periodic) != (sides[0] == [SideText::Periodic, SideText::Periodic]) {
            return Err(section.fault(names[0], "either all sides are periodic or none is"));
        }
        sides.push(ends);
    }
    section.done()?;
    Ok((size, cells.iter().map(|n| *n as usize).collect(), sides))
}

fn side_of(section: &Section, name: &'static str, value: Value) -> Result<SideText, Error> {
    const EXAMPLES: &str =
        "{ value = 0 }, { flux = 0 }, { exchange = 8.0, outside = 20.0 }, { open = 0 }, \"periodic\" or \"insulated\"";
    match value {
        Value::String(word) if word == "periodic" => Ok(SideText::Periodic),
        Value::String(word) if word == "insulated" => Ok(SideText::Flux("0".into())),
        Value::Table(table) => {
            let mut side = section.inner(name, table);
            let texts = [side.text("value")?, side.text("flux")?, side.text("exchange")?, side.text("open")?];
            let outside = side.text("outside")?;
            let found = match texts {
                [Some(value), None, None, None] => SideText::Value(value),
                [None, Some(flux), None, None] => SideText::Flux(flux),
                [None, None, Some(coefficient), None] => {
                    let outside = side.need("outside", outside, "outside = 20.0")?;
                    side.done()?;
                    return Ok(SideText::Exchange { coefficient, outside });
                }
                [None, None, None, Some(inflow)] => SideText::Open(inflow),
                _ => return Err(section.fault(name, format!("it must be one of {EXAMPLES}"))),
            };
            if outside.is_some() {
                return Err(side.fault("outside", "only an exchange has an outside"));
            }
            side.done()?;
            Ok(found)
        }
        _ => Err(section.fault(name, format!("it must be one of {EXAMPLES}"))),
    }
}

fn constants_of(mut section: Section) -> Result<Vec<Constant>, Error> {
    let mut all = Vec::new();
    for (name, value) in section.names() {
        let (value, range) = match value {
            Value::Table(table) => {
                let mut inner = section.inner(&name, table);
                let value = inner.number("value", -1e12..=1e12)?;
                let value = inner.need("value", value, "value = 1.0")?;
                let range = match inner.numbers("range")?.as_deref() {
                    None => None,
                    Some(&[low, high]) if low <= value && value <= high => Some([low, high]),
                    Some(_) => return Err(inner.fault("range", "it must be two numbers around the value, like [0.5, 2.0]")),
                };
                inner.done()?;
                (value, range)
            }
            other => match as_number(&other) {
                Some(value) if value.abs() <= 1e12 => (value, None),
                _ => {
                    let reason = "it must be a number, or a value with a range like { value = 1.0, range = [0.5, 2.0] }";
                    return Err(section.fault(&name, reason));
                }
            },
        };
        all.push(Constant { name, value, range });
    }
    if all.len() > MOST_NAMES {
        return Err(section.fault("", format!("at most {MOST_NAMES} constants are possible")));
    }
    Ok(all)
}

/// Names and texts of a section.
fn texts_of(mut section: Section) -> Result<(Vec<(String, String)>, Section), Error> {
    let mut all = Vec::new();
    for (name, value) in section.names() {
        let Some(text) = as_text(&value) else { return Err(section.fault(&name, "it must be a text or a number")) };
        all.push((name, text));
    }
    if all.len() > MOST_NAMES {
        return Err(section.fault("", format!("at most {MOST_NAMES} names are possible")));
    }
    Ok((all, section))
}

fn field_of(mut section: Section) -> Result<(String, String), Error> {
    let mut all: Vec<_> = section.names().collect();
    let (Some((name, value)), true) = (all.pop(), all.is_empty()) else {
        return Err(section.fault("", "one field is needed, like z = { start = \"random(0.2)\" }; several are not supported yet"));
    };
    let start = match value {
        Value::Table(table) => {
            let mut inner = section.inner(&name, table);
            let start = inner.text("start")?;
            let start = inner.need("start", start, "start = \"random(0.2)\"")?;
            inner.done()?;
            start
        }
        other => match as_text(&other) {
            Some(text) => text,
            None => return Err(section.fault(&name, "it must be a section like { start = \"random(0.2)\" }")),
        },
    };
    Ok((name, start))
}

fn equation_of(section: Section, field: &str) -> Result<String, Error> {
    let (all, section) = texts_of(section)?;
    match &all[..] {
        [(name, text)] if name == field => Ok(text.clone()),
        _ => Err(section.fault(field, format!("there must be one equation, that of the field {field}: {field} = \"…\""))),
    }
}

fn agents_of(mut section: Section) -> Result<AgentsText, Error> {
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
    let (mut error, mut window, mut points, mut position, mut gaps) = (None, 4.0 * width, 8, false, None);
    if let Some(mut see) = section.section("see")? {
        error = see.text("error")?;
        window = see.number("window", 1e-6..=1e6)?.unwrap_or(window);
        points = see.whole_number("points", 2..=64)?.unwrap_or(points);
        position = see.flag("position")?.unwrap_or(position);
        gaps = see.number("gaps", 0.0..=1e6)?;
        see.done()?;
    }
    section.done()?;
    Ok(AgentsText { number, width, range, speed, error, window, points, position, gaps })
}

fn task_of(mut section: Section) -> Result<TaskText, Error> {
    let target = section.text("target")?;
    let cost = section.section("cost")?;
    let mut costs = section.need("cost", cost, "cost = { error = \"mean((z - target)^2)\" }")?;
    let mut cost = Vec::new();
    for (name, value) in costs.names() {
        let (text, when) = match value {
            Value::Table(table) => {
                let mut inner = costs.inner(&name, table);
                let text = inner.text("text")?;
                let text = inner.need("text", text, "text = \"mean(z^2)\"")?;
                let when = When::read(&mut inner, When::Mean)?;
                inner.done()?;
                (Some(text), when)
            }
            other => (as_text(&other), When::Mean),
        };
        let Some(text) = text else { return Err(costs.fault(&name, "it must be a text, like \"mean((z - target)^2)\"")) };
        cost.push(CostText { name, text, when });
    }
    if !(1..=16).contains(&cost.len()) {
        return Err(section.fault("cost", "one to sixteen terms are possible"));
    }
    let score = section.text("score")?;
    let score = section.need("score", score, "score = \"mean((z - target)^2)\"")?;
    let when = When::read(&mut section, When::Last)?;
    section.done()?;
    Ok(TaskText { target, cost, score, when })
}

fn time_of(mut section: Section) -> Result<TimeText, Error> {
    let tick = section.number("tick", 1e-9..=1e6)?;
    let tick = section.need("tick", tick, "tick = 0.05")?;
    let ticks = section.whole_number("ticks", 2..=1_000_000)?;
    let ticks = section.need("ticks", ticks, "ticks = 80")?;
    let second_order = section.whole_number("order", 1..=2)?.unwrap_or(2) == 2;
    let substeps = section.whole_number("substeps", 1..=10_000)?;
    section.done()?;
    Ok(TimeText { tick, ticks, second_order, substeps })
}
