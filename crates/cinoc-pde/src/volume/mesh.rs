//! Meshes of equal cells.

use crate::Real;
use cinoc_tape::Shape;
use std::ops::Range;

/// Condition at an end of an axis; `n` points out of the domain. Its number, `outside`, is an input of the operators,
/// one for all faces or one per face, and may change from tick to tick.
#[derive(Clone, Debug, PartialEq)]
pub enum Side {
    /// The cells at both ends of the axis are neighbours.
    Periodic,
    /// `z = outside` on the face. Transport passes: it enters with this value.
    Value,
    /// `k ∂z/∂n = outside`, a flux into the domain. A wall for transport.
    Flux,
    /// `−k ∂z/∂n = h·(z − outside)`, with one `h` or one per face. A wall for transport.
    Exchange(Vec<Real>),
    /// `∂z/∂n = 0`. Transport passes: it enters with the value `outside`.
    Open,
}

impl Side {
    /// Exchange with the coefficient `h` on all faces.
    pub fn exchange(h: Real) -> Self {
        Self::Exchange(vec![h])
    }
}

/// Cells of an interval, a rectangle or a box, all of one size. Values belong to their centres, row-major.
///
/// Solid cells take no part: no flux passes their faces and steps keep their value.
///
/// ```
/// use cinoc_pde::volume::{Mesh, Side};
///
/// let room = Mesh::new(&[4, 3], &[2.0, 1.5], vec![[Side::Value, Side::Flux], [Side::Periodic, Side::Periodic]]);
/// assert_eq!((room.count(), room.faces(), room.side(0, 1)), (12, 6, 3..6));
/// assert_eq!(room.positions(1), [0.25, 0.75, 1.25]);
/// ```
#[derive(Clone, Debug)]
pub struct Mesh {
    cells: Vec<usize>,
    lengths: Vec<f64>,
    sides: Vec<[Side; 2]>,
    /// One per cell: 0 if it is solid, else 1.
    fluid: Vec<Real>,
    /// One per axis and cell, for the face towards the preceding cell: `1/dx²`, or 0 if nothing passes. The cell that
    /// precedes the first is the last.
    weights: Vec<Vec<Real>>,
    faces: Vec<Face>,
}

/// Face on a side of the domain.
#[derive(Clone, Debug)]
pub(super) struct Face {
    pub cell: usize,
    pub axis: usize,
    /// Component of the outward normal.
    pub normal: Real,
    pub law: Law,
    pub passes_transport: bool,
}

/// Diffusive flux through a face on a side.
#[derive(Clone, Copy, Debug)]
pub(super) enum Law {
    /// To a given value outside, by a coefficient; infinite for a given value on the face.
    Exchange(Real),
    Given,
    None,
}

/// Cells `lower + j` that precede the cells `upper + j` along an axis, for `j` below `length`.
#[derive(Clone, Copy)]
pub(super) struct Run {
    pub upper: usize,
    pub lower: usize,
    pub length: usize,
}

impl Mesh {
    /// Creates a mesh from the number of cells, the length and the sides at the lower and the upper end of each axis.
    ///
    /// # Panics
    /// Unless there are one to three axes with at least one cell, positive lengths, and coefficients that fit; or if an
    /// axis is periodic at one end only.
    pub fn new(cells: &[usize], lengths: &[f64], sides: Vec<[Side; 2]>) -> Self {
        let d = cells.len();
        assert!((1..=3).contains(&d), "a mesh has one to three axes, not {d}");
        assert!(lengths.len() == d && sides.len() == d, "{d} axes, {} lengths, {} pairs of sides", lengths.len(), sides.len());
        assert!(cells.iter().all(|&n| n > 0), "a mesh needs cells along each axis, not {cells:?}");
        assert!(lengths.iter().all(|&l| l > 0.0 && l.is_finite()), "lengths must be positive, not {lengths:?}");
        let count = cells.iter().product();
        let mut mesh = Self {
            cells: cells.to_vec(),
            lengths: lengths.to_vec(),
            sides,
            fluid: vec![1.0; count],
            weights: Vec::new(),
            faces: Vec::new(),
        };
        mesh.connect();
        mesh
    }

    /// Makes the cells of a mask solid.
    ///
    /// # Panics
    /// Unless there is one flag per cell.
    pub fn with_solid(mut self, solid: &[bool]) -> Self {
        assert_eq!(solid.len(), self.count(), "flags of solid cells");
        self.fluid.iter_mut().zip(solid).for_each(|(fluid, &solid)| *fluid = if solid { 0.0 } else { 1.0 });
        self.connect();
        self
    }

    /// Computes weights and faces.
    fn connect(&mut self) {
        (self.weights, self.faces) = (Vec::new(), Vec::new());
        for axis in 0..self.dimensions() {
            let ends = &self.sides[axis];
            let periodic = self.is_periodic(axis);
            assert!(periodic == (ends[1] == Side::Periodic), "axis {axis} is periodic at one end only");
            let (n, stride) = (self.cells[axis], self.stride(axis));
            let weight = (1.0 / self.spacing(axis).powi(2)) as Real;
            let mut weights = vec![0.0; self.count()];
            for Run { upper, lower, length } in self.runs(axis) {
                let wraps = upper <= lower;
                for j in (0..length).filter(|_| periodic || !wraps) {
                    weights[upper + j] = weight * self.fluid[upper + j] * self.fluid[lower + j];
                }
            }
            self.weights.push(weights);
            for (end, side) in ends.iter().enumerate().filter(|_| !periodic) {
                let faces = self.count() / n;
                if let Side::Exchange(h) = side {
                    let fits = (h.len() == 1 || h.len() == faces) && h.iter().all(|h| *h >= 0.0);
                    assert!(fits, "axis {axis}: exchange needs one or {faces} coefficients of at least 0");
                }
                for f in 0..faces {
                    let cell = f / stride * n * stride + end * (n - 1) * stride + f % stride;
                    let law = match side {
                        _ if self.fluid[cell] == 0.0 => Law::None,
                        Side::Value => Law::Exchange(Real::INFINITY),
                        Side::Exchange(h) => Law::Exchange(h[f % h.len()]),
                        Side::Flux => Law::Given,
                        Side::Open | Side::Periodic => Law::None,
                    };
                    let passes_transport = self.fluid[cell] > 0.0 && matches!(side, Side::Value | Side::Open);
                    self.faces.push(Face { cell, axis, normal: [-1.0, 1.0][end], law, passes_transport });
                }
            }
        }
    }

