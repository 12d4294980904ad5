//! Fourier transforms as operations of the tape.

use super::Transform;
use super::transform::Factors;
use crate::Real;
use cinoc_tape::{Cotangents, Inputs, Op, Shape};

/// Transform from values on the grid to their spectrum.
#[derive(Debug)]
pub struct ToSpectrum(pub Transform);

/// Transform from a spectrum to values on the grid.
#[derive(Debug)]
pub struct ToValues(pub Transform);

impl Op for ToSpectrum {
    fn name(&self) -> &'static str {
        "to spectrum"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        let batch = x[0].sizes()[0];
        assert_eq!(x[0], self.0.values(batch), "to spectrum: values of another grid");
        self.0.spectrum(batch)
    }

    fn scratch(&self, x: &[Shape]) -> usize {
        self.0.room(x[0].sizes()[0])
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], scratch: &mut [Real]) {
        let factor = (1.0 / self.0.refinement()) as Real;
        self.0.analyse(&x[0], y, Factors { edge: factor, inside: factor }, true, scratch);
    }

    fn vjp(&self, _: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, scratch: &mut [Real]) {
        let factor = (1.0 / self.0.refinement()) as Real;
        if let Some((x_bar, fresh)) = bars.slot(0) {
            self.0.synthesise(y_bar, x_bar, Factors { edge: factor, inside: 0.5 * factor }, fresh, scratch);
        }
    }
}

impl Op for ToValues {
    fn name(&self) -> &'static str {
        "to values"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        let batch = x[0].sizes()[0];
        assert_eq!(x[0], self.0.spectrum(batch), "to values: a spectrum of another grid");
        self.0.values(batch)
    }

    fn scratch(&self, x: &[Shape]) -> usize {
        self.0.room(x[0].sizes()[0])
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], scratch: &mut [Real]) {
        let factor = (1.0 / self.0.nodes()) as Real;
        self.0.synthesise(&x[0], y, Factors { edge: factor, inside: factor }, true, scratch);
    }

    fn vjp(&self, _: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, scratch: &mut [Real]) {
        let factor = (1.0 / self.0.nodes()) as Real;
        if let Some((x_bar, fresh)) = bars.slot(0) {
            self.0.analyse(y_bar, x_bar, Factors { edge: factor, inside: 2.0 * factor }, fresh, scratch);
        }
    }
}
