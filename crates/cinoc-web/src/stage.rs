//! One instance in three lanes, and the changes that a visitor can make.

use crate::brush::{Brush, Nature, Stroke};
use cinoc::env::Env;
use cinoc::evaluate::check_policy;
use cinoc::internal::geometry::Disc;
use cinoc::internal::threads::Threads;
use cinoc::pde::Grid;
use cinoc::policy::{Policy, ZeroControl};
use cinoc::rollout::InitialCondition;
use cinoc::run::Model;
use cinoc::settings::Overlay;
use cinoc::tape::Params;
use cinoc::task::Status;
use cinoc::{Error, Problem, Real, Registry};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// The controller of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// The learned policy.
    Learned,
    /// Zero control.
    Uncontrolled,
    /// A plan made for the state that lanes begin with: open loop, so it does not react to what a visitor does later.
    Planned,
}

impl Lane {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Learned, Self::Uncontrolled, Self::Planned];
}

/// The setting with the positions of discs, in problems that have some.
const DISCS: &str = "obstacles.discs";

/// Lanes that begin with the same state. Every change that a visitor makes applies to all of them.
pub struct Stage {
    registry: Registry,
    model: Model,
    problem: Arc<Problem>,
    policy: Box<dyn Policy>,
    idle: ZeroControl,
    /// In the order of [`Lane::ALL`].
    lanes: Vec<Env>,
    /// True for agents whose sensors are switched off; those of all agents work when lanes begin.
    blind: Vec<bool>,
    /// The state that lanes begin with.
    beginning: InitialCondition,
    nature: Nature,
    /// The largest magnitudes of painted fields and targets.
    most: [f64; 2],
    /// The stroke that is being painted.
    stroke: Stroke,
    /// Actions of the plan, `[ticks, agents, k]`; none: there is no plan.
    plan: Vec<Real>,
    /// True as long as no visitor has interfered, so that the plan is still that of this episode.
    undisturbed: bool,
}

impl Stage {
    /// Opens a model file; fields are zero until lanes [`begin`](Self::begin).
    pub fn open(registry: Registry, model: &[u8]) -> Result<Self, Error> {
        let model = Model::from_bytes(&registry, model, Path::new("the model of this page"))?;
        let (problem, policy) = model.build(&registry)?;
        let zero = vec![0.0; problem.stepper.state_count()];
        let places = problem.swarm.start(problem.agents);
        let beginning = InitialCondition { start: zero.clone(), target: zero, positions: places, ..InitialCondition::default() };
        let idle = ZeroControl { action_width: problem.swarm.action_width() };
        let (lanes, blind) = (lanes(&problem, problem.agents)?, vec![false; problem.agents]);
        let nature = Nature { signed: true, conserved: false };
        Ok(Self {
            registry,
            model,
            problem,
            policy,
            idle,
            lanes,
            blind,
            beginning,
            nature,
            most: [1.0; 2],
            stroke: Stroke::default(),
            plan: Vec::new(),
            undisturbed: true,
        })
    }

    /// Returns the data of the problem for the page.
    pub fn facts(&self) -> Result<Value, Error> {
        let Problem { name, stepper, swarm, task, agents, ticks } = &*self.problem;
        let (grid, labels) = (stepper.grid(), task.plot_labels());
        let explanation = self.registry.describe(&self.model.config)?;
        let other_score = task.plot_fields().is_some() && task.square_in_score(1, 1).is_none();
        let [title, axis] = if other_score { ["score"; 2] } else { [labels.title, labels.axis] };
        Ok(json!({
            "name": name,
            "about": explanation.about,
            "explanation": {"equation": explanation.equation, "sees": explanation.sees, "acts": explanation.acts, "score": explanation.score},
            "nodes": grid.nodes, "lengths": grid.lengths, "periodic": grid.is_periodic(),
            "tick": self.problem.tick_time(), "ticks": ticks, "scored": task.scored_at(*ticks),
            "agents": agents, "fixed": self.policy.fixed_agents().is_some(), "moves": swarm.moves(), "width": swarm.action_width(),
            "pushes": swarm.push_width(), "limits": swarm.limits(), "window": self.window(), "sigma": self.setting("swarm.sigma"),
            "title": title, "axis": axis, "target": labels.has_target,
            "discs": self.movable(),
        }))
    }

