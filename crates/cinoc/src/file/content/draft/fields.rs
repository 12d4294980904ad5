//! The sections `fields` and `equations`.

use super::super::section::{Section, as_text};
use super::domain::{SIDES, SideText, side_of};
use super::names::texts_of;
use crate::Error;
use toml::Value;
use toml::de::DeTable;

/// A field with its start, its sides and its time derivative.
pub struct FieldText {
    pub name: String,
    pub start: String,
    /// Lower and upper end of each axis.
    pub sides: Vec<[SideText; 2]>,
    pub equation: String,
    pub unit: String,
}

/// Largest number of fields.
const MOST_FIELDS: usize = 8;

/// The fields of a file of this text, in their order there; sides that they do not name are those of the domain.
pub fn fields_of(mut section: Section, file: &str, domain: &[[SideText; 2]]) -> Result<Vec<FieldText>, Error> {
    let order = names_in_order(file, "fields");
    let mut all: Vec<_> = section.names().collect();
    all.sort_by_key(|(name, _)| order.iter().position(|known| known == name));
    if !(1..=MOST_FIELDS).contains(&all.len()) {
        let reason = format!("one to {MOST_FIELDS} fields are possible, like z = {{ start = \"random(0.2)\" }}");
        return Err(section.fault("", reason));
    }
    all.into_iter().map(|(name, value)| field_of(&section, name, value, domain)).collect()
}

/// Names of a section in the order of the file; tables of TOML are sorted.
fn names_in_order(file: &str, section: &str) -> Vec<String> {
    let table = DeTable::parse(file).ok();
    let names = table.as_ref().and_then(|table| table.get_ref().get(section)?.get_ref().as_table());
    let mut names: Vec<_> = names.into_iter().flat_map(DeTable::keys).collect();
    names.sort_by_key(|name| name.span().start);
    names.into_iter().map(|name| name.get_ref().to_string()).collect()
}

fn field_of(section: &Section, name: String, value: Value, domain: &[[SideText; 2]]) -> Result<FieldText, Error> {
    let (mut sides, mut unit) = (domain.to_vec(), String::new());
    let start = match value {
        Value::Table(table) => {
            let mut inner = section.inner(&name, table);
            let start = inner.text("start")?;
            let start = inner.need("start", start, "start = \"random(0.2)\"")?;
            for (ends, names) in sides.iter_mut().zip(SIDES) {
                for (end, name) in ends.iter_mut().zip(names) {
                    let Some(value) = inner.take(name) else { continue };
                    let own = side_of(&inner, name, value)?;
                    if (own == SideText::Periodic) != (*end == SideText::Periodic) {
                        return Err(inner.fault(name, "an axis is periodic for all fields or for none; say so in [domain]"));
                    }
                    *end = own;
                }
            }
            unit = inner.unit()?;
            inner.done()?;
            start
        }
        other => match as_text(&other) {
            Some(text) => text,
            None => return Err(section.fault(&name, "it must be a section like { start = \"random(0.2)\" }")),
        },
    };
    Ok(FieldText { name, start, sides, equation: String::new(), unit })
}

/// Gives each field its equation.
pub fn equations_of(section: Section, fields: &mut [FieldText]) -> Result<(), Error> {
    let (mut all, section) = texts_of(section)?;
    for field in fields.iter_mut() {
        let Some(i) = all.iter().position(|(name, _)| *name == field.name) else {
            let reason = format!("it is missing; write {} = \"…\", the time derivative of this field", field.name);
            return Err(section.fault(&field.name, reason));
        };
        field.equation = all.swap_remove(i).1;
    }
    let Some((name, _)) = all.first() else { return Ok(()) };
    let names: Vec<_> = fields.iter().map(|field| field.name.as_str()).collect();
    Err(section.fault(name, format!("there is no such field; remove it, or add it to [fields], which has {}", names.join(", "))))
}
