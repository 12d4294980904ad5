//! Contour lines of a field on a grid, by marching squares.

use std::collections::HashMap;

/// A line of constant value, in grid units along x and y.
pub type Contour = Vec<(f32, f32)>;

/// A side of a grid square: its lower corner, and whether it runs along x (0) or y (1).
type Side = (usize, usize, u8);

/// `count` levels evenly inside the range of the finite values; none for a constant field.
pub fn levels(values: &[f32], count: usize) -> Vec<f32> {
    let finite = values.iter().copied().filter(|value| value.is_finite());
    let low = finite.clone().fold(f32::INFINITY, f32::min);
    let high = finite.fold(f32::NEG_INFINITY, f32::max);
    if high - low <= 1e-6 * high.abs().max(low.abs()) || high < low {
        return Vec::new();
    }
    let level = |k: usize| low + (high - low) * (k as f32 + 0.5) / count as f32;
    (0..count).map(level).collect()
}

/// The lines along which `values` (row-major, `[x][y]`) equal `level`.
pub fn contours(values: &[f32], shape: [usize; 2], level: f32) -> Vec<Contour> {
    let value = |x: usize, y: usize| values[x * shape[1] + y];
    let mut neighbours: HashMap<Side, Vec<Side>> = HashMap::new();
    let mut order = Vec::new();
    for x in 0..shape[0] - 1 {
        for y in 0..shape[1] - 1 {
            let corners = [value(x, y), value(x + 1, y), value(x + 1, y + 1), value(x, y + 1)];
            let sides = [(x, y, 0), (x + 1, y, 1), (x, y + 1, 0), (x, y, 1)];
            let above = corners.map(|corner| corner > level);
            let mut crossed: Vec<Side> = Vec::new();
            for side in 0..4 {
                if above[side] != above[(side + 1) % 4] {
                    crossed.push(sides[side]);
                }
            }
            // At a saddle all four sides are crossed. As listed, they pair up around corners 1
            // and 3; that is right if the middle belongs to corners 0 and 2.
            let middle = corners.iter().sum::<f32>() / 4.0 > level;
            if crossed.len() == 4 && middle != above[0] {
                crossed.rotate_left(1);
            }
            for pair in crossed.chunks_exact(2) {
                for (from, to) in [(pair[0], pair[1]), (pair[1], pair[0])] {
                    neighbours.entry(from).or_default().push(to);
                    order.push(from);
                }
            }
        }
    }
    let crossing = |(x, y, along): Side| {
        let (dx, dy) = if along == 0 { (1, 0) } else { (0, 1) };
        let (from, to) = (value(x, y), value(x + dx, y + dy));
        let share = (level - from) / (to - from);
        (x as f32 + share * dx as f32, y as f32 + share * dy as f32)
    };
    chains(neighbours, order).into_iter().map(|c| c.into_iter().map(crossing).collect()).collect()
}

/// Joins segments to lines: open ones first, from their ends, then the closed ones.
fn chains(mut neighbours: HashMap<Side, Vec<Side>>, order: Vec<Side>) -> Vec<Vec<Side>> {
    let mut chains = Vec::new();
    for ends_only in [true, false] {
        for &start in &order {
            let open = neighbours.get(&start).map_or(0, Vec::len);
            if open == 0 || (ends_only && open != 1) {
                continue;
            }
            let mut chain = vec![start];
            let mut here = start;
            while let Some(next) = neighbours.get_mut(&here).and_then(Vec::pop) {
                if let Some(back) = neighbours.get_mut(&next) {
                    back.retain(|side| *side != here);
                }
                chain.push(next);
                here = next;
            }
            chains.push(chain);
        }
    }
    chains
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contour_of_a_cone_is_one_closed_circle() {
        let cone = |k: usize| ((k / 21) as f32 - 10.0).hypot((k % 21) as f32 - 10.0);
        let values: Vec<f32> = (0..21 * 21).map(cone).collect();
        let lines = contours(&values, [21, 21], 5.5);
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0].first(), lines[0].last());
        let round = lines[0].iter().all(|p| ((p.0 - 10.0).hypot(p.1 - 10.0) - 5.5).abs() < 0.1);
        assert!(round);
    }

    #[test]
    fn saddle_separates_what_its_middle_separates() {
        let lines = contours(&[1.0, 0.0, 0.0, 1.0], [2, 2], 0.4);
        assert_eq!(lines.len(), 2);
        // The middle (0.5) is above: the two low corners are cut off.
        for line in lines {
            let (a, b) = (line[0], line[1]);
            assert!((a.0 + b.0 > 1.0) != (a.1 + b.1 > 1.0));
        }
    }
}
