//! One instance in three lanes, and what a visitor may do to it.

use crate::brush::{Brush, Nature};
use cinoc::env::Env;
use cinoc::evaluate::decide;
use cinoc::geometry::Disc;
use cinoc::policy::{Idle, Policy};
use cinoc::rollout::Beginning;
use cinoc::run::Model;
use cinoc::settings::Overlay;
use cinoc::tape::Params;
use cinoc::task::mean_square;
use cinoc::threads::Threads;
use cinoc::{Error, Problem, Real, Registry};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// Who decides in a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// The learned policy.
    Learned,
    /// Nobody: no agent does anything.
    Nobody,
    /// A plan that was made for where the lanes begin: it does not look, so what a visitor does later it does not know.
    Planned,
}

impl Lane {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Learned, Self::Nobody, Self::Planned];
}

/// The key of the places of discs, in problems that have some.
const DISCS: &str = "obstacles.discs";

/// Lanes that begin alike. What a visitor does is done in all of them.
pub struct Stage {
    registry: Registry,
    model: Model,
    problem: Arc<Problem>,
    policy: Box<dyn Policy>,
    nobody: Idle,
    /// In the order of [`Lane::ALL`].
    lanes: Vec<Env>,
    /// Where lanes begin when they are started anew.
    beginning: Beginning,
    nature: Nature,
    /// How large fields and targets may be painted.
    most: [f64; 2],
    /// Actions of the plan, `[ticks, agents, k]`; none: there is no plan.
    plan: Vec<Real>,
    /// Whether the plan still knows everything: nobody has interfered.
    undisturbed: bool,
}

impl Stage {
    /// The problem and the policy of a model file, in the middle of nowhere until lanes [`begin`](Self::begin).
    pub fn open(registry: Registry, model: &[u8]) -> Result<Self, Error> {
        let model = Model::from_bytes(&registry, model, Path::new("the model of this page"))?;
        let (problem, policy) = model.build(&registry)?;
        let zero = vec![0.0; problem.stepper.grid().count()];
        let places = problem.swarm.start(problem.agents);
        let beginning = Beginning { start: zero.clone(), target: zero, places, ..Beginning::default() };
        let nobody = Idle { action_width: problem.swarm.action_width() };
        let lanes = lanes(&problem, problem.agents)?;
        let nature = Nature { signed: true, conserved: false };
        Ok(Self {
            registry,
            model,
            problem,
            policy,
            nobody,
            lanes,
            beginning,
            nature,
            most: [1.0; 2],
            plan: Vec::new(),
            undisturbed: true,
        })
    }

    /// What the page has to know of the problem.
    pub fn facts(&self) -> Result<Value, Error> {
        let Problem { name, stepper, swarm, task, agents, ticks } = &*self.problem;
        let (grid, reading) = (stepper.grid(), task.reading());
        let explanation = self.registry.explanation(name)?;
        Ok(json!({
            "name": name,
            "about": self.registry.about(name)?,
            "explanation": {"equation": explanation.equation, "sees": explanation.sees, "acts": explanation.acts, "score": explanation.score},
            "nodes": grid.nodes, "lengths": grid.lengths, "periodic": grid.periodic,
            "tick": self.problem.tick_time(), "ticks": ticks, "scored": task.scored_at(*ticks),
            "agents": agents, "fixed": self.policy.fixed_agents().is_some(), "moves": swarm.moves(), "width": swarm.action_width(),
            "title": reading.title, "axis": reading.axis, "target": reading.has_target,
            "discs": self.movable(),
        }))
    }

    /// The problem.
    pub fn problem(&self) -> &Arc<Problem> {
        &self.problem
    }

    /// What the learned lane is driven by.
    pub fn policy(&self) -> (&dyn Policy, &Params) {
        (&*self.policy, &self.model.params)
    }

    /// Where lanes begin when they are started anew.
    pub fn beginning(&self) -> &Beginning {
        &self.beginning
    }

    /// Begins with these fields and so many agents at their regular places.
    pub fn begin(&mut self, start: &[Real], target: &[Real], agents: usize) -> Result<(), Error> {
        let places = self.problem.swarm.start(agents);
        self.begin_at(Beginning { start: start.to_vec(), target: target.to_vec(), places, ..Beginning::default() })
    }

    /// Begins anywhere.
    pub fn begin_at(&mut self, beginning: Beginning) -> Result<(), Error> {
        let (nodes, agents) = (self.problem.stepper.grid().count(), beginning.places.len() / self.problem.swarm.dimensions());
        for field in [&beginning.start, &beginning.target] {
            if field.len() != nodes {
                let expected = format!("{nodes} of them, as many as the grid has nodes");
                return Err(Error::bad("the numbers of a field", field.len().to_string(), expected));
            }
        }
        if agents != self.lanes[0].agents() {
            decide(&*self.policy, agents, 1)?;
            self.lanes = lanes(&self.problem, agents)?;
        }
        self.beginning = beginning;
        self.plan.clear();
        self.learn_nature();
        self.restart();
        Ok(())
    }