    /// Number of space dimensions.
    pub fn dimensions(&self) -> usize {
        self.cells.len()
    }

    /// Number of cells along each axis.
    pub fn cells(&self) -> &[usize] {
        &self.cells
    }

    /// Sides at the lower and the upper end of each axis.
    pub fn sides(&self) -> &[[Side; 2]] {
        &self.sides
    }

    /// Number of cells.
    pub fn count(&self) -> usize {
        self.fluid.len()
    }

    /// Size of a cell along an axis.
    pub fn spacing(&self, axis: usize) -> f64 {
        self.lengths[axis] / self.cells[axis] as f64
    }

    /// Centres of the cells along an axis.
    pub fn positions(&self, axis: usize) -> Vec<f64> {
        (0..self.cells[axis]).map(|i| (i as f64 + 0.5) * self.spacing(axis)).collect()
    }

    /// Number of faces on all sides of the domain; none if all axes are periodic.
    pub fn faces(&self) -> usize {
        self.faces.len()
    }

    /// Faces at an end of an axis (0 lower, 1 upper), row-major in the other axes; none if it is periodic.
    pub fn side(&self, axis: usize, end: usize) -> Range<usize> {
        let normal = [-1.0, 1.0][end];
        let of = |face: &Face| face.axis == axis && face.normal == normal;
        let start = self.faces.iter().position(of).unwrap_or(0);
        start..start + self.faces.iter().filter(|face| of(face)).count()
    }

    /// Shape of a field: `[batch, cells…]`.
    pub fn shape(&self, batch: usize) -> Shape {
        let mut sizes = [batch; Shape::AXES];
        sizes[1..=self.dimensions()].copy_from_slice(&self.cells);
        Shape::new(&sizes[..=self.dimensions()])
    }

    /// Returns true if the cells at both ends of an axis are neighbours.
    pub(super) fn is_periodic(&self, axis: usize) -> bool {
        self.sides[axis][0] == Side::Periodic
    }

    /// Asserts the shape of a field and returns the number of instances.
    pub(super) fn batch(&self, what: &str, field: Shape) -> usize {
        let batch = field.sizes().first().copied().unwrap_or(0);
        assert!(field == self.shape(batch), "{what}: field {field:?}, cells {:?}", self.cells);
        batch
    }

    /// Distance between the indices of neighbours along an axis.
    pub(super) fn stride(&self, axis: usize) -> usize {
        self.cells[axis + 1..].iter().product()
    }

    /// Number of cells along three axes; the first are 1 if the mesh has fewer.
    pub(super) fn box_of_cells(&self) -> [usize; 3] {
        let mut all = [1; 3];
        all[3 - self.dimensions()..].copy_from_slice(&self.cells);
        all
    }

    /// Neighbours along an axis, each cell once as the upper one.
    pub(super) fn runs(&self, axis: usize) -> impl Iterator<Item = Run> + use<> {
        let (n, stride, count) = (self.cells[axis], self.stride(axis), self.count());
        (0..count).step_by(n * stride).flat_map(move |start| {
            let inner = Run { upper: start + stride, lower: start, length: (n - 1) * stride };
            let wrap = Run { upper: start, lower: start + (n - 1) * stride, length: stride };
            [inner, wrap]
        })
    }

    pub(super) fn fluid(&self) -> &[Real] {
        &self.fluid
    }

    /// Weights of the faces towards the preceding cells along an axis.
    pub(super) fn weights(&self, axis: usize) -> &[Real] {
        &self.weights[axis]
    }

    /// Faces on the sides of the domain.
    pub(super) fn boundary(&self) -> &[Face] {
        &self.faces
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faces_on_sides_are_row_major() {
        let wall = || [Side::Value, Side::exchange(2.0)];
        let mesh = Mesh::new(&[2, 3, 4], &[1.0; 3], vec![wall(), [Side::Periodic, Side::Periodic], wall()]);
        assert_eq!((mesh.side(0, 0), mesh.side(0, 1), mesh.side(1, 0), mesh.side(2, 1)), (0..12, 12..24, 0..0, 30..36));
        let cells = |range: Range<usize>| mesh.boundary()[range].iter().map(|face| face.cell).collect::<Vec<_>>();
        assert_eq!(cells(mesh.side(0, 1)), (12..24).collect::<Vec<_>>());
        assert_eq!(cells(mesh.side(2, 1)), [3, 7, 11, 15, 19, 23]);
    }

    #[test]
    #[should_panic(expected = "axis 0 is periodic at one end only")]
    fn half_periodic_axes_are_refused() {
        Mesh::new(&[4], &[1.0], vec![[Side::Periodic, Side::Flux]]);
    }
}