    /// Returns a number among the settings, in problems that have it.
    fn setting(&self, key: &str) -> Option<f64> {
        let value = self.model.config.get(key)?;
        value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64))
    }

    /// Returns the window that an agent observes: its width and its samples along each axis. `None` where agents
    /// observe the whole field.
    fn window(&self) -> Option<Value> {
        if self.problem.swarm.features().shared {
            return None;
        }
        Some(json!({"width": self.setting("observe.window")?, "points": self.setting("observe.points")?}))
    }

    /// Returns the problem.
    pub fn problem(&self) -> &Arc<Problem> {
        &self.problem
    }

    /// Returns the policy of the learned lane.
    pub fn policy(&self) -> (&dyn Policy, &Params) {
        (&*self.policy, &self.model.params)
    }

    /// Returns the state that lanes begin with.
    pub fn beginning(&self) -> &InitialCondition {
        &self.beginning
    }

    /// Begins with these fields and a number of agents at their regular positions.
    pub fn begin(&mut self, start: &[Real], target: &[Real], agents: usize) -> Result<(), Error> {
        check_policy(&*self.policy, agents, 1)?;
        let places = self.problem.swarm.start(agents);
        self.begin_at(InitialCondition {
            start: start.to_vec(),
            target: target.to_vec(),
            positions: places,
            ..InitialCondition::default()
        })
    }

    /// Begins with any state.
    pub fn begin_at(&mut self, beginning: InitialCondition) -> Result<(), Error> {
        let (nodes, agents) = (self.problem.stepper.state_count(), beginning.positions.len() / self.problem.swarm.dimensions());
        for field in [&beginning.start, &beginning.target] {
            if field.len() != nodes {
                let expected = format!("{nodes}, one for each node of the grid and each field");
                return Err(Error::bad("the numbers of a field", field.len().to_string(), expected));
            }
        }
        let whole = beginning.positions.len() == agents * self.problem.swarm.dimensions();
        if agents == 0 || !whole || beginning.failures.iter().any(|(_, agent)| *agent >= agents) {
            let given = format!("{} numbers of positions, {} failures", beginning.positions.len(), beginning.failures.len());
            return Err(Error::bad("the agents", given, "one position for each agent, failures of these agents only"));
        }
        if agents != self.lanes[0].agents() {
            check_policy(&*self.policy, agents, 1)?;
            self.lanes = lanes(&self.problem, agents)?;
        }
        self.beginning = beginning;
        self.plan.clear();
        self.learn_nature();
        self.restart();
        Ok(())
    }

    /// Restarts all lanes.
    pub fn restart(&mut self) {
        let beginning = &self.beginning;
        self.lanes.iter_mut().for_each(|env| env.reset(&[true], &mut |_| beginning.clone()));
        self.blind = vec![false; self.lanes[0].agents()];
        self.undisturbed = true;
    }

    /// Continues all lanes from the state of one, which becomes the one they begin with. A plan for another is dropped.
    pub fn mark(&mut self, lane: Lane) {
        let env = &self.lanes[lane as usize];
        let failed = env.strength(0).iter().enumerate().filter(|(_, strength)| **strength == 0.0);
        self.beginning = InitialCondition {
            start: env.field(0).to_vec(),
            target: env.target(0).to_vec(),
            positions: env.positions(0).to_vec(),
            failures: failed.map(|(agent, _)| (0, agent)).collect(),
            ..InitialCondition::default()
        };
        self.plan.clear();
        self.restart();
    }

    /// Advances a lane by one tick.
    pub fn step(&mut self, lane: Lane) {
        let env = &mut self.lanes[lane as usize];
        match lane {
            Lane::Learned => env.run_cached(&*self.policy, &self.model.params, 1, &mut |_| {}),
            Lane::Uncontrolled => env.run_cached(&self.idle, &Params::default(), 1, &mut |_| {}),
            Lane::Planned => {
                let each = env.action_len();
                if let Some(now) = self.plan.chunks_exact(each).nth(env.ticks_elapsed(0)) {
                    env.step(now);
                }
            }
        }
    }

    /// Returns the episode of a lane.
    pub fn env(&self, lane: Lane) -> &Env {
        &self.lanes[lane as usize]
    }

    /// Returns true if a lane has diverged, or if its plan has been carried out.
    pub fn ended(&self, lane: Lane) -> bool {
        let env = self.env(lane);
        env.last_step().diverged[0] || (lane == Lane::Planned && env.ticks_elapsed(0) >= self.planned())
    }

    /// Returns the mean square of the difference between field and target of a lane, or the present score of a problem
    /// file that has another one.
    pub fn error(&self, lane: Lane) -> f64 {
        let Problem { task, ticks, .. } = &*self.problem;
        let env = self.env(lane);
        let begins = env.begins(0) / self.problem.tick_time();
        task.plotted(&Status {
            tick: env.ticks_elapsed(0),
            ticks: *ticks,
            start: &self.beginning.start,
            z: env.field(0),
            target: env.target(0),
            xi: env.positions(0),
            begins,
            thorough: false,
        })
    }

    /// Returns the mean magnitude of the last push of the active agents of a lane.
    pub fn effort(&self, lane: Lane) -> f64 {
        let (env, swarm) = (self.env(lane), &self.problem.swarm);
        let size = |action: &[Real]| action[..swarm.push_width()].iter().map(|&a| (a as f64).powi(2)).sum::<f64>().sqrt();
        let sizes = env.action(0).chunks_exact(swarm.action_width()).zip(env.strength(0));
        let active = sizes.filter(|(_, strength)| **strength > 0.0).map(|(action, _)| size(action));
        let (sum, count) = active.fold((0.0, 0), |(sum, count), size| (sum + size, count + 1));
        sum / f64::from(count.max(1))
    }

    /// Changes the number of agents, which begin at their regular positions; fields continue.
    pub fn set_agents(&mut self, agents: usize) -> Result<(), Error> {
        check_policy(&*self.policy, agents, 1)?;
        let places = self.problem.swarm.start(agents);
        let mut new = lanes(&self.problem, agents)?;
        for (env, old) in new.iter_mut().zip(&self.lanes) {
            let (start, target) = (old.field(0).to_vec(), old.target(0).to_vec());
            env.reset(&[true], &mut |_| InitialCondition {
                start: start.clone(),
                target: target.clone(),
                positions: places.clone(),
                ..InitialCondition::default()
            });
        }
        (self.lanes, self.blind) = (new, vec![false; agents]);
        (self.beginning.positions, self.beginning.failures) = (places, Vec::new());
        self.plan.clear();
        Ok(())
    }

    /// Lets an agent fail, or makes it active again.
    pub fn set_alive(&mut self, agent: usize, alive: bool) {
        if agent < self.lanes[0].agents() {
            self.lanes.iter_mut().for_each(|env| env.set_strength(0, agent, f64::from(u8::from(alive)) as Real));
            self.undisturbed = false;
        }
    }

    /// Switches all sensors of an agent off or on. Agents that share a view share its sensors.
    pub fn set_sensors(&mut self, agent: usize, works: bool) {
        if agent < self.lanes[0].agents() {
            self.lanes.iter_mut().for_each(|env| env.set_sensor(0, agent, None, works));
            let shared = self.problem.swarm.features().shared;
            self.blind.iter_mut().enumerate().filter(|(k, _)| shared || *k == agent).for_each(|(_, blind)| *blind = !works);
            self.undisturbed = false;
        }
    }

    /// Returns true for each agent whose sensors are switched off.
    pub fn blind(&self) -> &[bool] {
        &self.blind
    }

    /// Returns the age of the youngest reading of each agent of a lane in the next tick, in ticks; zero if none are lost.
    pub fn ages(&mut self, lane: Lane) -> Vec<Real> {
        let (points, env) = (self.problem.swarm.points(), &mut self.lanes[lane as usize]);
        let agents = env.agents();
        let views = env.ages(0).chunks_exact(points.max(1));
        let youngest: Vec<Real> = views.map(|ages| ages.iter().copied().fold(Real::INFINITY, Real::min)).collect();
        // Agents that share a view have one age.
        (0..agents).map(|agent| youngest.get(agent).or(youngest.last()).copied().unwrap_or(0.0)).collect()
    }

    /// Moves an agent to the nearest position that it may take.
    pub fn place(&mut self, agent: usize, at: [f64; 2]) {
        let swarm = &self.problem.swarm;
        let (d, home) = (swarm.dimensions(), swarm.bounds(&self.problem.stepper.grid().lengths));
        if agent >= self.lanes[0].agents() {
            return;
        }
        for env in &mut self.lanes {
            let mut all = env.positions(0).to_vec();
            let own = &mut all[agent * d..(agent + 1) * d];
            (0..d).for_each(|c| own[c] = at[c].clamp(home[0][c], home[1][c]) as Real);
            swarm.settle(own);
            env.set_positions(0, &all);
        }
        self.undisturbed = false;
    }

    /// Disturbs the fields of all lanes.
    pub fn disturb(&mut self, brush: Brush) {
        let (grid, nature, most) = (self.problem.stepper.grid(), self.nature, self.most[0]);
        self.lanes.iter_mut().for_each(|env| change_field(env, grid, |field| brush.paint(grid, nature, most, field)));
        self.undisturbed = false;
    }

    /// Paints on the target of all lanes.
    pub fn paint_target(&mut self, brush: Brush) {
        let (grid, mut target) = (self.problem.stepper.grid(), self.lanes[0].target(0).to_vec());
        brush.paint(grid, self.nature, self.most[1], &mut target[..grid.count()]);
        self.set_target(target);
    }

    /// Lifts the brush: what is painted next is another stroke.
    pub fn lift(&mut self) {
        self.stroke = Stroke::default();
    }

    /// Continues a stroke over the fields of all lanes; `brush.amount` is the level it leads to.
    pub fn stroke_field(&mut self, brush: Brush) {
        let (grid, nature) = (self.problem.stepper.grid(), self.nature);
        let (shares, level) = (self.stroke.cover(&brush, grid), brush.amount.clamp(-self.most[0], self.most[0]));
        let stroke = &self.stroke;
        self.lanes.iter_mut().for_each(|env| change_field(env, grid, |field| stroke.apply(&shares, level, nature, field)));
        self.undisturbed = false;
    }

    /// Continues a stroke over the target; no target is painted larger than the one that was there.
    pub fn stroke_target(&mut self, brush: Brush) {
        let (grid, mut target) = (self.problem.stepper.grid(), self.lanes[0].target(0).to_vec());
        let brush = Brush { amount: brush.amount.clamp(-self.most[1], self.most[1]), ..brush };
        self.stroke.paint(&brush, grid, self.nature, &mut target[..grid.count()]);
        self.set_target(target);
    }

    /// Clears the target; where the equation conserves the sum of a field, and in problem files, it becomes uniform instead.
    pub fn clear_target(&mut self) {
        let (count, mut target) = (self.problem.stepper.grid().count(), self.lanes[0].target(0).to_vec());
        let mean = target[..count].iter().map(|&z| z as f64).sum::<f64>() / count as f64;
        let uniform = self.nature.conserved || self.problem.task.plot_fields().is_some();
        target[..count].fill(if uniform { mean as Real } else { 0.0 });
        self.set_target(target);
    }

    fn set_target(&mut self, target: Vec<Real>) {
        self.lanes.iter_mut().for_each(|env| env.set_target(0, &target));
        self.beginning.target = target;
        self.undisturbed = false;
    }

    /// Returns the discs at the present tick.
    pub fn discs(&self) -> Vec<Disc> {
        self.problem.task.obstacles(self.lanes[0].ticks_elapsed(0))
    }

    /// Returns true if discs can be dragged: those that circle cannot.
    fn movable(&self) -> bool {
        self.model.config.get(DISCS).is_some() && !self.problem.task.timed()
    }

    /// Moves a disc. Refused too near to another one and in a wall, as the setting is.
    pub fn move_disc(&mut self, disc: usize, at: [f64; 2]) -> Result<(), Error> {
        let mut discs = self.discs();
        let Some(moved) = discs.get_mut(disc).filter(|_| self.movable()) else { return Ok(()) };
        moved.centre = at.map(|x| x as Real);
        self.set_discs(&discs)
    }

    /// Moves all discs; lanes continue.
    pub fn set_discs(&mut self, discs: &[Disc]) -> Result<(), Error> {
        let list: Vec<String> = discs.iter().map(|d| format!("[{:?}, {:?}, {:?}]", d.centre[0], d.centre[1], d.radius)).collect();
        let change = Overlay::from_pairs([format!("{DISCS}=[{}]", list.join(", "))])?;
        let config = self.registry.change(&self.model.config, &change)?;
        let problem = Arc::new(self.registry.build(&config)?);
        for env in &mut self.lanes {
            let mut places = env.positions(0).to_vec();
            problem.swarm.settle(&mut places);
            env.set_problem(problem.clone());
            env.set_positions(0, &places);
        }
        problem.swarm.settle(&mut self.beginning.positions);
        (self.model.config, self.problem, self.undisturbed) = (config, problem, false);
        Ok(())
    }

    /// Takes actions for the planned lane, `[ticks, agents, k]`, made for where the lanes begin.
    pub fn set_plan(&mut self, actions: Vec<Real>) -> Result<(), Error> {
        let each = self.lanes[0].action_len();
        if actions.is_empty() || !actions.len().is_multiple_of(each) {
            let expected = format!("a multiple of {each}, the numbers of a tick");
            return Err(Error::bad("the numbers of a plan", actions.len().to_string(), expected));
        }
        self.plan = actions;
        Ok(())
    }

    /// Returns the ticks of the plan; 0 if there is none.
    pub fn planned(&self) -> usize {
        self.plan.len() / self.lanes[0].action_len()
    }

    /// Returns true if no visitor has interfered since the lanes began.
    pub fn undisturbed(&self) -> bool {
        self.undisturbed
    }

    /// Derives the nature of the first field from that which lanes begin with and from an uncontrolled tick.
    fn learn_nature(&mut self) {
        let (count, written) = (self.problem.stepper.grid().count(), self.problem.task.plot_fields().is_some());
        let [start, target] = [&self.beginning.start, &self.beginning.target].map(|state| &state[..count]);
        let both = || start.iter().chain(target).map(|&z| z as f64);
        let largest = |field: &[Real]| field.iter().fold(0.0, |most: f64, z| most.max(z.abs() as f64));
        let most = largest(start).max(largest(target));
        // Agents have been trained to reach and to hold targets of this size.
        let wanted = if largest(target) > 0.0 { largest(target) } else { most };
        // The target of a file may be the same in all instances, like a temperature.
        let wanted = if written { 1.5 * most } else { wanted };
        self.most = if most > 0.0 { [1.5 * most, wanted] } else { [1.0; 2] };
        // A slight undershoot below zero does not make a field a signed one.
        let signed = both().fold(0.0, f64::min) < -0.02 * most || most == 0.0;
        let beginning = self.beginning.clone();
        let free = &mut self.lanes[Lane::Uncontrolled as usize];
        free.reset(&[true], &mut |_| beginning.clone());
        free.run(&self.idle, &Params::default(), 1, &mut |_| {});
        let sum = |field: &[Real]| field.iter().map(|&z| z as f64).sum::<f64>();
        // Fields of a file may be far from zero, like a temperature.
        let start = &beginning.start[..count];
        let usual = if written { sum(start) / count as f64 } else { 0.0 };
        let scale = start.iter().map(|z| (*z as f64 - usual).abs()).sum::<f64>();
        let conserved = (sum(&free.field(0)[..count]) - sum(start)).abs() < 1e-4 * scale;
        self.nature = Nature { signed, conserved };
    }
}

/// Changes the first field of an episode.
fn change_field(env: &mut Env, grid: &Grid, change: impl FnOnce(&mut [Real])) {
    let mut fields = env.field(0).to_vec();
    change(&mut fields[..grid.count()]);
    env.set_field(0, &fields);
}

/// Creates an endless episode for each lane.
fn lanes(problem: &Arc<Problem>, agents: usize) -> Result<Vec<Env>, Error> {
    Lane::ALL.iter().map(|_| Ok(Env::new(problem.clone(), 1, agents, Threads::single())?.without_time_limit(true))).collect()
}
