//! The content of problem files: a [`Draft`] is read, checked and built.

mod also_seen;
mod boxes;
mod data;
mod draft;
mod known;
mod operators;
mod random_field;
mod section;
mod sections;
mod seen_field;
mod sides;
mod sorted;
mod stable_step;
mod written;
mod written_swarm;
mod written_task;

use super::Opened;
use crate::problem::Description;
use crate::problems::window_fits;
use crate::random::{Rng, Split, Stream};
use crate::sense::Sight;
use crate::settings::Setting;
use crate::task::{Instance, Task};
use crate::{Error, Problem, budget};
use also_seen::AlsoSeen;
use cinoc_pde::Stepper;
use data::Data;
use draft::{AgentsText, AlsoText, Draft};
use known::Known;
use sections::Sections;
use seen_field::SeenField;
use std::path::Path;
use std::sync::Arc;
use toml::{Table, Value};
use written::{Clock, WrittenEquation};
use written_task::WrittenTask;

/// Memory per cell, in bytes.
const BYTES_PER_CELL: f64 = 1000.0;

/// Opens a problem file with this text.
pub fn open(text: &str, place: &str) -> Result<Opened, Error> {
    let mut draft = Draft::read(text, place)?;
    boxes::check_file(&draft)?;
    draft.data = Data::read(&draft.place, draft.data_files())?;
    check_size(&draft, &draft.cells)?;
    let (tree, policy, train) = sections::defaults(&draft, text)?;
    let stem = Path::new(place).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let name: String = stem.chars().filter(|c| c.is_alphanumeric() || *c == '_' || *c == '-').take(64).collect();
    let name = if name.is_empty() { "problem".into() } else { name };
    Ok(Opened { name, tree, policy, train, changes: draft.overlay()? })
}

fn draft(tree: &Table) -> Result<Draft, Error> {
    let get = |key: &str| tree.get("file").and_then(|file| file.get(key));
    let text = get("text").and_then(Value::as_str);
    let text = text.ok_or_else(|| section::fault("the settings", "file.text", "it is missing"))?;
    let mut draft = Draft::read(text, get("name").and_then(Value::as_str).unwrap_or("the problem file"))?;
    let data = get("data").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let damaged = || section::fault("the settings", "file.data", "it is damaged; open the problem file again");
    draft.data = Data::of(data.iter().filter_map(Value::as_str)).ok_or_else(damaged)?;
    Ok(draft)
}

/// Every key of the sections of a problem.
pub fn table(tree: &Table) -> Result<Vec<Setting>, Error> {
    Ok(sections::table(&draft(tree)?))
}

fn check_size(draft: &Draft, cells: &[usize]) -> Result<(), Error> {
    if cells.len() != draft.size.len() {
        return Err(Error::bad(
            "physics.cells",
            format!("{cells:?}"),
            format!("{} numbers, one for each axis", draft.size.len()),
        ));
    }
    boxes::check_cells(cells)?;
    budget::check("this problem", BYTES_PER_CELL * draft.fields.len() as f64 * cells.iter().map(|n| *n as f64).product::<f64>())
}

/// Rejects settings that do not fit the file.
pub fn check(tree: &Table) -> Result<(), Error> {
    let draft = draft(tree)?;
    boxes::check_file(&draft)?;
    let sections = Sections::of(&draft, tree)?;
    boxes::check_settings(&draft, &sections)?;
    let Sections { physics, observe, .. } = sections;
    check_size(&draft, &physics.cells)?;
    if observe.target {
        return Err(Error::bad("observe.target", "true", "false: agents of a problem file do not see the target itself"));
    }
    let shortest = draft
        .size
        .iter()
        .zip(&physics.cells)
        .zip(draft.periodic())
        .map(|((size, n), periodic)| if periodic { *size } else { size - size / *n as f64 });
    window_fits(observe.window, shortest.fold(f64::INFINITY, f64::min) * (1.0 + 1e-6))
}

/// Builds the problem.
pub fn build(name: &str, tree: &Table) -> Result<Problem, Error> {
    parts(name, tree).map(|(problem, _)| problem)
}

