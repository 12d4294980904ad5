//! Loads and stores of rows of any length in groups of lanes.

use crate::Real;

/// Numbers per group: one, two or four vector registers.
pub const LANES: usize = 16;

/// Loads the numbers from `j` on, padded with zeros.
#[inline(always)]
pub fn load(row: &[Real], j: usize) -> [Real; LANES] {
    match row[j..].first_chunk() {
        Some(whole) => *whole,
        None => {
            let mut lanes = [0.0; LANES];
            lanes[..row.len() - j].copy_from_slice(&row[j..]);
            lanes
        }
    }
}

/// Writes or adds a group of lanes from `j` on; lanes beyond the end are dropped.
#[inline(always)]
pub fn store(row: &mut [Real], j: usize, lanes: [Real; LANES], overwrite: bool) {
    let kept = if overwrite { [0.0; LANES] } else { load(row, j) };
    let mut sum = lanes;
    for l in 0..LANES {
        sum[l] += kept[l];
    }
    match row[j..].first_chunk_mut() {
        Some(whole) => *whole = sum,
        None => {
            let rest = &mut row[j..];
            let count = rest.len();
            rest.copy_from_slice(&sum[..count]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_rows_are_cut() {
        let mut row: Vec<Real> = (0..20).map(|i| i as Real).collect();
        let mut lanes = load(&row, 16);
        assert_eq!((lanes[3], lanes[4]), (19.0, 0.0));
        lanes[0] = 1.0;
        store(&mut row, 16, lanes, false);
        assert_eq!(row[15..], [15.0, 17.0, 34.0, 36.0, 38.0]);
        store(&mut row, 0, [2.0; LANES], true);
        assert_eq!(row[..17], [[2.0; LANES].as_slice(), &[17.0]].concat());
    }
}
