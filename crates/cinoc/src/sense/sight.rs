//! Views of a field and knowledge of one's place, put together.

use super::lens::Scaled;
use super::{
    Directions, Features, Gaps, Holding, Instrument, Nearest, Observation, Observe1d, Observe2d, ObserveField, Patch,
    PositionFeatures, RingView, Sense, TargetView, Visible, Window,
};
use crate::geometry::Discs;
use cinoc_pde::Grid;
use cinoc_pde::calculus::Moments;
use cinoc_tape::Var;
use std::sync::Arc;

/// What an agent sees of the field (through a window around it, or all of it) and what it knows of its place.
pub struct Sight {
    view: View,
    /// The window around an agent, where it sees through one.
    lens: Option<Scaled>,
    position: Arc<PositionFeatures>,
    /// Where the nearest disc is.
    disc: Option<Arc<Nearest>>,
    /// Where the centroids of the field and of the target are.
    centroids: Option<(Arc<Moments>, Arc<Directions>)>,
    /// The target and what holds it.
    target: Option<TargetView>,
    /// How far it is to living neighbours.
    gaps: Option<Arc<Gaps>>,
}

/// What of the field is seen.
enum View {
    /// Samples of a line around each agent; in two steps where agents never move.
    Line(Arc<Observe1d>, RingView),
    /// An image around each agent.
    Plane(Arc<Observe2d>),
    /// All of it, once per instance.
    Whole(Arc<ObserveField>),
}

impl Sight {
    /// Through a window around each agent, on a line or in the plane.
    ///
    /// # Panics
    /// In more than two dimensions, and where [`Observe1d::new`] or [`Observe2d::new`] does.
    pub fn around(grid: &Grid, window: &Window) -> Self {
        let view = match grid.dimensions() {
            1 => {
                let line = Arc::new(Observe1d::new(grid, window));
                let ring = RingView::new(&line);
                View::Line(line, ring)
            }
            2 => View::Plane(Arc::new(Observe2d::new(grid, window))),
            d => panic!("agents see on a line or in the plane; a view in {d} dimensions is yet to be written"),
        };
        Self { lens: Some(Scaled::new(grid, window)), ..Self::of(grid, view, window.position) }.with_gaps(grid, window.gaps)
    }

    fn of(grid: &Grid, view: View, position: bool) -> Self {
        let position = Arc::new(PositionFeatures::of(grid, position));
        Self { view, lens: None, position, disc: None, centroids: None, target: None, gaps: None }
    }

    /// All of a plane with walls, once for all agents of an instance; `position`: whether each knows where in it it is.
    ///
    /// # Panics
    /// Where [`ObserveField::new`] does.
    pub fn whole(grid: &Grid, gain: f64, position: bool) -> Self {
        let view = View::Whole(Arc::new(ObserveField::new(grid, gain)));
        Self::of(grid, view, position)
    }

    /// Each agent also knows how far beyond its `clearance` the nearest disc is, and in which direction.
    ///
    /// # Panics
    /// Without discs.
    pub fn with_discs(self, discs: Discs, clearance: f64) -> Self {
        Self { disc: Some(Arc::new(Nearest::new(discs, clearance))), ..self }
    }

    /// Each agent also knows where the centroids of the field and of its target are.
    pub fn with_centroids(self, grid: &Grid) -> Self {
        Self { centroids: Some((Arc::new(Moments::new(grid)), Arc::new(Directions))), ..self }
    }

    /// Each agent also sees the target and what holds it, if its window says so.
    ///
    /// # Panics
    /// Where [`TargetView::new`] does.
    pub fn with_target(self, grid: &Grid, window: &Window, holding: Holding) -> Self {
        Self { target: window.target.then(|| TargetView::new(grid, window.window, window.believed(holding))), ..self }
    }

    /// Each agent also knows how far it is to its living neighbours, in this unit; 0: it does not.
    pub fn with_gaps(self, grid: &Grid, unit: f64) -> Self {
        Self { gaps: (unit > 0.0).then(|| Arc::new(Gaps::new(grid, unit))), ..self }
    }
}

impl Sense for Sight {
    fn features(&self) -> Features {
        let (patch, shared) = match &self.view {
            View::Line(line, _) => (Patch::Line(line.seen()), false),
            View::Plane(plane) => (plane.image(), false),
            View::Whole(field) => (field.image(), true),
        };
        let target = self.target.as_ref().map_or(0, TargetView::count);
        let disc = self.disc.as_ref().map_or(0, |_| Nearest::WIDTH);
        let centroids = self.centroids.as_ref().map_or(0, |_| Directions::COUNT);
        let gaps = self.gaps.as_ref().map_or(0, |gaps| gaps.count());
        let position = self.position.count() + disc + centroids + target + gaps;
        Features { patch, shared, position, signal: centroids + target, signal_from: self.position.count() + disc }
    }

    fn observe<'t>(&self, visible: &Visible<'t>) -> Observation<'t> {
        let Visible { z, target, xi, strength, now } = *visible;
        let tape = z.tape();
        // The order of these operations is that in which their cotangents add up: another order would round otherwise.
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
            View::Whole(field) => {
                let seen = tape.record(field, [z, target]);
                more(&|position| Observation::shared(seen, position))
            }
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
        // What is known one after the other, in the order of `observe`.
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
        let mut next = || rest.next().expect("a reading of each instrument");
        let patch = lens.shown(next(), next());
        // Who does not know where it is takes itself to be at zero, where its position features say nothing.
        let nowhere = || patch.tape().zeros(patch.shape().with_last(self.position.axes()));
        let xi = self.position.instrument().map_or_else(nowhere, |_| next());
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
