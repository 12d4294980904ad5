//! Where agents start.

pub(crate) mod lattice;
