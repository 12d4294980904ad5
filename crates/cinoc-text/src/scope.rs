//! Names that texts may use.

use crate::error::{Error, Fault, nearest};
use crate::expr::Function;
use crate::kind::{Kind, Rank};
use std::collections::BTreeMap;

/// Place of a name's values: the array and the position of its first value there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    pub array: usize,
    pub slot: usize,
}

/// Names that texts may use, and the arrays that hold their values.
///
/// Names of one kind may share an array: the fields `u` and `v` of a state `[batch, 2·cells]`, for example.
#[derive(Clone, Debug)]
pub struct Scope {
    dimensions: usize,
    arrays: Vec<Array>,
    names: BTreeMap<String, (Kind, Place)>,
    random: bool,
}

/// Array of values of one kind.
#[derive(Clone, Debug)]
pub(crate) struct Array {
    pub kind: Kind,
    /// Number of values per cell, agent or instance.
    pub slots: usize,
}

impl Scope {
    /// A scope without names, for a domain with one to three dimensions.
    ///
    /// # Panics
    /// With another number of dimensions.
    pub fn new(dimensions: usize) -> Self {
        assert!((1..=3).contains(&dimensions), "a domain has one to three dimensions, not {dimensions}");
        Self { dimensions, arrays: Vec::new(), names: BTreeMap::new(), random: false }
    }

    /// The same scope for texts of start and target, where `random(length)` is allowed.
    pub fn with_random(mut self) -> Self {
        self.random = true;
        self
    }

    /// Declares names of one kind, whose values share an array, and returns the index of the array. A vector has as
    /// many values as the domain has dimensions; component `x` of `wind` is `wind.x`.
    pub fn add(&mut self, names: &[&str], kind: Kind) -> Result<usize, Error> {
        let width = if kind.rank == Rank::Vector { self.dimensions } else { 1 };
        for (i, name) in names.iter().enumerate() {
            if let Some(fault) = self.rejects(name, &names[..i]) {
                return Err(Error::new(name, 0..name.len(), fault));
            }
        }
        let array = self.arrays.len();
        for (i, name) in names.iter().enumerate() {
            self.names.insert((*name).to_owned(), (kind, Place { array, slot: i * width }));
        }
        self.arrays.push(Array { kind, slots: names.len() * width });
        Ok(array)
    }

    fn rejects(&self, name: &str, earlier: &[&str]) -> Option<Fault> {
        let word = |part: &str| part.starts_with(is_letter) && part.chars().all(|c| is_letter(c) || c.is_ascii_digit());
        if !name.split('.').all(word) {
            return Some(Fault::new(format!("{name:?} is not a name"), "use letters, digits and _, and a letter first"));
        }
        if Function::named(name).is_some() {
            return Some(Fault::new(format!("{name} is a function"), "choose another name"));
        }
        let taken = earlier.contains(&name) || self.find(name).is_some();
        taken.then(|| Fault::new(format!("{name} is declared twice"), "rename one of them"))
    }

    /// Number of dimensions of the domain.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    pub(crate) fn allows_random(&self) -> bool {
        self.random
    }

    pub(crate) fn arrays(&self) -> &[Array] {
        &self.arrays
    }

    /// Kind and place of a name or of a component of a vector.
    pub(crate) fn find(&self, name: &str) -> Option<(Kind, Place)> {
        if let Some(found) = self.names.get(name) {
            return Some(*found);
        }
        let (vector, component) = name.rsplit_once('.')?;
        let axis = ["x", "y", "z"][..self.dimensions].iter().position(|axis| *axis == component)?;
        let (kind, place) = self.names.get(vector).filter(|(kind, _)| kind.rank == Rank::Vector)?;
        Some((Kind { rank: Rank::Scalar, ..*kind }, Place { slot: place.slot + axis, ..*place }))
    }

    /// Name of the values at a place.
    pub(crate) fn name_at(&self, place: Place) -> Option<String> {
        self.names.iter().find_map(|(name, (kind, first))| {
            let width = if kind.rank == Rank::Vector { self.dimensions } else { 1 };
            let component = place.slot.checked_sub(first.slot).filter(|i| first.array == place.array && *i < width)?;
            Some(if kind.rank == Rank::Vector { format!("{name}.{}", ["x", "y", "z"][component]) } else { name.clone() })
        })
    }

    /// Advice for a name that is not known, or for a function.
    pub(crate) fn advice(&self, name: &str, function: bool) -> String {
        let components = &["x", "y", "z"][..self.dimensions];
        if let Some((vector, _)) = name.rsplit_once('.')
            && self.names.get(vector).is_some_and(|(kind, _)| kind.rank == Rank::Vector)
        {
            return format!("{vector} has the components {}", components.join(", "));
        }
        let functions = Function::ALL.iter().map(|function| function.word());
        let names = self.names.keys().map(String::as_str).filter(|_| !function);
        match (nearest(name, names.chain(functions)), function) {
            (Some(other), false) => format!("write {other}, or declare {name}"),
            (Some(other), true) => format!("write {other}"),
            (None, false) => format!("declare {name}, for example among the constants"),
            (None, true) => {
                format!("use one of {}", Function::ALL.iter().map(|function| function.word()).collect::<Vec<_>>().join(" "))
            }
        }
    }
}

/// Returns true for letters of names.
pub(crate) fn is_letter(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}
