//! The settings of a problem file: sections that can be changed like those of any problem.

use super::data;
use super::draft::Draft;
use super::known::Known;
use super::seen_field::Seen;
use super::written_task::WrittenTask;
use crate::policy::Recurrent;
use crate::problems::{Mobile, Static};
use crate::random::{Rng, Split, Stream};
use crate::recipe::{Schedule, Train, section};
use crate::sense::Window;
use crate::settings::{Kind, Rule, Setting, Settings, lasting};
use crate::task::{Instance, Task, mean_square};
use crate::{Error, settings};
use serde::de::DeserializeOwned;
use std::path::Path;
use std::sync::Arc;
use toml::{Table, Value};

settings! {
    /// Cells, ticks and steps.
    pub struct WrittenPhysics {
        /// Cells along each axis.
        cells: Vec<usize> = (1..=3, 4..=4096),
        /// Duration of a tick.
        dt: f64 = 1e-9..=1e6,
        /// Decisions per episode.
        ticks: usize = 2..=1_000_000,
        /// Steps of a tick; 0: chosen by the explicit terms.
        #[absent = 0]
        substeps: usize = 0..=10_000,
    }

    /// The problem file.
    pub struct WrittenFile {
        /// Its name, for messages.
        name: String = 200,
        /// Its text.
        text: String = LONGEST,
        /// Its data files, each with its name.
        #[absent = Vec::<String>::new()]
        data: Vec<String> = (0..=data::MOST_FILES, data::LONGEST),
    }
}

/// Largest number of characters of a problem file.
const LONGEST: usize = 1 << 18;

/// Samples of a window along each axis of a box, unless the file says otherwise.
pub const BOX_POINTS: usize = 3;

/// Largest magnitude of a constant.
const LARGEST: f64 = 1e12;

/// Values of the sections.
pub struct Sections {
    pub constants: Vec<f64>,
    pub physics: WrittenPhysics,
    pub agents: AnyAgents,
    pub observe: Window,
}

/// Agents that move, or do not.
pub enum AnyAgents {
    Mobile(Mobile),
    Static(Static),
}

impl AnyAgents {
    /// Number of agents in training.
    pub fn count(&self) -> usize {
        match self {
            Self::Mobile(mobile) => mobile.agents,
            Self::Static(fixed) => fixed.agents,
        }
    }

    /// Largest magnitude of the first channel.
    pub fn u_limit(&self) -> f64 {
        match self {
            Self::Mobile(mobile) => mobile.u_limit,
            Self::Static(fixed) => fixed.u_limit,
        }
    }

    /// Largest velocity, if they move.
    pub fn v_limit(&self) -> Option<f64> {
        match self {
            Self::Mobile(mobile) => Some(mobile.v_limit),
            Self::Static(_) => None,
        }
    }
}

impl Sections {
    /// Reads the sections of a checked tree.
    pub fn of(draft: &Draft, tree: &Table) -> Result<Self, Error> {
        let constant = |name: &str| tree.get("constants").and_then(|section| section.get(name)).and_then(Value::as_float);
        let constants: Option<Vec<f64>> = draft.constants.iter().map(|each| constant(&each.name)).collect();
        let mobile = draft.agents.speed.is_some();
        Ok(Self {
            constants: constants.ok_or_else(|| draft.fault("constants", "a value is missing"))?,
            physics: typed(draft, tree, "physics")?,
            agents: match mobile {
                true => AnyAgents::Mobile(typed(draft, tree, "swarm")?),
                false => AnyAgents::Static(typed(draft, tree, "swarm")?),
            },
            observe: typed(draft, tree, "observe")?,
        })
    }
}

fn typed<T: DeserializeOwned>(draft: &Draft, tree: &Table, name: &str) -> Result<T, Error> {
    let section = tree.get(name).cloned().unwrap_or(Value::Table(Table::new()));
    section.try_into().map_err(|_| draft.fault(name, "these settings do not fit the file"))
}

/// Every key of the sections of a file.
pub fn table(draft: &Draft) -> Vec<Setting> {
    let own = |key, about: &str, rule| Setting { key, about: about.into(), rule, absent: None };
    let constant = |each: &super::draft::Constant| {
        let unit = if each.unit.is_empty() { String::new() } else { format!(" in {}", each.unit) };
        let range = each.range.map_or_else(String::new, |[low, high]| format!("; in training from {low} to {high}"));
        let about = format!("Constant{unit}{range}.");
        own(lasting(&each.name), &about, Rule::Number(-LARGEST..=LARGEST))
    };
    let swarm = if draft.agents.speed.is_some() { Mobile::rule(()) } else { Static::rule(()) };
    let mut table = vec![own("file", "The problem file.", Rule::Section(WrittenFile::table()))];
    if !draft.constants.is_empty() {
        let constants = draft.constants.iter().map(constant).collect();
        table.push(own("constants", "Constants of the equation.", Rule::Section(constants)));
    }
    table.push(own("physics", "Cells, ticks and steps.", WrittenPhysics::rule(())));
    table.push(own("swarm", "Agents.", swarm));
    table.push(own("observe", "Observation of an agent.", Window::rule(())));
    table
}

