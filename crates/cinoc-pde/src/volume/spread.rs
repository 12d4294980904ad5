//! Coefficients that are one number or a map, for one or all instances.

use crate::Real;
use cinoc_tape::Shape;

/// Layout of a coefficient: `[b]`, a number, or `[b, entries…]`, a map, where `b` is 1 or the batch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spread {
    /// Distance between instances; 0 if they share the coefficient.
    instance: usize,
    entries: usize,
    is_map: bool,
}

impl Spread {
    /// # Panics
    /// If the shape is none of those.
    pub fn new(what: &str, shape: Shape, batch: usize, entries: usize) -> Self {
        let is_map = shape.sizes().len() > 1;
        let (instances, found) = (shape.sizes().first().copied().unwrap_or(1), shape.count());
        let width = if is_map { entries } else { 1 };
        let fits = (instances == 1 || instances == batch) && found == instances * width;
        assert!(fits, "{what} of shape {shape:?}: needs [b] or [b, {entries} entries] with b one or {batch}");
        Self { instance: if instances == 1 { 0 } else { width }, entries, is_map }
    }

    /// Returns true if all instances share the coefficient.
    pub fn is_shared(&self) -> bool {
        self.instance == 0
    }

    /// Writes the map of an instance.
    pub fn expand(&self, all: &[Real], instance: usize, map: &mut [Real]) {
        let from = &all[instance * self.instance..];
        if self.is_map { map.copy_from_slice(&from[..self.entries]) } else { map.fill(from[0]) }
    }

    /// Returns the map of an instance, which `map` holds if it is a number.
    pub fn view<'a>(&self, all: &'a [Real], instance: usize, map: &'a mut [Real]) -> &'a [Real] {
        if self.is_map {
            return &all[instance * self.instance..][..self.entries];
        }
        self.expand(all, instance, map);
        map
    }

    /// Adds the cotangent of the map of an instance to that of the coefficient.
    pub fn add(&self, map_bar: &[Real], instance: usize, all_bar: &mut [Real]) {
        let to = &mut all_bar[instance * self.instance..];
        if self.is_map {
            to.iter_mut().zip(map_bar).for_each(|(to, bar)| *to += bar);
        } else {
            to[0] += map_bar.iter().map(|&bar| bar as f64).sum::<f64>() as Real;
        }
    }
}
