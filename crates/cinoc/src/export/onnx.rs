//! A program as an ONNX model: scaling, limits and memory inside; any number of agents at once.
//!
//! Written by hand: a model is a few nested messages of protocol buffers, and the operations are as many as there are plain ones.

use super::program::{Input, Line, Program, Value};
use crate::disk::protobuf::Message;
use crate::run::Model;
use crate::sense::Source;
use crate::{Error, Problem, Real, Registry};
use cinoc_tape::op::{Affine, Arrange, Binary, Function, MatMul, Recorded, Reduce};
use cinoc_tape::{Shape, VarId};

/// The version of the format, and of the set of operations: old enough for every runtime in use.
const FORMAT: i64 = 8;
const OPERATIONS: i64 = 17;

/// Types of numbers.
const SINGLE: i64 = 1;
const INT64: i64 = 7;
const DOUBLE: i64 = 11;

/// That of what goes in and out, and of parameters.
const REAL: i64 = if cfg!(feature = "f64") { DOUBLE } else { SINGLE };

/// What a model computes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// Double precision, with parameters, inputs and outputs in single.
    Double,
    /// Single precision throughout, for runtimes that have no other: actions then differ by about a millionth of their limit.
    Single,
}

/// The file of a model; `name` is what its user calls it.
pub fn model(registry: &Registry, model: &Model, name: &str, arithmetic: Arithmetic) -> Result<Vec<u8>, Error> {
    let (problem, policy) = model.build(registry)?;
    let program = Program::record(&problem, &*policy, &model.params, true)?;
    let acts = registry.explanation(model.config.problem())?.acts;
    translate(&program, &problem, name, acts, arithmetic)
}

/// The file of a program for agents of a problem; `name` and `acts` say in words whose it is and what its actions do.
pub fn translate(program: &Program, problem: &Problem, name: &str, acts: &str, arithmetic: Arithmetic) -> Result<Vec<u8>, Error> {
    let inner = if arithmetic == Arithmetic::Double { DOUBLE } else { SINGLE };
    let mut graph = Graph { program, inner, nodes: Vec::new(), tensors: Vec::new(), named: Vec::new(), count: 0 };
    for (i, input) in program.inputs().iter().enumerate() {
        let count = input.instrument.count;
        graph.take(input.instrument.name, &given(i), count);
    }
    if program.memory() > 0 {
        graph.take("memory", MEMORY, program.memory());
    }
    for line in &program.lines()? {
        graph.line(line);
    }
    let mut outputs = vec![value("action", program.width(), &format!("{acts} Largest magnitudes: {:?}", problem.swarm.limits()))];
    let action = graph.name(program.action());
    graph.give(&action, "action", program.width());
    if let Some(after) = program.remembered() {
        outputs.push(value("next_memory", program.memory(), "what to give as memory in the next tick"));
        let after = graph.name(after);
        graph.give(&after, "next_memory", program.memory());
    }
    let mut inputs: Vec<Message> =
        program.inputs().iter().map(|Input { instrument: one, .. }| value(one.name, one.count, &one.about)).collect();
    if program.memory() > 0 {
        inputs.push(value("memory", program.memory(), "what the agent remembers: zeros before the first tick, then next_memory"));
    }
    let offsets = program.inputs().iter().find_map(|input| match &input.instrument.source {
        Source::Error(lens) => Some(format!("{:?}", lens.offsets)),
        _ => None,
    });
    let entry = |key: &str, value: &str| Message::default().text(1, key).text(2, value);
    let about = "The controller of one agent, or of many by themselves: one row of each input per agent, once per tick.";
    let message = Message::default().messages(1, graph.nodes).text(2, "policy").messages(5, graph.tensors);
    let message = message.text(10, about).messages(11, inputs).messages(12, outputs);
    Ok(Message::default()
        .int(1, FORMAT)
        .text(2, "cinoc")
        .text(3, env!("CARGO_PKG_VERSION"))
        .text(6, name)
        .message(7, message)
        .message(8, Message::default().text(1, "").int(2, OPERATIONS))
        .message(14, entry("tick_time", &problem.stepper.dt().to_string()))
        .messages(14, offsets.map(|offsets| entry("offsets", &offsets)))
        .into_bytes())
}

/// The memory as the graph sees it.
const MEMORY: &str = "memory_in";

fn given(input: usize) -> String {
    format!("input{input}")
}

/// The name, type and shape of what goes in or out, one row per agent.
fn value(name: &str, count: usize, about: &str) -> Message {
    let size = |count: usize| Message::default().int(1, count as i64);
    let shape = Message::default().message(1, Message::default().text(2, "agents")).message(1, size(count));
    let kind = Message::default().message(1, Message::default().int(1, REAL).message(2, shape));
    Message::default().text(1, name).message(2, kind).text(3, about)
}

/// An attribute of a node that is a whole number, or several of them.
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
    /// The type that is computed in.
    inner: i64,
    nodes: Vec<Message>,
    tensors: Vec<Message>,
    /// Constants that were written.
    named: Vec<VarId>,
    /// Names that were made up.
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

    /// Whole numbers as a constant.
    fn ints(&mut self, all: &[i64]) -> String {
        let name = self.new_name();
        let raw: Vec<u8> = all.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.tensor(&name, INT64, &[all.len()], &raw);
        name
    }

    /// Numbers as a constant; they are kept as they are, and made what is computed in when a model is loaded.
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

    /// What goes in, a row for each agent.
    fn take(&mut self, from: &str, to: &str, count: usize) {
        let cast = self.new_name();
        self.node("Cast", &[from], &cast, &[Attribute::One("to", self.inner)]);
        self.reshape(&cast, to, &[1, 1, count]);
    }

    /// What comes out, likewise.
    fn give(&mut self, from: &str, to: &str, count: usize) {
        let rows = self.new_name();
        self.reshape(from, &rows, &[1, count]);
        self.node("Cast", &[&rows], to, &[Attribute::One("to", REAL)]);
    }

    /// Another shape; as many along the first axis as there then are, since agents come before everything.
    fn reshape(&mut self, from: &str, to: &str, sizes: &[usize]) {
        let sizes: Vec<i64> = sizes.iter().enumerate().map(|(i, &size)| if i == 0 { -1 } else { size as i64 }).collect();
        let sizes = self.ints(&sizes);
        self.node("Reshape", &[from, &sizes], to, &[]);
    }

    /// The name of a variable; constants are written down when they are first asked for.
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

    /// A variable as it is joined to others: a constant once for each agent.
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

    fn line(&mut self, line: &Line) {
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

    /// Repeats what has one number along an axis.
    fn times(&mut self, from: &str, to: &str, rank: i64, axis: i64, times: usize) {
        let sizes: Vec<i64> = (0..rank).map(|i| if i == axis { times as i64 } else { 1 }).collect();
        let sizes = self.ints(&sizes);
        self.node("Expand", &[from, &sizes], to, &[]);
    }
}