/// The sections as the file says, and the recipe: nothing in it needs tuning.
pub fn defaults(draft: &Draft, text: &str) -> Result<(Table, Table, Train), Error> {
    let values: Vec<f64> = draft.constants.iter().map(|constant| constant.value).collect();
    let (known, tick) = (Arc::new(Known::new(draft, &draft.cells, &values)?), draft.time.tick);
    let size = typical(&WrittenTask::new(draft, known.clone(), tick)?, Seen::new(draft, known, tick)?.as_ref());
    let mut tree = Table::new();
    let mut put = |key: &str, value| drop(tree.insert(key.into(), value));
    put("file", value(&WrittenFile { name: file_name(&draft.place), text: text.into(), data: draft.data.texts() }));
    if !draft.constants.is_empty() {
        let each = |constant: &super::draft::Constant| (constant.name.clone(), Value::Float(constant.value));
        put("constants", Value::Table(draft.constants.iter().map(each).collect()));
    }
    let substeps = draft.time.substeps.unwrap_or(0);
    put("physics", value(&WrittenPhysics { cells: draft.cells.clone(), dt: draft.time.tick, ticks: draft.time.ticks, substeps }));
    put("swarm", swarm(draft));
    let agents = &draft.agents;
    let shortest = draft.size.iter().copied().fold(f64::INFINITY, f64::min);
    let d = draft.size.len();
    let gaps = match agents.gaps {
        Some(gaps) => gaps,
        None if d > 2 => 0.0,
        None => (draft.size.iter().product::<f64>() / agents.number as f64).powf(1.0 / d as f64),
    };
    let points = agents.points.unwrap_or(if d > 2 { BOX_POINTS } else { 8 });
    let window = agents.window.min(0.9 * shortest);
    let observe = Window { position: agents.position, gaps, gain: (2.0 / size).clamp(1e-6, 1e6), ..Window::new(points, window) };
    put("observe", value(&observe));
    let policy =
        Recurrent { memory_ticks: [2.0, 0.5 * draft.time.ticks.max(8) as f64], output_scale: 0.2, ..Recurrent::default() };
    Ok((tree, section(&policy), train(draft)))
}

fn swarm(draft: &Draft) -> Value {
    let agents = &draft.agents;
    let [low, high] = agents.channels[0].range;
    let (limit, width) = (high.max(-low), agents.channels[0].width(draft.size[0] / draft.cells[0] as f64));
    match agents.speed {
        None => value(&Static {
            staggered: draft.periodic().iter().all(|periodic| *periodic),
            ..Static::new(agents.number, width, limit)
        }),
        Some(speed) => value(&Mobile { start_in_cells: true, ..Mobile::new(agents.number, width, limit, speed) }),
    }
}

/// Training that is safe for any equation: a moderate rate with warm-up, clipped shards, an average of the parameters,
/// and some variation of strengths.
fn train(draft: &Draft) -> Train {
    let range = |constant: &super::draft::Constant| {
        let [low, high] = constant.range?;
        Some(format!("constants.{} = {low:?}..{high:?}", constant.name))
    };
    Train {
        updates: 400,
        schedule: Schedule::WarmupCosine,
        rate_start: 2e-4,
        rate: 2e-3,
        rate_end: 5e-5,
        warmup: 20,
        average: 0.98,
        clip_shard: 8.0,
        shard: 4,
        validate_instances: 32,
        strength: [0.8, 1.25],
        strength_each: 0.1,
        vary: draft.constants.iter().filter_map(range).collect(),
        ..Train::default()
    }
}

fn value<T: Settings>(settings: &T) -> Value {
    Value::Table(Table::try_from(settings).expect("settings are plain data"))
}

/// Name of a file without its folders.
fn file_name(place: &str) -> String {
    Path::new(place).file_name().map(|name| name.to_string_lossy().chars().take(200).collect()).unwrap_or_default()
}

/// Typical magnitude of what agents see: the root mean square at the start.
fn typical(task: &WrittenTask, seen: Option<&Seen>) -> f64 {
    let squares = (0..8).map(|i| {
        let Instance { start, target } = task.sample(&mut Rng::new(0, Stream::Validate, i), Split::Validation);
        match seen {
            Some(seen) => {
                let values = seen.values(&start, &target);
                mean_square(&values, &vec![0.0; values.len()])
            }
            None => mean_square(&start, &target),
        }
    });
    let size = (squares.sum::<f64>() / 8.0).sqrt();
    if size.is_finite() && size > 1e-6 { size } else { 1.0 }
}
