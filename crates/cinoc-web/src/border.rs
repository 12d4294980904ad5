//! The functions that the page calls: numbers as arguments, and two buffers in memory for arrays and text.
//!
//! Written by hand instead of by `wasm-bindgen`: three dozen functions of numbers need no generated code and no second
//! tool whose version must match that of a crate. The page writes arrays into [`input`] before a call and reads them
//! from [`output`] after it.
#![allow(unsafe_code)]

use crate::{Brush, Lane, Progress, Stage, search};
use cinoc::internal::geometry::Disc;
use cinoc::rollout::InitialCondition;
use cinoc::{Error, Real, Registry};
use std::cell::{Cell, RefCell};
use std::panic::{self, PanicHookInfo};

#[derive(Default)]
struct Page {
    stage: Option<Stage>,
    input: Vec<u8>,
    output: Vec<u8>,
}

thread_local! {
    static PAGE: RefCell<Page> = RefCell::default();
    static REGISTRY: Cell<fn() -> Registry> = const { Cell::new(Registry::builtin) };
}

/// Sets the problems and policies that models are opened with: an engine of another crate calls this in an exported
/// function `setup`.
pub fn know(registry: fn() -> Registry) {
    REGISTRY.set(registry);
}

#[link(wasm_import_module = "page")]
unsafe extern "C" {
    /// Receives the message of an engine that cannot continue.
    safe fn complain(text: *const u8, length: usize);
    /// Receives the progress of a search.
    safe fn report(share: f64, policy: f64, best: f64);
}

/// Calls `f` with the stage; returns the default value as long as there is none.
fn with<T: Default>(f: impl FnOnce(&mut Stage) -> T) -> T {
    PAGE.with_borrow_mut(|page| page.stage.as_mut().map(f).unwrap_or_default())
}

/// Returns 1, or 0 with the message in the output.
fn tried(done: Result<(), Error>) -> u32 {
    let Err(error) = done else { return 1 };
    PAGE.with_borrow_mut(|page| page.output = error.to_string().into_bytes());
    0
}

fn numbers(bytes: &[u8]) -> Vec<Real> {
    bytes.as_chunks::<4>().0.iter().map(|&word| f32::from_le_bytes(word) as Real).collect()
}

fn bytes(numbers: &[Real]) -> Vec<u8> {
    numbers.iter().flat_map(|&x| (x as f32).to_le_bytes()).collect()
}

fn lane(number: u32) -> Lane {
    Lane::ALL[number as usize % Lane::ALL.len()]
}

/// Reserves the input of the next call, in bytes; returns its address.
#[unsafe(no_mangle)]
extern "C" fn input(length: usize) -> *mut u8 {
    PAGE.with_borrow_mut(|page| {
        page.input.clear();
        page.input.resize(length, 0);
        page.input.as_mut_ptr()
    })
}

/// Returns the address of the output of the last call.
#[unsafe(no_mangle)]
extern "C" fn output() -> *const u8 {
    PAGE.with_borrow(|page| page.output.as_ptr())
}

/// Returns the length of the output in bytes.
#[unsafe(no_mangle)]
extern "C" fn output_length() -> usize {
    PAGE.with_borrow(|page| page.output.len())
}

/// Opens the model in the input; the output holds the data of the problem as JSON.
#[unsafe(no_mangle)]
extern "C" fn open() -> u32 {
    panic::set_hook(Box::new(|info: &PanicHookInfo| {
        let text = info.to_string();
        complain(text.as_ptr(), text.len());
    }));
    let model = PAGE.with_borrow_mut(|page| std::mem::take(&mut page.input));
    let opened = Stage::open(REGISTRY.get()(), &model).and_then(|stage| Ok((stage.facts()?.to_string(), stage)));
    tried(opened.map(|(facts, stage)| {
        PAGE.with_borrow_mut(|page| (page.stage, page.output) = (Some(stage), facts.into_bytes()));
    }))
}

