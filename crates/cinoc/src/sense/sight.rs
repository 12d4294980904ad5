//! Observations combined from views of the field and position features.

use super::lens::Scaled;
#[cfg(feature = "files")]
use super::probe::Probe;
use super::{
    Directions, Features, Gaps, Holding, Instrument, Nearest, Observation, Observe1d, Observe2d, ObserveField, Patch,
    PositionFeatures, RingView, Sense, TargetView, Visible, Window,
};
use crate::Real;
use crate::geometry::Discs;
use cinoc_pde::Grid;
use cinoc_pde::calculus::Moments;
use cinoc_tape::Var;
use std::sync::Arc;

/// Sensor of the field, through a window around each agent or as a whole, and of position features.
///
/// ```
/// use cinoc::swarm::{Sense, Sight, Window};
/// use cinoc_pde::Grid;
///
/// let sight = Sight::around(&Grid::walls(32, 1.0), &Window::new(8, 0.1));
/// assert_eq!(sight.features().patch.count(), 16); // error and slope at 8 points
/// ```
pub struct Sight {
    view: View,
    /// Window around an agent; `None` if it observes the whole field.
    lens: Option<Scaled>,
    position: Arc<PositionFeatures>,
    /// Distance and direction to the nearest disc.
    disc: Option<Arc<Nearest>>,
    /// Directions to the centroids of the field and of the target.
    centroids: Option<(Arc<Moments>, Arc<Directions>)>,
    /// Target and the feedforward force that holds it.
    target: Option<TargetView>,
    /// Gaps to active neighbours.
    gaps: Option<Arc<Gaps>>,
}

/// Observed part of the field.
enum View {
    /// Samples of a line around each agent; computed in two steps if agents are immobile.
    Line(Arc<Observe1d>, RingView),
    /// An image around each agent.
    Plane(Arc<Observe2d>),
    /// Samples of a box around each agent.
    #[cfg(feature = "files")]
    Box(Arc<Probe>),
    /// The whole field, once per instance.
    Whole(Arc<ObserveField>),
}

impl Sight {
    /// Creates a sensor with a window around each agent, on a line, in the plane or in a box.
    ///
    /// # Panics
    /// In more than three dimensions, under the conditions of [`Observe1d::new`] and [`Observe2d::new`], and if a window in
    /// a box asks for gaps.
    pub fn around(grid: &Grid, window: &Window) -> Self {
        let lens = Scaled::new(grid, window);
        let view = match grid.dimensions() {
            1 => {
                let line = Arc::new(Observe1d::new(grid, window));
                let ring = RingView::new(&line);
                View::Line(line, ring)
            }
            2 => View::Plane(Arc::new(Observe2d::new(grid, window))),
            #[cfg(feature = "files")]
            3 => {
                window.check(grid, 3);
                View::Box(Arc::new(lens.probe(grid, window)))
            }
            d => panic!("agents observe a line, a plane or a box; {d} dimensions are not supported"),
        };
        Self { lens: Some(lens), ..Self::of(grid, view, window.position) }.with_gaps(grid, window.gaps)
    }

    fn of(grid: &Grid, view: View, position: bool) -> Self {
        let position = Arc::new(PositionFeatures::of(grid, position));
        Self { view, lens: None, position, disc: None, centroids: None, target: None, gaps: None }
    }

    /// Creates a sensor of a whole plane with walls, once for all agents of an instance; `position`: include each
    /// agent's position.
    ///
    /// # Panics
    /// Under the conditions of [`ObserveField::new`].
    pub fn whole(grid: &Grid, gain: f64, position: bool) -> Self {
        let view = View::Whole(Arc::new(ObserveField::new(grid, gain)));
        Self::of(grid, view, position)
    }

    /// Adds the distance to the nearest disc, beyond the `clearance`, and the direction to it.
    ///
    /// # Panics
    /// If there are no discs.
    pub fn with_discs(self, discs: Discs, clearance: f64) -> Self {
        Self { disc: Some(Arc::new(Nearest::new(discs, clearance))), ..self }
    }

    /// Adds the directions to the centroids of the field and of its target.
    pub fn with_centroids(self, grid: &Grid) -> Self {
        Self { centroids: Some((Arc::new(Moments::new(grid)), Arc::new(Directions))), ..self }
    }

    /// Adds the target and the feedforward force that holds it, if the window asks for them.
    ///
    /// # Panics
    /// Under the conditions of [`TargetView::new`].
    pub fn with_target(self, grid: &Grid, window: &Window, holding: Holding) -> Self {
        Self { target: window.target.then(|| TargetView::new(grid, window.window, window.believed(holding))), ..self }
    }

    /// Adds the gaps to active neighbours in this unit, unless it is 0.
    pub fn with_gaps(self, grid: &Grid, unit: f64) -> Self {
        Self { gaps: (unit > 0.0).then(|| Arc::new(Gaps::new(grid, unit))), ..self }
    }
}

impl Sense for Sight {
    fn features(&self) -> Features {
        let (patch, shared) = match &self.view {
            View::Line(line, _) => (Patch::Line(line.seen()), false),
            View::Plane(plane) => (plane.image(), false),
            #[cfg(feature = "files")]
            View::Box(probe) => (Patch::Line(probe.width()), false),
            View::Whole(field) => (field.image(), true),
        };
        let target = self.target.as_ref().map_or(0, TargetView::count);
        let disc = self.disc.as_ref().map_or(0, |_| Nearest::WIDTH);
        let centroids = self.centroids.as_ref().map_or(0, |_| Directions::COUNT);
        let gaps = self.gaps.as_ref().map_or(0, |gaps| gaps.count());
        let position = self.position.count() + disc + centroids + target + gaps;
        Features {
            patch,
            shared,
            position,
            signal: centroids + target,
            signal_from: self.position.count() + disc,
            ages: 0,
            roughness: false,
        }
    }

