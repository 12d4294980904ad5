//! The content of a problem file.

mod agents;
mod also;
mod channels;
mod domain;
mod fields;
mod maps;
mod names;
mod points;
mod series;
mod task;

pub use agents::AgentsText;
pub use also::AlsoText;
pub use channels::{ChannelText, ShapeText};
pub use domain::SideText;
pub use fields::FieldText;
pub use maps::{Map, MapText, Scale};
pub use names::Constant;
pub use series::{ColumnText, Repeat, SeriesText};
pub use task::{TaskText, TimeText, When};

use super::data::Data;
use super::section::{Section, fault};
use crate::Error;
use crate::settings::Overlay;
use agents::agents_of;
use domain::{DomainText, domain_of};
use fields::{equations_of, fields_of};
use maps::maps_of;
use names::constants_of;
use series::series_of;
use task::{task_of, time_of};
use toml::{Table, Value};

/// A problem as it is written; texts are not parsed yet.
pub struct Draft {
    /// The file, for errors.
    pub place: String,
    pub about: String,
    /// Lengths of the axes.
    pub size: Vec<f64>,
    /// Unit of length.
    pub unit: String,
    pub cells: Vec<usize>,
    /// Lower and upper end of each axis, of fields that name no others.
    pub sides: Vec<[SideText; 2]>,
    pub constants: Vec<Constant>,
    /// Text of the solid cells.
    pub solid: Option<String>,
    pub maps: Vec<Map>,
    /// Parts of the domain: maps that are not zero there.
    pub zones: Vec<Map>,
    /// Names of series.
    pub series: Vec<(String, SeriesText)>,
    /// The fields; agents see, and pictures show, the first.
    pub fields: Vec<FieldText>,
    pub agents: AgentsText,
    pub task: TaskText,
    pub time: TimeText,
    /// Sections of settings that the file changes: `swarm`, `observe`, `policy`, `train`.
    pub changes: Table,
    /// The content of data files.
    pub data: Data,
}

impl Draft {
    /// Reads a file without its data; `place` names it in errors.
    pub fn read(text: &str, place: &str) -> Result<Self, Error> {
        let mut file = Section::whole(crate::settings::parse(text, place)?, place);
        let about = file.text("about")?.unwrap_or_default();
        let domain = file.section("domain")?;
        let DomainText { size, cells, sides, solid, unit } = domain_of(file.need("domain", domain, "[domain]")?)?;
        let constants = file.section("constants")?.map_or(Ok(Vec::new()), constants_of)?;
        let maps = file.section("maps")?.map_or(Ok(Vec::new()), maps_of)?;
        let zones = file.section("zones")?.map_or(Ok(Vec::new()), maps_of)?;
        let series = file.section("series")?.map_or(Ok(Vec::new()), series_of)?;
        let fields = file.section("fields")?;
        let mut fields = fields_of(file.need("fields", fields, "[fields]")?, text, &sides)?;
        let equations = file.section("equations")?;
        equations_of(file.need("equations", equations, "[equations]")?, &mut fields)?;
        let agents = file.section("agents")?;
        let agents = agents_of(file.need("agents", agents, "[agents]")?, &size, &cells)?;
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
        Ok(Self {
            place: place.into(),
            about,
            size,
            unit,
            cells,
            sides,
            solid,
            constants,
            maps,
            zones,
            series,
            fields,
            agents,
            task,
            time,
            changes,
            data: Data::default(),
        })
    }

    /// An error about a key.
    pub fn fault(&self, key: impl Into<String>, reason: impl Into<String>) -> Error {
        fault(&self.place, key, reason)
    }

    /// Names of the fields.
    pub fn names(&self) -> Vec<&str> {
        self.fields.iter().map(|field| field.name.as_str()).collect()
    }

    /// Text of what agents see unless the file says otherwise: the error of the first field.
    pub fn error(&self) -> String {
        let first = &self.fields[0].name;
        if self.task.target.is_some() { format!("{first} - target") } else { first.clone() }
    }

    /// The settings that the file changes.
    pub fn overlay(&self) -> Result<Overlay, Error> {
        Overlay::from_toml(&self.changes.to_string(), &self.place)
    }

    /// True for each periodic axis.
    pub fn periodic(&self) -> Vec<bool> {
        self.sides.iter().map(|ends| ends[0] == SideText::Periodic).collect()
    }

    /// Names of the data files, each with a key that uses it.
    pub fn data_files(&self) -> impl Iterator<Item = (String, &str)> {
        let maps = self.maps.iter().map(|map| ("maps", map)).chain(self.zones.iter().map(|zone| ("zones", zone)));
        let maps = maps.filter_map(|(section, map)| match &map.text {
            MapText::Picture { file, .. } | MapText::Array { file } => Some((format!("{section}.{}", map.name), file.as_str())),
            _ => None,
        });
        let series = self.series.iter().filter_map(|(name, series)| match series {
            SeriesText::Column(column) => Some((format!("series.{name}"), column.file.as_str())),
            SeriesText::Text(_) => None,
        });
        maps.chain(series)
    }
}