/// Calls `f` with the stage and the numbers in the input; returns 1, or 0 with the message in the output.
fn attempt(f: impl FnOnce(&mut Stage, Vec<Real>) -> Result<(), Error>) -> u32 {
    tried(PAGE.with_borrow_mut(|page| {
        let given = numbers(&std::mem::take(&mut page.input));
        page.stage.as_mut().map_or(Ok(()), |stage| f(stage, given))
    }))
}

/// Begins with the start and the target in the input, and a number of agents at their regular positions.
#[unsafe(no_mangle)]
extern "C" fn begin(agents: usize) -> u32 {
    attempt(|stage, fields| {
        let (start, target) = fields.split_at(fields.len() / 2);
        stage.begin(start, target, agents)
    })
}

/// Begins with start, target, positions and strengths of a number of agents in the input.
#[unsafe(no_mangle)]
extern "C" fn begin_at(agents: usize) -> u32 {
    attempt(|stage, given| {
        let nodes = stage.problem().stepper.state_count();
        let (fields, rest) = given.split_at((2 * nodes).min(given.len()));
        let (places, strength) = rest.split_at((agents * stage.problem().swarm.dimensions()).min(rest.len()));
        let (start, target) = fields.split_at(fields.len() / 2);
        let failed = strength.iter().enumerate().filter(|(_, strength)| **strength == 0.0);
        stage.begin_at(InitialCondition {
            start: start.to_vec(),
            target: target.to_vec(),
            positions: places.to_vec(),
            failures: failed.map(|(agent, _)| (0, agent)).collect(),
            ..InitialCondition::default()
        })
    })
}

#[unsafe(no_mangle)]
extern "C" fn restart() {
    with(Stage::restart);
}

#[unsafe(no_mangle)]
extern "C" fn mark(number: u32) {
    with(|stage| stage.mark(lane(number)));
}

#[unsafe(no_mangle)]
extern "C" fn step(number: u32) {
    with(|stage| stage.step(lane(number)));
}

#[unsafe(no_mangle)]
extern "C" fn ended(number: u32) -> u32 {
    with(|stage| u32::from(stage.ended(lane(number))))
}

#[unsafe(no_mangle)]
extern "C" fn diverged(number: u32) -> u32 {
    with(|stage| u32::from(stage.env(lane(number)).last_step().diverged[0]))
}

#[unsafe(no_mangle)]
extern "C" fn tick(number: u32) -> usize {
    with(|stage| stage.env(lane(number)).ticks_elapsed(0))
}

#[unsafe(no_mangle)]
extern "C" fn error(number: u32) -> f64 {
    with(|stage| stage.error(lane(number)))
}

#[unsafe(no_mangle)]
extern "C" fn effort(number: u32) -> f64 {
    with(|stage| stage.effort(lane(number)))
}

/// Puts numbers into the output.
fn give(pick: impl FnOnce(&mut Stage) -> Vec<u8>) {
    PAGE.with_borrow_mut(|page| page.output = page.stage.as_mut().map(pick).unwrap_or_default());
}

#[unsafe(no_mangle)]
extern "C" fn field(number: u32) {
    give(|stage| bytes(stage.env(lane(number)).field(0)));
}

#[unsafe(no_mangle)]
extern "C" fn target() {
    give(|stage| bytes(stage.env(Lane::Learned).target(0)));
}

#[unsafe(no_mangle)]
extern "C" fn positions(number: u32) {
    give(|stage| bytes(stage.env(lane(number)).positions(0)));
}

#[unsafe(no_mangle)]
extern "C" fn strength(number: u32) {
    give(|stage| bytes(stage.env(lane(number)).strength(0)));
}

/// Puts 1 for each agent whose sensors are switched off into the output, 0 for the others.
#[unsafe(no_mangle)]
extern "C" fn blind() {
    give(|stage| stage.blind().iter().flat_map(|&blind| bytes(&[Real::from(u8::from(blind))])).collect());
}

