//! A program as an ONNX model: scaling, limits, memory and missing readings inside; any number of agents at once.
//!
//! Written without a library: a model is a few nested messages of protocol buffers, and only plain operations occur.

use super::guard::{LEAST_STRENGTH, MaskedSamples, READING_BOUND, REST};
use super::program::{Input, Instruction, Program, Value};
use super::text;
use crate::disk::protobuf::Message;
use crate::run::Model;
use crate::sense::Source;
use crate::{Error, Problem, Real, Registry};
use cinoc_tape::op::{Affine, Arrange, Binary, Function, MatMul, Recorded, Reduce};
use cinoc_tape::{Shape, VarId};

/// The versions of the format and of the operator set: old enough for every runtime in use.
const FORMAT: i64 = 8;
const OPERATIONS: i64 = 17;

/// Types of elements.
const SINGLE: i64 = 1;
const INT64: i64 = 7;
const BOOL: i64 = 9;
const DOUBLE: i64 = 11;

/// The type of inputs, outputs and parameters.
const REAL: i64 = if cfg!(double) { DOUBLE } else { SINGLE };

/// The precision that a model computes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// Double precision, with parameters, inputs and outputs in single.
    Double,
    /// Single precision throughout, for runtimes without double: actions then differ by about a millionth of their
    /// limit.
    Single,
}

/// Returns the ONNX file of a model. `name` appears in its description.
///
/// # Errors
/// If the policy cannot be exported; see [`Program::record`] and [`Program::instructions`].
pub fn model(registry: &Registry, model: &Model, name: &str, arithmetic: Arithmetic) -> Result<Vec<u8>, Error> {
    let (problem, policy) = model.build(registry)?;
    let program = Program::record(&problem, &*policy, &model.params, true)?;
    translate(&program, &problem, name, &text::effect(registry, model)?, arithmetic)
}

/// Returns the ONNX file of a program for agents of a problem. `name` and `acts`, the effect of its actions, appear in
/// descriptions.
///
/// # Errors
/// Names the first operation that cannot be exported.
#[doc(hidden)]
pub fn translate(program: &Program, problem: &Problem, name: &str, acts: &str, arithmetic: Arithmetic) -> Result<Vec<u8>, Error> {
    let inner = if arithmetic == Arithmetic::Double { DOUBLE } else { SINGLE };
    let mut graph = Graph { program, inner, nodes: Vec::new(), tensors: Vec::new(), named: Vec::new(), count: 0 };
    graph.guarded_readings();
    if program.memory() > 0 {
        let checked = graph.checked_memory("memory");
        graph.take(&checked, MEMORY, program.memory());
    }
    for line in &program.instructions()? {
        graph.line(line);
    }
    let limits = format!("{acts} Largest magnitudes: {:?}. Always finite and within these limits.", program.limits());
    let mut outputs = vec![value("action", program.width(), &limits)];
    let action = graph.name(program.action());
    graph.limited_action(&action);
    if let Some(after) = program.next_memory() {
        outputs.push(value("next_memory", program.memory(), "the memory input of the next tick"));
        let (after, given) = (graph.name(after), graph.new_name());
        graph.give(&after, &given, program.memory());
        let checked = graph.checked_memory(&given);
        graph.node("Identity", &[&checked], "next_memory", &[]);
    }
    outputs.push(value("next_held", program.readings(), "the held input of the next tick"));
    let mut inputs: Vec<Message> =
        program.inputs().iter().map(|Input { instrument: one, .. }| value(one.name, one.count, &one.about)).collect();
    if program.memory() > 0 {
        let about = "memory of the policy: zeros before the first tick, then next_memory; reset to 0 where a number is not finite or beyond 1e6";
        inputs.push(value("memory", program.memory(), about));
    }
    let about = format!(
        "last valid readings, in the order of the inputs: zeros before the first tick, then next_held; a reading that is not finite or \
         beyond {:e} counts as missing and is replaced by its held value, except a strength, which is 0 if it is missing or \
         below {LEAST_STRENGTH:e}",
        program.range()
    );
    inputs.push(value("held", program.readings(), &about));
    let offsets = program.inputs().iter().find_map(|input| match &input.instrument.source {
        Source::Error(lens) => Some(format!("{:?}", lens.offsets)),
        _ => None,
    });
    let entry = |key: &str, value: &str| Message::default().text(1, key).text(2, value);
    let about = "The controller of one agent, or of many independent ones: one row of each input per agent, once per tick.";
    let message = Message::default().messages(1, graph.nodes).text(2, "policy").messages(5, graph.tensors);
    let message = message.text(10, about).messages(11, inputs).messages(12, outputs);
    Ok(Message::default()
        .int(1, FORMAT)
        .text(2, "cinoc")
        .text(3, env!("CARGO_PKG_VERSION"))
        .text(6, &text::name(name))
        .message(7, message)
        .message(8, Message::default().text(1, "").int(2, OPERATIONS))
        .message(14, entry("tick_time", &problem.stepper.dt().to_string()))
        .message(14, entry("range", &program.range().to_string()))
        .messages(14, offsets.map(|offsets| entry("offsets", &offsets)))
        .into_bytes())
}

