//! Values on a domain, and their values on cells.

/// Values on a domain, at the centres of equal parts along each axis, row-major.
pub struct Raster {
    pub shape: Vec<usize>,
    pub values: Vec<f64>,
}

/// Way from samples to cells.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Resampling {
    /// The nearest sample: for kinds of material.
    Nearest,
    /// The mean over a cell, or linear interpolation between samples that are farther apart than cells.
    Mean,
}

impl Raster {
    /// Values of the cells, a number along each axis. Along a periodic axis samples and cells
    /// start at 0, else half a spacing from the side.
    pub fn on(&self, cells: &[usize], periodic: &[bool], way: Resampling) -> Vec<f64> {
        let (mut shape, mut values) = (self.shape.clone(), self.values.clone());
        let mut axes: Vec<usize> = (0..shape.len()).collect();
        // Those that shrink come first: nothing is larger than the samples or the cells.
        axes.sort_by(|a, b| (cells[*a] * shape[*b]).cmp(&(cells[*b] * shape[*a])));
        for axis in axes {
            let weights: Vec<_> =
                (0..cells[axis]).map(|cell| weights(cell, cells[axis], shape[axis], periodic[axis], way)).collect();
            let inner: usize = shape[axis + 1..].iter().product();
            let mut next = Vec::with_capacity(values.len() / shape[axis] * cells[axis]);
            for block in values.chunks_exact(shape[axis] * inner) {
                for weights in &weights {
                    next.extend((0..inner).map(|j| weights.iter().map(|(i, weight)| weight * block[i * inner + j]).sum::<f64>()));
                }
            }
            (shape[axis], values) = (cells[axis], next);
        }
        values
    }
}

/// The samples along an axis that a cell consists of, with their weights.
fn weights(cell: usize, cells: usize, samples: usize, periodic: bool, way: Resampling) -> Vec<(usize, f64)> {
    let index = |i: f64| {
        let last = samples as f64 - 1.0;
        (if periodic { i.rem_euclid(samples as f64) } else { i.clamp(0.0, last) }).min(last) as usize
    };
    let (shift, ratio) = (if periodic { 0.0 } else { 0.5 }, samples as f64 / cells as f64);
    let centre = (cell as f64 + shift) * ratio - shift;
    if way == Resampling::Nearest || samples == cells {
        return vec![(index((centre + 0.5).floor()), 1.0)];
    }
    if samples < cells {
        let share = centre - centre.floor();
        return vec![(index(centre.floor()), 1.0 - share), (index(centre.floor() + 1.0), share)];
    }
    // Sample i reaches from i to i + 1.
    let from = centre + 0.5 * (1.0 - ratio);
    let parts = (from.floor() as i64..(from + ratio).ceil() as i64).map(|i| {
        let overlap = (from + ratio).min(i as f64 + 1.0) - from.max(i as f64);
        (index(i as f64), overlap.max(0.0) / ratio)
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(values: &[f64], cells: usize, periodic: bool, way: Resampling) -> Vec<f64> {
        let samples = Raster { shape: vec![values.len()], values: values.to_vec() };
        samples.on(&[cells], &[periodic], way).iter().map(|x| (x * 1e9).round() / 1e9).collect()
    }

    #[test]
    fn cells_have_the_mean_of_their_samples() {
        let values = [1.0, 2.0, 4.0, 8.0];
        assert_eq!(line(&values, 4, false, Resampling::Mean), values);
        assert_eq!(line(&values, 4, true, Resampling::Mean), values);
        assert_eq!(line(&values, 2, false, Resampling::Mean), [1.5, 6.0]);
        assert_eq!(line(&values, 2, true, Resampling::Mean), [0.25 * 8.0 + 0.5 + 0.5, 0.5 + 2.0 + 2.0]);
        assert_eq!(line(&values, 3, false, Resampling::Mean), [1.25, 3.0, 7.0]);
        assert_eq!(line(&[0.0, 1.0], 4, false, Resampling::Mean), [0.0, 0.25, 0.75, 1.0]);
        assert_eq!(line(&[0.0, 1.0], 4, true, Resampling::Mean), [0.0, 0.5, 1.0, 0.5]);
        assert_eq!(line(&values, 2, false, Resampling::Nearest), [2.0, 8.0]);
        assert_eq!(line(&[3.0, 5.0], 4, false, Resampling::Nearest), [3.0, 3.0, 5.0, 5.0]);
    }

    #[test]
    fn axes_are_resampled_one_after_the_other() {
        let samples = Raster { shape: vec![4, 1], values: vec![1.0, 3.0, 5.0, 7.0] };
        assert_eq!(samples.on(&[2, 3], &[false; 2], Resampling::Mean), [2.0, 2.0, 2.0, 6.0, 6.0, 6.0]);
        let wide = Raster { shape: vec![1, 1 << 16], values: vec![2.0; 1 << 16] };
        assert_eq!(wide.on(&[4096, 2], &[false; 2], Resampling::Mean), vec![2.0; 8192]);
    }
}