/// Puts the age of the youngest reading of each agent of a lane into the output, in ticks.
#[unsafe(no_mangle)]
extern "C" fn ages(number: u32) {
    give(|stage| bytes(&stage.ages(lane(number))));
}

/// Puts the last action of each agent of a lane into the output, `[agents, k]`: the push, then the velocity.
#[unsafe(no_mangle)]
extern "C" fn action(number: u32) {
    give(|stage| bytes(stage.env(lane(number)).action(0)));
}

/// Puts `[x, y, radius]` of each disc into the output.
#[unsafe(no_mangle)]
extern "C" fn discs() {
    give(|stage| stage.discs().iter().flat_map(|disc| bytes(&[disc.centre[0], disc.centre[1], disc.radius])).collect());
}

#[unsafe(no_mangle)]
extern "C" fn set_agents(agents: usize) -> u32 {
    attempt(|stage, _| stage.set_agents(agents))
}

#[unsafe(no_mangle)]
extern "C" fn set_alive(agent: usize, alive: u32) {
    with(|stage| stage.set_alive(agent, alive != 0));
}

#[unsafe(no_mangle)]
extern "C" fn set_sensors(agent: usize, works: u32) {
    with(|stage| stage.set_sensors(agent, works != 0));
}

#[unsafe(no_mangle)]
extern "C" fn place(agent: usize, x: f64, y: f64) {
    with(|stage| stage.place(agent, [x, y]));
}

#[unsafe(no_mangle)]
extern "C" fn disturb(x: f64, y: f64, width: f64, amount: f64) {
    with(|stage| stage.disturb(Brush { at: [x, y], width, amount }));
}

#[unsafe(no_mangle)]
extern "C" fn paint_target(x: f64, y: f64, width: f64, amount: f64) {
    with(|stage| stage.paint_target(Brush { at: [x, y], width, amount }));
}

#[unsafe(no_mangle)]
extern "C" fn lift() {
    with(Stage::lift);
}

#[unsafe(no_mangle)]
extern "C" fn stroke_field(x: f64, y: f64, width: f64, level: f64) {
    with(|stage| stage.stroke_field(Brush { at: [x, y], width, amount: level }));
}

#[unsafe(no_mangle)]
extern "C" fn stroke_target(x: f64, y: f64, width: f64, level: f64) {
    with(|stage| stage.stroke_target(Brush { at: [x, y], width, amount: level }));
}

#[unsafe(no_mangle)]
extern "C" fn clear_target() {
    with(Stage::clear_target);
}

#[unsafe(no_mangle)]
extern "C" fn move_disc(disc: usize, x: f64, y: f64) -> u32 {
    attempt(|stage, _| stage.move_disc(disc, [x, y]))
}

/// Takes `[x, y, radius]` of each disc from the input.
#[unsafe(no_mangle)]
extern "C" fn set_discs() -> u32 {
    attempt(|stage, given| {
        let discs: Vec<Disc> = given.as_chunks::<3>().0.iter().map(|&[x, y, radius]| Disc { centre: [x, y], radius }).collect();
        stage.set_discs(&discs)
    })
}

/// Takes the actions in the input for the planned lane.
#[unsafe(no_mangle)]
extern "C" fn set_plan() -> u32 {
    attempt(Stage::set_plan)
}

#[unsafe(no_mangle)]
extern "C" fn planned() -> usize {
    with(|stage| stage.planned())
}

#[unsafe(no_mangle)]
extern "C" fn undisturbed() -> u32 {
    with(|stage| u32::from(stage.undisturbed()))
}

/// Searches for the best actions from the state that lanes begin with and reports progress; the output holds them.
#[unsafe(no_mangle)]
extern "C" fn optimise(iterations: usize) -> u32 {
    let found = PAGE.with_borrow(|page| {
        let tell = &mut |p: Progress| report(p.share, p.policy, p.best);
        page.stage.as_ref().map_or(Ok(Vec::new()), |stage| search(stage, iterations, tell))
    });
    tried(found.map(|actions| PAGE.with_borrow_mut(|page| page.output = bytes(&actions))))
}
