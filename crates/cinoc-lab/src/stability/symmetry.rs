//! Translations that map a periodic grid and its agents to themselves, and the lattice that they form.

use cinoc::Real;
use cinoc_pde::Grid;
use std::collections::HashMap;

/// A translation by whole nodes.
pub struct Translation {
    /// Nodes along each axis.
    nodes: Vec<usize>,
    /// Image of each agent.
    agents: Vec<usize>,
}

impl Translation {
    /// Returns the image of node `i` of a grid.
    pub fn node(&self, grid: &Grid, i: usize) -> usize {
        let moved = indices(grid, i).into_iter().zip(&self.nodes).zip(&grid.nodes);
        moved.fold(0, |to, ((at, shift), nodes)| to * nodes + (at + shift) % nodes)
    }

    /// Returns the image of agent `i`.
    pub fn agent(&self, i: usize) -> usize {
        self.agents[i]
    }
}

/// Returns the indices of node `i` along each axis.
pub fn indices(grid: &Grid, i: usize) -> Vec<usize> {
    let mut rest = grid.count();
    let along = |nodes: &usize| {
        rest /= nodes;
        i / rest % nodes
    };
    grid.nodes.iter().map(along).collect()
}

/// Returns all translations by whole nodes that map the positions `xi`, `[agents, d]`, to themselves, and each agent to
/// one of its strength.
pub fn translations(grid: &Grid, xi: &[Real], strength: &[Real]) -> Vec<Translation> {
    let d = grid.dimensions();
    if xi.is_empty() {
        return (0..grid.count()).map(|i| Translation { nodes: indices(grid, i), agents: Vec::new() }).collect();
    }
    // In hundredths of a node: far above rounding, and far below the resolution that an agent senses.
    let whole: Vec<i64> = grid.nodes.iter().map(|nodes| 100 * *nodes as i64).collect();
    let hundredth = |x: Real, axis: usize| (x as f64 / grid.spacing(axis) * 100.0).round() as i64;
    let agents: Vec<Vec<i64>> = xi.chunks_exact(d).map(|xi| (0..d).map(|axis| hundredth(xi[axis], axis)).collect()).collect();
    // Each position is indexed by its own and the neighbouring hundredths.
    let mut known: HashMap<Vec<i64>, usize> = HashMap::new();
    for (i, place) in agents.iter().enumerate() {
        for beside in 0..3i64.pow(d as u32) {
            let near = |axis: usize| (place[axis] + beside / 3i64.pow(axis as u32) % 3 - 1).rem_euclid(whole[axis]);
            known.insert((0..d).map(near).collect(), i);
        }
    }
    let candidates = agents.iter().map(|place| -> Vec<i64> { (0..d).map(|axis| place[axis] - agents[0][axis]).collect() });
    let found = candidates.filter_map(|shift| {
        let nodes: Vec<i64> = shift.iter().map(|s| (*s as f64 / 100.0).round() as i64).collect();
        if shift.iter().zip(&nodes).any(|(s, n)| (s - 100 * n).abs() > 2) {
            return None;
        }
        let moved = |place: &Vec<i64>| -> Vec<i64> { (0..d).map(|a| (place[a] + 100 * nodes[a]).rem_euclid(whole[a])).collect() };
        let agents = agents.iter().map(|place| known.get(&moved(place)).copied()).collect::<Option<Vec<usize>>>()?;
        if agents.iter().zip(strength).any(|(image, own)| strength[*image] != *own) {
            return None;
        }
        let nodes = nodes.iter().zip(&grid.nodes).map(|(n, nodes)| n.rem_euclid(*nodes as i64) as usize).collect();
        Some(Translation { nodes, agents })
    });
    found.collect()
}

/// Returns the shortest two vectors (on a line: one) that generate all translations, including those around the torus.
pub fn basis(grid: &Grid, translations: &[Translation]) -> Vec<Vec<f64>> {
    let d = grid.dimensions();
    let volume: f64 = grid.lengths.iter().map(|&length| length as f64).product::<f64>() / translations.len() as f64;
    if d == 1 {
        return vec![vec![volume]];
    }
    let mut vectors: Vec<Vec<f64>> = Vec::new();
    for translation in translations {
        let at: Vec<f64> = (0..d).map(|axis| translation.nodes[axis] as f64 * grid.spacing(axis)).collect();
        for around in 0..9 {
            let times = [around / 3 - 1, around % 3 - 1].map(f64::from);
            vectors.push((0..d).map(|axis| at[axis] + times[axis] * grid.lengths[axis] as f64).collect());
        }
    }
    let length = |v: &[f64]| v[0].hypot(v[1]);
    vectors.retain(|v| length(v) > 0.5 * grid.spacing(0));
    vectors.sort_by(|a, b| length(a).total_cmp(&length(b)));
    let first = vectors[0].clone();
    let cross = |v: &[f64]| first[0] * v[1] - first[1] * v[0];
    let second =
        vectors.iter().find(|v| (cross(v).abs() / volume - 1.0).abs() < 1e-3).expect("a torus has two directions").clone();
    vec![first, second]
}

/// Returns the shortest displacement from `a` to `b` on a periodic grid.
pub fn shortest_way(grid: &Grid, a: &[f64], b: &[f64]) -> [f64; 2] {
    let mut way = [0.0; 2];
    for (axis, along) in way.iter_mut().take(grid.dimensions()).enumerate() {
        let (straight, length) = (b[axis] - a[axis], grid.lengths[axis] as f64);
        *along = straight - length * (straight / length).round();
    }
    way
}
