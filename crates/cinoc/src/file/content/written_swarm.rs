//! The agents of a problem file: channels, limits, positions and motion.

use super::draft::{ChannelText, Draft, ShapeText};
use super::known::Known;
use super::sections::AnyAgents;
use super::seen_field::SeenField;
use crate::Real;
use crate::actuate::{Actuate, Channels, Kernel, Push, Stamp, StampShape};
use crate::agents::{Advance, Swarm};
use crate::limit::{Actuator, Actuators, RangeLimit, Tank};
use crate::place::{ByHand, InBox, Place};
use std::sync::Arc;

/// Ranges of the channels. The first is scaled to the setting of its largest magnitude.
pub fn ranges(draft: &Draft, agents: &AnyAgents) -> Vec<[f64; 2]> {
    let mut all: Vec<[f64; 2]> = draft.agents.channels.iter().map(|channel| channel.range).collect();
    let [low, high] = all[0];
    all[0] = all[0].map(|end| end * agents.u_limit() / high.max(-low));
    all
}

/// Limits beyond ranges, if the file has any.
pub fn actuators(draft: &Draft, ranges: &[[f64; 2]], tick: f64) -> Option<Arc<Actuators>> {
    let actuator = |(channel, range): (&ChannelText, &[f64; 2])| Actuator {
        range: range.map(|end| end as Real),
        levels: channel.levels,
        rate: channel.rate.map(|rate| (rate * tick) as Real),
        tank: channel.tank.map(|[tank, refill]| Tank { size: (tank / tick) as Real, refill: refill as Real }),
        shared: channel.shared.map(|most| most as Real),
    };
    let all: Vec<Actuator> = draft.agents.channels.iter().zip(ranges).map(actuator).collect();
    all.iter().any(Actuator::is_limited).then(|| Arc::new(Actuators::new(all)))
}

/// Builds the swarm.
pub fn swarm(
    draft: &Draft,
    agents: &AnyAgents,
    known: &Known,
    sense: SeenField,
    actuators: Option<Arc<Actuators>>,
    tick: f64,
) -> Swarm {
    let (grid, channels) = (&known.grid, &draft.agents.channels);
    let (mut swarm, velocity, kernel, sigma) = match agents {
        AnyAgents::Mobile(mobile) => {
            let velocity = vec![mobile.v_limit as Real; grid.dimensions()];
            (mobile.swarm(grid, sense, tick), velocity, mobile.kernel, mobile.sigma)
        }
        AnyAgents::Static(fixed) => (fixed.seeing(grid, sense), Vec::new(), fixed.kernel, fixed.sigma),
    };
    let ranges = ranges(draft, agents);
    if ranges.len() > 1 || -ranges[0][0] != ranges[0][1] {
        let ranges: Vec<[Real; 2]> = ranges.iter().map(|range| range.map(|end| end as Real)).collect();
        swarm = swarm.with_limit(RangeLimit::new(&ranges, &velocity));
    }
    if let Some(actuators) = actuators {
        swarm = swarm.with_constraint(actuators);
    }
    // Settings change the width of the first channel.
    let channel = |(c, channel): (usize, &ChannelText)| -> Box<dyn Actuate> {
        let own = |width: f64| if c == 0 { sigma } else { width };
        let shape = match channel.shape {
            ShapeText::Gauss(width) => {
                let kernel = if c == 0 { kernel } else { Kernel::Peak };
                return Push { sigma: own(width), kernel }.on(grid, !velocity.is_empty());
            }
            ShapeText::Disc(radius) => StampShape::Disc(own(radius)),
            ShapeText::Cell => StampShape::Cell,
        };
        Box::new(Arc::new(Stamp::new(grid, shape)))
    };
    let mut all: Vec<_> = channels.iter().enumerate().map(channel).collect();
    swarm = swarm.with_actuation(if all.len() == 1 { all.remove(0) } else { Box::new(Channels(all)) });
    if let Some(corners) = &draft.agents.within {
        let [low, high] = corners.each_ref().map(|corner| known.on_grid(corner));
        let place = InBox::new(&low, &high);
        // A box that is shorter than a periodic axis has ends.
        let whole = |axis: usize| grid.periodic[axis] && low[axis] == 0.0 && high[axis] == grid.lengths[axis];
        let periodic: Vec<bool> = (0..low.len()).map(whole).collect();
        let motion = Advance::new(tick as Real, low, high).around(&periodic);
        swarm = swarm.with_place(|_| Box::new(place)).with_motion(motion);
    }
    if !draft.agents.positions.is_empty() {
        let positions = draft.agents.positions.iter().flat_map(|point| known.on_grid(point)).collect();
        let agents = draft.agents.positions.len();
        swarm = swarm.with_place(|otherwise| Box::new(ByHand { positions, agents, otherwise }) as Box<dyn Place>);
    }
    swarm
}
