//! Packed spectra of one-dimensional periodic fields, sixteen at a time.

use super::{Layout, RealFft};
use crate::Real;
use cinoc_tape::kernel::fft::WIDTH;
use cinoc_tape::kernel::transpose::{Blocks, transpose};

/// Layout of sixteen one-dimensional fields in one state: a packed spectrum ([`RealFft`]) whose columns are the fields.
#[derive(Clone, Debug)]
pub struct Lines {
    nodes: usize,
    fft: RealFft,
}

impl Lines {
    /// Creates the layout.
    ///
    /// # Panics
    /// Unless sixteen divides the number of nodes.
    pub fn new(nodes: usize) -> Self {
        assert!(nodes > 0 && nodes.is_multiple_of(WIDTH), "{WIDTH} must divide the number of nodes, {nodes}");
        Self { nodes, fft: RealFft::new(nodes) }
    }

    /// Computes the values at the nodes, a row per node and a column per field.
    pub fn values(&self, state: &[Real], values: &mut [Real], work: &mut [Real]) {
        self.fft.inverse(state, values, (1.0 / self.nodes as f64) as Real, work);
    }

    /// Computes the spectrum of values laid out as by [`values`](Self::values).
    pub fn spectrum(&self, values: &[Real], state: &mut [Real], work: &mut [Real]) {
        self.fft.forward(values, state, 1.0, work);
    }

    /// Arranges at most sixteen fields as [`values`](Self::values) does; other columns are zero.
    pub fn columns(&self, fields: &[Real], values: &mut [Real], work: &mut [Real]) {
        let [fields_at, values_at] = self.blocks();
        if fields.len() == self.size() {
            transpose(self.nodes / WIDTH, fields, fields_at, values, values_at);
        } else {
            let all = &mut work[..self.size()];
            all[..fields.len()].copy_from_slice(fields);
            all[fields.len()..].fill(0.0);
            transpose(self.nodes / WIDTH, all, fields_at, values, values_at);
        }
    }

    /// Length of the working space of either transform.
    pub fn transform_work(&self) -> usize {
        self.fft.work()
    }

    /// Block strides of a field per row, and of a panel of values.
    fn blocks(&self) -> [Blocks; 2] {
        [Blocks { row: self.nodes, block: WIDTH }, Blocks { row: WIDTH, block: WIDTH * WIDTH }]
    }
}

impl Layout for Lines {
    fn size(&self) -> usize {
        self.nodes * WIDTH
    }

    fn group(&self) -> usize {
        WIDTH
    }

    fn modes(&self) -> Vec<Vec<i64>> {
        let part = |row: usize| if row == 1 { self.nodes / 2 } else { row / 2 };
        (0..self.nodes).flat_map(|row| vec![vec![part(row) as i64]; WIDTH]).collect()
    }

    fn work(&self) -> usize {
        2 * self.size() + self.fft.work()
    }

    fn load(&self, fields: &[Real], state: &mut [Real], work: &mut [Real]) {
        let (values, work) = work.split_at_mut(self.size());
        self.columns(fields, values, work);
        self.spectrum(values, state, work);
    }

    fn unload(&self, state: &mut [Real], fields: &mut [Real], work: &mut [Real]) {
        let (values, work) = work.split_at_mut(self.size());
        self.values(state, values, work);
        let [fields_at, values_at] = self.blocks();
        if fields.len() == self.size() {
            transpose(self.nodes / WIDTH, values, values_at, fields, fields_at);
        } else {
            let all = &mut work[..self.size()];
            transpose(self.nodes / WIDTH, values, values_at, all, fields_at);
            fields.copy_from_slice(&all[..fields.len()]);
        }
    }
}