    fn observe<'t>(&self, visible: &Visible<'t>) -> Observation<'t> {
        let Visible { z, target, xi, strength, now, .. } = *visible;
        let tape = z.tape();
        // The order of these operations is that in which their cotangents are summed: another order would change the
        // rounding.
        let more = |seen: &dyn Fn(Var<'t>) -> Observation<'t>| {
            let mut position = xi.apply(&self.position);
            let mut signal: Option<Var<'t>> = None;
            if let Some(nearest) = &self.disc {
                position = position.join(now.map_or_else(|| xi.apply(nearest), |now| tape.record(nearest, [xi, now])));
            }
            let mut both = |x: Var<'t>| {
                position = position.join(x);
                signal = Some(signal.map_or(x, |signal| signal.join(x)));
            };
            if let Some((moments, directions)) = &self.centroids {
                both(tape.record(directions, [xi, z.apply(moments), target.apply(moments)]));
            }
            if let Some(view) = &self.target {
                both(view.observe(target, xi));
            }
            if let Some(gaps) = &self.gaps {
                position = position.join(tape.record(gaps, [xi, strength]));
            }
            seen(position).with_signal(signal)
        };
        match &self.view {
            View::Line(_, ring) if xi.is_loop_invariant() && ring.fits() => {
                let view = ring.observe(z, target, xi);
                more(&|position| Observation::linear(view, position))
            }
            View::Line(line, _) => {
                let patch = tape.record(line, [z, target, xi]);
                more(&|position| Observation::new(patch, position))
            }
            View::Plane(plane) => {
                let patch = tape.record(plane, [z, target, xi]);
                more(&|position| Observation::new(patch, position))
            }
            #[cfg(feature = "files")]
            View::Box(probe) => {
                let patch = tape.record(probe, [z - target, xi]);
                more(&|position| Observation::new(patch, position))
            }
            View::Whole(field) => {
                let seen = tape.record(field, [z, target]);
                more(&|position| Observation::shared(seen, position))
            }
        }
    }

    fn points(&self) -> usize {
        match (&self.lens, self.features().patch) {
            (Some(lens), _) => lens.points(),
            (None, Patch::Line(count)) => count,
            (None, Patch::Image { height, width, .. }) => height * width,
        }
    }

    fn sensor_scales(&self) -> Vec<[Real; 2]> {
        match (&self.lens, &self.view) {
            (Some(lens), _) => lens.sensor_scales(),
            (None, View::Whole(field)) => field.sensor_scales(),
            (None, _) => vec![[1.0, 1.0]; self.features().patch.count()],
        }
    }

    fn instruments(&self) -> Vec<Instrument> {
        let Some(lens) = &self.lens else { return Instrument::bare(&self.features()) };
        let mut all = Vec::from(lens.instruments());
        all.extend(self.position.instrument());
        all.extend(self.disc.iter().map(|nearest| nearest.instrument()));
        all.extend(self.centroids.iter().map(|(_, directions)| directions.instrument()));
        all.extend(self.target.iter().flat_map(TargetView::instruments));
        all.extend(self.gaps.iter().map(|gaps| gaps.instrument()));
        all
    }

    fn readings<'t>(&self, visible: &Visible<'t>) -> Vec<Var<'t>> {
        let seen = self.observe(visible);
        let Some(lens) = &self.lens else { return vec![seen.each_agent(seen.patch()), seen.position()] };
        let mut all = Vec::from(lens.readings(seen.patch()));
        let mut rest = self.position.count();
        // Position features in turn, in the order of `observe`.
        let mut next = |count: usize| {
            rest += count;
            seen.position().columns(rest - count, rest)
        };
        all.extend(self.position.instrument().map(|_| visible.xi));
        if let Some(nearest) = &self.disc {
            next(Nearest::WIDTH);
            all.push(nearest.reading(visible.xi, visible.now));
        }
        all.extend(self.centroids.iter().map(|(_, directions)| directions.reading(next(Directions::COUNT))));
        all.extend(self.target.iter().flat_map(|target| target.readings(next(target.count()))));
        all.extend(self.gaps.iter().map(|gaps| gaps.reading(next(gaps.count()))));
        all
    }

    fn shown<'t>(&self, readings: &[Var<'t>]) -> Observation<'t> {
        let Some(lens) = &self.lens else { return Observation::bare(&self.features(), readings) };
        let mut rest = readings.iter().copied();
        let mut next = || rest.next().expect("one reading per instrument");
        let patch = lens.shown(next(), next());
        // Without a position sensor the position is zero, and its features are constants.
        let unknown = || patch.tape().zeros(patch.shape().with_last(self.position.axes()));
        let xi = self.position.instrument().map_or_else(unknown, |_| next());
        let mut position = xi.apply(&self.position);
        let mut signal: Option<Var<'t>> = None;
        if let Some(nearest) = &self.disc {
            position = position.join(nearest.shown(next()));
        }
        let mut both = |x: Var<'t>| {
            position = position.join(x);
            signal = Some(signal.map_or(x, |signal| signal.join(x)));
        };
        if let Some((_, directions)) = &self.centroids {
            both(directions.shown(next()));
        }
        if let Some(target) = &self.target {
            both(target.shown([next(), next(), next()]));
        }
        if let Some(gaps) = &self.gaps {
            position = position.join(gaps.shown(next()));
        }
        Observation::new(patch, position).with_signal(signal)
    }
}
