//! Ranges of colours for the fields of a problem file, whose values may have any unit.

use super::Subject;
use anyhow::Result;
use cinoc::Real;
use cinoc::task::PlotFields;

/// Share of the values below and above a range: a spike does not hide the rest.
const BEYOND: f64 = 0.005;

/// A range is even about zero if the smaller side has at least this share of the larger one.
const BOTH_SIGNS: f32 = 0.25;

/// Values beyond zero are left out if they are below this share of the largest one.
const NEGLIGIBLE: f32 = 0.02;

/// A range begins at zero if its end near zero is less than this share of the other one.
const NEAR_ZERO: f32 = 0.1;

/// Lower and upper end, and true if colours are those of two signs, which meet in the middle.
type Range = (f32, f32, bool);

/// The range of each field in the first instance, with control and without.
pub fn of_fields(subject: &Subject, fields: &PlotFields) -> Result<Vec<Range>> {
    let controlled = subject.controlled(&subject.request, 0)?;
    let free = subject.uncontrolled(&subject.request, 0)?;
    let count = subject.problem.stepper.grid().count();
    let whole = [&controlled, &free].into_iter().filter(|trace| trace.diverged.is_none());
    let mut states: Vec<_> = whole.flat_map(|trace| &trace.z).collect();
    if states.is_empty() {
        states.extend(controlled.z.first());
    }
    let fluid = |(cell, z): (usize, &Real)| (fields.solid.get(cell) != Some(&true)).then_some(*z as f32);
    let part = |state: &[Real], field: usize| -> Vec<f32> {
        state[field * count..(field + 1) * count].iter().enumerate().filter_map(fluid).collect()
    };
    let range = |field: usize| {
        let values = states.iter().flat_map(|state| part(state, field)).collect();
        let has_target = field == 0 && subject.problem.task.plot_labels().has_target;
        covering(values, &if has_target { part(&controlled.target, 0) } else { Vec::new() })
    };
    Ok((0..fields.names.len()).map(range).collect())
}

/// The range of values: even about a uniform target or about zero, from zero, or from the least to the largest one. A
/// target is never beyond it.
fn covering(mut values: Vec<f32>, target: &[f32]) -> Range {
    values.retain(|z| z.is_finite());
    values.sort_unstable_by(f32::total_cmp);
    let Some(last) = values.len().checked_sub(1) else { return (0.0, 1.0, false) };
    let skipped = (last as f64 * BEYOND) as usize;
    let ends = [values[skipped], values[last - skipped]];
    let [low, high] = target.iter().fold(ends, |[low, high], z| [low.min(*z), high.max(*z)]);
    let (size, least) = (low.abs().max(high.abs()), low.abs().min(high.abs()));
    let uniform = target.first().filter(|first| **first != 0.0 && target.iter().all(|z| z == *first));
    if size == 0.0 {
        (0.0, 1.0, false)
    } else if high - low < 1e-3 * size {
        (low - 0.05 * size, high + 0.05 * size, false)
    } else if let Some(&wanted) = uniform {
        let away = (wanted - low).max(high - wanted);
        (wanted - away, wanted + away, true)
    } else if low < 0.0 && high > 0.0 && least >= BOTH_SIGNS * size {
        (-size, size, true)
    } else if high > 0.0 && (-NEGLIGIBLE * high..NEAR_ZERO * high).contains(&low) {
        (0.0, high, false)
    } else if low < 0.0 && (NEGLIGIBLE * low..-NEAR_ZERO * low).contains(&-high) {
        (low, 0.0, false)
    } else {
        (low, high, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_follows_the_kind_of_the_values() {
        let range = |values: &[f32], target: &[f32]| covering(values.to_vec(), target);
        assert_eq!(range(&[-0.9, 0.3, 1.0], &[]), (-1.0, 1.0, true), "phases");
        assert_eq!(range(&[-0.001, 0.5, 2.0], &[]), (0.0, 2.0, false), "densities");
        assert_eq!(range(&[15.0, 21.0], &[19.0, 20.0]), (15.0, 21.0, false), "temperatures");
        assert_eq!(range(&[15.0, 21.0], &[20.0, 20.0]), (15.0, 25.0, true), "temperatures around the wanted one");
        assert_eq!(range(&[-3.0, 19.0], &[]), (-3.0, 19.0, false), "temperatures, a few below zero");
        assert_eq!(range(&[-8.0, -0.1], &[]), (-8.0, 0.0, false), "depths");
        assert_eq!(range(&[20.0, 20.0], &[]), (19.0, 21.0, false), "one temperature");
        assert_eq!(range(&[0.0, f32::NAN], &[]), (0.0, 1.0, false), "zero");
    }

    #[test]
    fn spikes_are_beyond_a_range() {
        let mut values = vec![0.0; 500];
        values.extend(vec![1.0; 500]);
        values.push(1e6);
        assert_eq!(covering(values, &[]), (0.0, 1.0, false));
    }
}