    /// All lanes from the beginning.
    pub fn restart(&mut self) {
        let beginning = &self.beginning;
        self.lanes.iter_mut().for_each(|env| env.reset(&[true], &mut |_| beginning.clone()));
        self.undisturbed = true;
    }

    /// All lanes go on from where a lane is, and begin there from now on. A plan for another beginning is dropped.
    pub fn mark(&mut self, lane: Lane) {
        let env = &self.lanes[lane as usize];
        let dead = env.strength(0).iter().enumerate().filter(|(_, strength)| **strength == 0.0);
        self.beginning = Beginning {
            start: env.field(0).to_vec(),
            target: env.target(0).to_vec(),
            places: env.positions(0).to_vec(),
            deaths: dead.map(|(agent, _)| (0, agent)).collect(),
            ..Beginning::default()
        };
        self.plan.clear();
        self.restart();
    }

    /// One tick of a lane.
    pub fn step(&mut self, lane: Lane) {
        let env = &mut self.lanes[lane as usize];
        match lane {
            Lane::Learned => env.proceed(&*self.policy, &self.model.params, 1, &mut |_| {}),
            Lane::Nobody => env.proceed(&self.nobody, &Params::default(), 1, &mut |_| {}),
            Lane::Planned => {
                let each = env.actions();
                if let Some(now) = self.plan.chunks_exact(each).nth(env.tick(0)) {
                    env.step(now);
                }
            }
        }
    }

    /// The episode of a lane.
    pub fn env(&self, lane: Lane) -> &Env {
        &self.lanes[lane as usize]
    }

    /// Whether a lane has come to its end: it has diverged, or a plan has been carried out.
    pub fn ended(&self, lane: Lane) -> bool {
        let env = self.env(lane);
        env.last().diverged[0] || (lane == Lane::Planned && env.tick(0) >= self.planned())
    }

    /// Mean square of what the field of a lane lacks to its target.
    pub fn error(&self, lane: Lane) -> f64 {
        let env = self.env(lane);
        mean_square(env.field(0), env.target(0))
    }

    /// Mean size of what the living agents of a lane did last.
    pub fn effort(&self, lane: Lane) -> f64 {
        let (env, swarm) = (self.env(lane), &self.problem.swarm);
        let size = |action: &[Real]| action[..swarm.pushes()].iter().map(|&a| (a as f64).powi(2)).sum::<f64>().sqrt();
        let sizes = env.action(0).chunks_exact(swarm.action_width()).zip(env.strength(0));
        let living = sizes.filter(|(_, strength)| **strength > 0.0).map(|(action, _)| size(action));
        let (sum, count) = living.fold((0.0, 0), |(sum, count), size| (sum + size, count + 1));
        sum / f64::from(count.max(1))
    }

    /// Another number of agents, at their regular places: fields go on.
    pub fn set_agents(&mut self, agents: usize) -> Result<(), Error> {
        decide(&*self.policy, agents, 1)?;
        let places = self.problem.swarm.start(agents);
        let mut new = lanes(&self.problem, agents)?;
        for (env, old) in new.iter_mut().zip(&self.lanes) {
            let (start, target) = (old.field(0).to_vec(), old.target(0).to_vec());
            env.reset(&[true], &mut |_| Beginning {
                start: start.clone(),
                target: target.clone(),
                places: places.clone(),
                ..Beginning::default()
            });
        }
        self.lanes = new;
        (self.beginning.places, self.beginning.deaths) = (places, Vec::new());
        self.plan.clear();
        Ok(())
    }

    /// Kills an agent, or brings it back to life.
    pub fn set_alive(&mut self, agent: usize, alive: bool) {
        if agent < self.lanes[0].agents() {
            self.lanes.iter_mut().for_each(|env| env.set_strength(0, agent, f64::from(u8::from(alive)) as Real));
            self.undisturbed = false;
        }
    }