/// The memory as instructions refer to it.
const MEMORY: &str = "memory_in";

fn given(input: usize) -> String {
    format!("input{input}")
}

/// Describes an input or output: name, type, and shape with one row per agent.
fn value(name: &str, count: usize, about: &str) -> Message {
    let size = |count: usize| Message::default().int(1, count as i64);
    let shape = Message::default().message(1, Message::default().text(2, "agents")).message(1, size(count));
    let kind = Message::default().message(1, Message::default().int(1, REAL).message(2, shape));
    Message::default().text(1, name).message(2, kind).text(3, about)
}

/// An attribute of a node: an integer, or several.
enum Attribute<'a> {
    One(&'a str, i64),
    Several(&'a str, &'a [i64]),
}

impl Attribute<'_> {
    fn message(&self) -> Message {
        match self {
            Self::One(name, x) => Message::default().text(1, name).int(3, *x).int(20, 2),
            Self::Several(name, all) => {
                all.iter().fold(Message::default().text(1, name), |message, x| message.int(8, *x)).int(20, 7)
            }
        }
    }
}

struct Graph<'a> {
    program: &'a Program,
    /// The type of intermediate results.
    inner: i64,
    nodes: Vec<Message>,
    tensors: Vec<Message>,
    /// Constants that are defined.
    named: Vec<VarId>,
    /// The number of generated names.
    count: usize,
}