/// Describes the problem.
pub fn describe(tree: &Table) -> Result<Description, Error> {
    let (problem, mut numerics) = parts("", tree)?;
    let draft = draft(tree)?;
    numerics.extend(units(&draft));
    let AgentsText { error, speed, also, channels, last, shared, .. } = &draft.agents;
    let seen = error.clone().unwrap_or_else(|| draft.error());
    let equations: Vec<_> = draft.fields.iter().map(|field| format!("d{}/dt = {}", field.name, field.equation)).collect();
    let features = problem.swarm.features();
    let mut more: Vec<String> = also.iter().map(also_words).collect();
    more.extend(last.then(|| "its last action".into()));
    more.extend(channels.iter().filter(|channel| channel.tank.is_some()).map(|channel| format!("its tank of {}", channel.name)));
    more.extend(shared.then(|| "the used share of shared limits".into()));
    let more = if more.is_empty() { String::new() } else { format!(": among them {}", more.join(", ")) };
    let ranges = written_swarm::ranges(&draft, &Sections::of(&draft, tree)?.agents);
    let mut acts: Vec<String> = channels.iter().zip(ranges).map(|(channel, range)| channel.words(range)).collect();
    acts.extend(speed.map(|_| "a velocity, each component <= v_limit".into()));
    Ok(Description {
        about: draft.about.clone(),
        equation: equations.join("; "),
        sees: format!(
            "{seen} and its slopes at points of a window around it: {} numbers, and {} more{more}.",
            features.patch.count(),
            features.position
        ),
        acts: format!("{}.", acts.join(if channels.len() > 1 { "; " } else { ", and " })),
        score: format!("{}, {}.", draft.task.score, draft.task.when.words()),
        numerics,
    })
}

/// A text that agents see, in words.
fn also_words(AlsoText { text, ahead, .. }: &AlsoText) -> String {
    if *ahead > 0.0 { format!("{text} at t + {ahead}") } else { text.clone() }
}

/// The units of the file in words, if it has any.
fn units(draft: &Draft) -> Option<String> {
    let positions = if draft.size.len() == 1 { "x" } else { "positions" };
    let mut all = vec![(positions, &draft.unit), ("t", &draft.time.unit)];
    all.extend(draft.fields.iter().map(|field| (field.name.as_str(), &field.unit)));
    all.extend(draft.agents.channels.iter().map(|channel| (channel.name.as_str(), &channel.unit)));
    all.extend(draft.maps.iter().map(|map| (map.name.as_str(), &map.unit)));
    all.extend(draft.constants.iter().map(|constant| (constant.name.as_str(), &constant.unit)));
    let given: Vec<_> = all.iter().filter(|(_, unit)| !unit.is_empty()).map(|(name, unit)| format!("{name} in {unit}")).collect();
    (!given.is_empty()).then(|| format!("units: {}", given.join(", ")))
}

fn parts(name: &str, tree: &Table) -> Result<(Problem, Vec<String>), Error> {
    check(tree)?;
    let draft = draft(tree)?;
    let Sections { constants, physics, agents, observe } = Sections::of(&draft, tree)?;
    let known = Arc::new(Known::new(&draft, &physics.cells, &constants)?);
    let grid = known.grid.clone();
    let mut task = WrittenTask::new(&draft, known.clone(), physics.dt)?;
    let instance = |i| task.sample(&mut Rng::new(0, Stream::Validate, i), Split::Validation);
    // Starts, and these with the first field at its target.
    let states: Vec<_> = (0..4)
        .map(instance)
        .flat_map(|Instance { start, mut target }| {
            target[grid.count()..].copy_from_slice(&start[grid.count()..]);
            [start, target]
        })
        .collect();
    let clock = Clock { tick: physics.dt, ticks: physics.ticks, substeps: physics.substeps };
    let stepper = WrittenEquation::new(&draft, known.clone(), clock, &states)?;
    let mut notes = stepper.treatments.clone();
    notes.push(stepper.steps());
    if let Some(fluid) = &known.fluid {
        let count = grid.count();
        notes.push(format!("{} of {count} cells are solid", count - fluid.len()));
    }
    let ranges = written_swarm::ranges(&draft, &agents);
    let actuators = written_swarm::actuators(&draft, &ranges, physics.dt);
    let mut limits: Vec<f64> = ranges.iter().map(|[low, high]| high.max(-low)).collect();
    limits.extend(agents.v_limit().into_iter().flat_map(|speed| vec![speed; grid.dimensions()]));
    let also = AlsoSeen::new(&draft, known.clone(), &limits, actuators.clone(), physics.dt)?;
    let sense = SeenField::new(&draft, known.clone(), Sight::around(&grid, &observe), also, physics.dt)?;
    task.timed |= stepper.timed() || sense.timed();
    let swarm = written_swarm::swarm(&draft, &agents, &known, sense, actuators, physics.dt);
    let swarm = swarm.with_self_sensing(observe.self_sensing());
    let (stepper, task) = (Box::new(stepper), Box::new(task));
    Ok((Problem { name: name.into(), stepper, swarm, task, agents: agents.count(), ticks: physics.ticks }, notes))
}