    /// Puts an agent elsewhere, as near to it as it may be.
    pub fn place(&mut self, agent: usize, at: [f64; 2]) {
        let swarm = &self.problem.swarm;
        let (d, home) = (swarm.dimensions(), swarm.home(&self.problem.stepper.grid().lengths));
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

    /// Disturbs all fields.
    pub fn disturb(&mut self, brush: Brush) {
        let grid = self.problem.stepper.grid();
        for env in &mut self.lanes {
            let mut field = env.field(0).to_vec();
            brush.paint(grid, self.nature, self.most[0], &mut field);
            env.set_field(0, &field);
        }
        self.undisturbed = false;
    }

    /// Paints on the target, in all lanes and for all that is to come.
    pub fn paint_target(&mut self, brush: Brush) {
        let mut target = self.lanes[0].target(0).to_vec();
        brush.paint(self.problem.stepper.grid(), self.nature, self.most[1], &mut target);
        self.set_target(target);
    }

    /// Wipes the target, so that one can be painted on nothing; where the equation keeps the sum of a field it is spread evenly instead.
    pub fn clear_target(&mut self) {
        let target = self.lanes[0].target(0);
        let mean = target.iter().map(|&z| z as f64).sum::<f64>() / target.len() as f64;
        let level = if self.nature.conserved { mean as Real } else { 0.0 };
        self.set_target(vec![level; target.len()]);
    }

    fn set_target(&mut self, target: Vec<Real>) {
        self.lanes.iter_mut().for_each(|env| env.set_target(0, &target));
        self.beginning.target = target;
        self.undisturbed = false;
    }

    /// The discs of now.
    pub fn discs(&self) -> Vec<Disc> {
        self.problem.task.obstacles(self.lanes[0].tick(0))
    }

    /// Whether discs can be dragged: those that circle by themselves cannot.
    fn movable(&self) -> bool {
        self.model.config.get(DISCS).is_some() && !self.problem.task.timed()
    }

    /// Puts a disc elsewhere. Refused where the problem would be: too near to another one, or in a wall.
    pub fn move_disc(&mut self, disc: usize, at: [f64; 2]) -> Result<(), Error> {
        let mut discs = self.discs();
        let Some(moved) = discs.get_mut(disc).filter(|_| self.movable()) else { return Ok(()) };
        moved.centre = at.map(|x| x as Real);
        self.set_discs(&discs)
    }

    /// Puts all discs elsewhere: lanes go on in a problem that has them there.
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
        problem.swarm.settle(&mut self.beginning.places);
        (self.model.config, self.problem, self.undisturbed) = (config, problem, false);
        Ok(())
    }

    /// Takes actions for the planned lane, `[ticks, agents, k]`, made for where the lanes begin.
    pub fn set_plan(&mut self, actions: Vec<Real>) -> Result<(), Error> {
        let each = self.lanes[0].actions();
        if actions.is_empty() || !actions.len().is_multiple_of(each) {
            let expected = format!("a multiple of {each}, the numbers of a tick");
            return Err(Error::bad("the numbers of a plan", actions.len().to_string(), expected));
        }
        self.plan = actions;
        Ok(())
    }

    /// Ticks of the plan; 0: there is none.
    pub fn planned(&self) -> usize {
        self.plan.len() / self.lanes[0].actions()
    }

    /// Whether nobody has interfered since the lanes began.
    pub fn undisturbed(&self) -> bool {
        self.undisturbed
    }

    /// Looks at the fields that lanes begin with, and at what a free tick does to them.
    fn learn_nature(&mut self) {
        let Beginning { start, target, .. } = &self.beginning;
        let both = || start.iter().chain(target).map(|&z| z as f64);
        let largest = |field: &[Real]| field.iter().fold(0.0, |most: f64, z| most.max(z.abs() as f64));
        let most = largest(start).max(largest(target));
        // A target as large as the one that was drawn: what agents have been trained to reach and to hold.
        let wanted = if largest(target) > 0.0 { largest(target) } else { most };
        self.most = if most > 0.0 { [1.5 * most, wanted] } else { [1.0; 2] };
        // A slight undershoot below zero does not make a field a signed one.
        let signed = both().fold(0.0, f64::min) < -0.02 * most || most == 0.0;
        let beginning = self.beginning.clone();
        let free = &mut self.lanes[Lane::Nobody as usize];
        free.reset(&[true], &mut |_| beginning.clone());
        free.run(&self.nobody, &Params::default(), 1, &mut |_| {});
        let sum = |field: &[Real]| field.iter().map(|&z| z as f64).sum::<f64>();
        let scale = beginning.start.iter().map(|z| z.abs() as f64).sum::<f64>();
        let conserved = (sum(free.field(0)) - sum(&beginning.start)).abs() < 1e-4 * scale;
        self.nature = Nature { signed, conserved };
    }
}

/// An episode without an end for each lane.
fn lanes(problem: &Arc<Problem>, agents: usize) -> Result<Vec<Env>, Error> {
    Lane::ALL.iter().map(|_| Ok(Env::new(problem.clone(), 1, agents, Threads::one())?.endless(true))).collect()
}