impl Graph<'_> {
    fn node(&mut self, operation: &str, inputs: &[&str], output: &str, attributes: &[Attribute]) {
        let message = inputs.iter().fold(Message::default(), |message, input| message.text(1, input));
        let message = message.text(2, output).text(3, output).text(4, operation);
        self.nodes.push(message.messages(5, attributes.iter().map(Attribute::message)));
    }

    fn new_name(&mut self) -> String {
        self.count += 1;
        format!("new{}", self.count)
    }

    fn tensor(&mut self, name: &str, kind: i64, sizes: &[usize], raw: &[u8]) {
        let message = sizes.iter().fold(Message::default(), |message, &size| message.int(1, size as i64));
        self.tensors.push(message.int(2, kind).text(8, name).bytes(9, raw));
    }

    /// Defines a constant of integers.
    fn ints(&mut self, all: &[i64]) -> String {
        let name = self.new_name();
        let raw: Vec<u8> = all.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.tensor(&name, INT64, &[all.len()], &raw);
        name
    }

    /// Defines a constant; it is stored in the type of parameters and cast to that of intermediate results when a model
    /// is loaded.
    fn reals(&mut self, name: &str, sizes: &[usize], values: &[Real]) {
        let raw: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        let kept = self.new_name();
        self.tensor(&kept, REAL, sizes, &raw);
        self.node("Cast", &[&kept], name, &[Attribute::One("to", self.inner)]);
    }

    fn real(&mut self, x: Real) -> String {
        let name = self.new_name();
        self.reals(&name, &[], &[x]);
        name
    }

    /// Defines a scalar in the type of inputs.
    fn input_scalar(&mut self, x: Real) -> String {
        let name = self.new_name();
        self.tensor(&name, REAL, &[], &x.to_le_bytes());
        name
    }

    /// Returns a mask that is true for valid numbers.
    fn valid(&mut self, x: &str) -> String {
        self.within(x, READING_BOUND)
    }

    /// Returns a mask that is true for readings within the range of the instruments.
    fn plausible(&mut self, x: &str) -> String {
        self.within(x, self.program.range())
    }

    /// Returns a mask that is true for numbers within a bound; comparisons with NaN are false.
    fn within(&mut self, x: &str, bound: Real) -> String {
        let (size, mask, bound) = (self.new_name(), self.new_name(), self.input_scalar(bound));
        self.node("Abs", &[x], &size, &[]);
        self.node("LessOrEqual", &[&size, &bound], &mask, &[]);
        mask
    }

    /// Returns `x` where a mask is true, else `other`.
    fn choose(&mut self, mask: &str, x: &str, other: &str) -> String {
        let chosen = self.new_name();
        self.node("Where", &[mask, x, other], &chosen, &[]);
        chosen
    }

    /// Replaces missing readings by held ones, and writes the output next_held.
    fn guarded_readings(&mut self) {
        let program = self.program;
        let zero = self.input_scalar(0.0);
        let mask = self.valid("held");
        let held = self.choose(&mask, "held", &zero);
        let (samples, mut blind) = (program.samples(), None::<String>);
        let read = samples.map_or_else(Default::default, |samples| self.read_samples(samples));
        let (mut from, mut all) = (0, Vec::new());
        for (i, input) in program.inputs().iter().enumerate() {
            let (one, to) = (&input.instrument, from + input.instrument.count);
            let mask = match one.source {
                Source::Error(_) | Source::Slope | Source::Lost if samples.is_some() => {
                    read[usize::from(matches!(one.source, Source::Slope))].clone()
                }
                _ if i == program.strength() => self.valid(one.name),
                _ => self.plausible(one.name),
            };
            let last = |graph: &mut Self| graph.columns(&held, from, to);
            let good = if i == program.strength() {
                let (least, unit) = (self.input_scalar(LEAST_STRENGTH), self.input_scalar(1.0));
                let [large, active, limited] = [(); 3].map(|()| self.new_name());
                self.node("GreaterOrEqual", &[one.name, &least], &large, &[]);
                self.node("And", &[&mask, &large], &active, &[]);
                let known = self.choose(&active, one.name, &zero);
                self.node("Clip", &[&known, &zero, &unit], &limited, &[]);
                match &blind {
                    Some(blind) => self.choose(blind, &zero, &limited),
                    None => limited,
                }
            } else if one.source == Source::Lost {
                let last = last(self);
                let ages = self.ages(&mask, &last);
                blind = Some(self.blind(&ages));
                ages
            } else {
                let last = last(self);
                self.choose(&mask, one.name, &last)
            };
            self.take(&good, &given(i), one.count);
            (from, all) = (to, [all, vec![good]].concat());
        }
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        self.node("Concat", &all, "next_held", &[Attribute::One("axis", 1)]);
    }

    /// Returns columns of a matrix.
    fn columns(&mut self, x: &str, from: usize, to: usize) -> String {
        let bounds = [from as i64, to as i64, 1].map(|x| self.ints(&[x]));
        let some = self.new_name();
        self.node("Slice", &[x, &bounds[0], &bounds[1], &bounds[2]], &some, &[]);
        some
    }

    /// Returns masks of the samples and of their slopes that were read: valid, and not marked as lost.
    fn read_samples(&mut self, MaskedSamples { points, axes, .. }: MaskedSamples) -> [String; 2] {
        let [size, unmarked, sampled, slopes, least, sound, read, repeated] = [(); 8].map(|()| self.new_name());
        let half = self.input_scalar(0.5);
        self.node("Abs", &["lost"], &size, &[]);
        self.node("Less", &[&size, &half], &unmarked, &[]);
        let error = self.plausible("error");
        self.node("And", &[&unmarked, &error], &sampled, &[]);
        if axes == 0 {
            return [sampled.clone(), sampled];
        }
        let slope = self.plausible("slope");
        let each = self.new_name();
        self.node("Cast", &[&slope], &slopes, &[Attribute::One("to", SINGLE)]);
        self.reshape(&slopes, &each, &[1, points, axes]);
        self.node("ReduceMin", &[&each], &least, &[Attribute::Several("axes", &[2]), Attribute::One("keepdims", 0)]);
        self.node("Cast", &[&least], &sound, &[Attribute::One("to", BOOL)]);
        self.node("And", &[&sampled, &sound], &read, &[]);
        // The mask of each sample, once for each of its slopes.
        let index: Vec<i64> = (0..points * axes).map(|i| (i / axes) as i64).collect();
        let index = self.ints(&index);
        self.node("Gather", &[&read, &index], &repeated, &[Attribute::One("axis", 1)]);
        [read, repeated]
    }

    /// Returns the ages of samples, given the mask of those that were read and the last ages.
    fn ages(&mut self, read: &str, last: &str) -> String {
        let (zero, unit, bound) = (self.input_scalar(0.0), self.input_scalar(1.0), self.input_scalar(READING_BOUND));
        let [sound, later, limited] = [(); 3].map(|()| self.new_name());
        self.node("Max", &[last, &zero], &sound, &[]);
        self.node("Add", &[&sound, &unit], &later, &[]);
        self.node("Min", &[&later, &bound], &limited, &[]);
        self.choose(read, &zero, &limited)
    }

    /// Returns a mask of the agents all of whose samples are too old.
    fn blind(&mut self, ages: &str) -> String {
        let rest = self.input_scalar(REST);
        let [least, blind] = [(); 2].map(|()| self.new_name());
        self.node("ReduceMin", &[ages], &least, &[Attribute::Several("axes", &[1])]);
        self.node("Greater", &[&least, &rest], &blind, &[]);
        blind
    }

    /// Returns a memory `[agents, count]` whose rows are zero where a number is not valid.
    fn checked_memory(&mut self, memory: &str) -> String {
        let (mask, zero) = (self.valid(memory), self.input_scalar(0.0));
        let [numbers, least, rows] = [(); 3].map(|()| self.new_name());
        self.node("Cast", &[&mask], &numbers, &[Attribute::One("to", SINGLE)]);
        self.node("ReduceMin", &[&numbers], &least, &[Attribute::Several("axes", &[1])]);
        self.node("Cast", &[&least], &rows, &[Attribute::One("to", BOOL)]);
        self.choose(&rows, memory, &zero)
    }

    /// Limits the action and writes the output of that name; NaN becomes 0.
    fn limited_action(&mut self, action: &str) {
        let (program, raw) = (self.program, self.new_name());
        self.give(action, &raw, program.width());
        let [low, high, below, bad, known] = [(); 5].map(|()| self.new_name());
        for (name, sign) in [(&low, -1.0), (&high, 1.0)] {
            let raw: Vec<u8> = program.limits().iter().flat_map(|limit| (sign * limit).to_le_bytes()).collect();
            self.tensor(name, REAL, &[program.width()], &raw);
        }
        let zero = self.input_scalar(0.0);
        self.node("IsNaN", &[&raw], &bad, &[]);
        self.node("Where", &[&bad, &zero, &raw], &known, &[]);
        self.node("Min", &[&known, &high], &below, &[]);
        self.node("Max", &[&below, &low], "action", &[]);
    }

    /// Casts and reshapes an input `[agents, count]`.
    fn take(&mut self, from: &str, to: &str, count: usize) {
        let cast = self.new_name();
        self.node("Cast", &[from], &cast, &[Attribute::One("to", self.inner)]);
        self.reshape(&cast, to, &[1, 1, count]);
    }

    /// Reshapes and casts a result to an output `[agents, count]`.
    fn give(&mut self, from: &str, to: &str, count: usize) {
        let rows = self.new_name();
        self.reshape(from, &rows, &[1, count]);
        self.node("Cast", &[&rows], to, &[Attribute::One("to", REAL)]);
    }

    /// Reshapes; the first axis, that of agents, takes the remaining size.
    fn reshape(&mut self, from: &str, to: &str, sizes: &[usize]) {
        let sizes: Vec<i64> = sizes.iter().enumerate().map(|(i, &size)| if i == 0 { -1 } else { size as i64 }).collect();
        let sizes = self.ints(&sizes);
        self.node("Reshape", &[from, &sizes], to, &[]);
    }

    /// Returns the name of a variable; a constant is defined at its first use.
    fn name(&mut self, id: VarId) -> String {
        match self.program.value(id) {
            Value::Input(i) => given(i),
            Value::Memory => MEMORY.into(),
            Value::Computed => format!("{id:?}"),
            Value::Constant(values) => {
                let name = format!("{id:?}");
                if !self.named.contains(&id) {
                    self.named.push(id);
                    let shape = self.program.shape(id);
                    self.reals(&name, shape.sizes(), values);
                }
                name
            }
        }
    }

    /// Returns the name of an operand of a join: a constant is repeated for each agent.
    fn of_agents(&mut self, id: VarId) -> String {
        let (name, shape) = (self.name(id), self.program.shape(id));
        if !matches!(self.program.value(id), Value::Constant(_)) {
            return name;
        }
        let [first, all, sizes, repeated] = [(); 4].map(|()| self.new_name());
        let (from, to) = (self.ints(&[0]), self.ints(&[1]));
        let rest = self.ints(&shape.sizes()[1..].iter().map(|&size| size as i64).collect::<Vec<_>>());
        self.node("Shape", &[&given(0)], &all, &[]);
        self.node("Slice", &[&all, &from, &to], &first, &[]);
        self.node("Concat", &[&first, &rest], &sizes, &[Attribute::One("axis", 0)]);
        self.node("Expand", &[&name, &sizes], &repeated, &[]);
        repeated
    }

    fn line(&mut self, line: &Instruction) {
        let shapes: Vec<Shape> = line.inputs.iter().map(|&id| self.program.shape(id)).collect();
        let joined = matches!(line.op, Recorded::Arrange(Arrange::Join));
        let x: Vec<String> = line.inputs.iter().map(|&id| if joined { self.of_agents(id) } else { self.name(id) }).collect();
        let (y, sizes) = (self.name(line.id), line.shape.sizes());
        let last = shapes[0].sizes().len() as i64 - 1;
        match line.op {
            Recorded::Binary(op) => {
                let name = match op {
                    Binary::Add => "Add",
                    Binary::Subtract => "Sub",
                    Binary::Multiply => "Mul",
                    Binary::Divide => "Div",
                };
                self.node(name, &[&x[0], &x[1]], &y, &[]);
            }
            Recorded::Affine(Affine { scale, shift }) => {
                let (scale, shift, scaled) = (self.real(*scale), self.real(*shift), self.new_name());
                self.node("Mul", &[&x[0], &scale], &scaled, &[]);
                self.node("Add", &[&scaled, &shift], &y, &[]);
            }
            Recorded::Function(function) => match function {
                Function::Square => self.node("Mul", &[&x[0], &x[0]], &y, &[]),
                Function::Clamp(low, high) => {
                    let (low, high) = (self.real(*low), self.real(*high));
                    self.node("Clip", &[&x[0], &low, &high], &y, &[]);
                }
                Function::Tanh => self.node("Tanh", &[&x[0]], &y, &[]),
                Function::Exp => self.node("Exp", &[&x[0]], &y, &[]),
                Function::Sin => self.node("Sin", &[&x[0]], &y, &[]),
                Function::Cos => self.node("Cos", &[&x[0]], &y, &[]),
                Function::Sqrt => self.node("Sqrt", &[&x[0]], &y, &[]),
                Function::Relu => self.node("Relu", &[&x[0]], &y, &[]),
                Function::Abs => self.node("Abs", &[&x[0]], &y, &[]),
            },
            Recorded::Arrange(Arrange::Reshape(_)) => self.reshape(&x[0], &y, sizes),
            Recorded::Arrange(Arrange::Columns(from, to)) => {
                let (from, to, axes) = (self.ints(&[*from as i64]), self.ints(&[*to as i64]), self.ints(&[last]));
                self.node("Slice", &[&x[0], &from, &to, &axes], &y, &[]);
            }
            Recorded::Arrange(Arrange::Gather(index)) => {
                let index = self.ints(&index.iter().map(|&i| i64::from(i)).collect::<Vec<_>>());
                self.node("Gather", &[&x[0], &index], &y, &[Attribute::One("axis", last)]);
            }
            Recorded::Arrange(Arrange::Repeat(times)) => {
                let apart = self.new_name();
                self.reshape(&x[0], &apart, &[shapes[0].sizes(), &[1]].concat());
                self.times(&apart, &y, last + 2, last + 1, *times);
            }
            Recorded::Arrange(Arrange::RepeatRows(times)) => {
                let (apart, mut sizes) = (self.new_name(), sizes.to_vec());
                let axis = sizes.len() - 2;
                sizes[axis] = 1;
                // Without another axis before it, the first is that of agents.
                self.reshape(&x[0], &apart, &sizes);
                self.times(&apart, &y, sizes.len() as i64, axis as i64, *times);
            }
            Recorded::Arrange(Arrange::TransposeEach(rows)) => {
                let (apart, turned) = (self.new_name(), self.new_name());
                self.reshape(&x[0], &apart, &[1, *rows, shapes[0].last()]);
                self.node("Transpose", &[&apart], &turned, &[Attribute::Several("perm", &[0, 2, 1])]);
                self.reshape(&turned, &y, sizes);
            }
            Recorded::Arrange(Arrange::Join) => self.node("Concat", &[&x[0], &x[1]], &y, &[Attribute::One("axis", last)]),
            Recorded::Reduce(Reduce { keep, mean }) => {
                let axes = self.ints(&(*keep as i64..=last).collect::<Vec<_>>());
                let sum = if *mean { self.new_name() } else { y.clone() };
                let whole = Attribute::One("keepdims", i64::from(*keep == 0));
                self.node("ReduceSum", &[&x[0], &axes], &sum, &[whole]);
                if *mean {
                    let count = self.real((shapes[0].count() / line.shape.count()) as Real);
                    self.node("Div", &[&sum, &count], &y, &[]);
                }
            }
            Recorded::MatMul(MatMul) => self.node("MatMul", &[&x[0], &x[1]], &y, &[]),
            _ => unreachable!("only plain operations are lines"),
        }
    }

    /// Repeats a variable along an axis of size one.
    fn times(&mut self, from: &str, to: &str, rank: i64, axis: i64, times: usize) {
        let sizes: Vec<i64> = (0..rank).map(|i| if i == axis { times as i64 } else { 1 }).collect();
        let sizes = self.ints(&sizes);
        self.node("Expand", &[from, &sizes], to, &[]);
    }
}
