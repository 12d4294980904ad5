//! A program as one C99 file: weights, what is computed, helpers for instruments; no allocation, nothing but `<math.h>`.

mod header;
mod helpers;

use super::program::{Line, Program, Value, renames};
use super::workspace::Workspace;
use crate::run::Model;
use crate::{Error, Problem, Real, Registry};
use cinoc_tape::VarId;
use cinoc_tape::op::{Affine, Arrange, Binary, Function, MatMul, Recorded, Reduce};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The file of a model; `name` is what its user calls it.
pub fn source(registry: &Registry, model: &Model, name: &str) -> Result<String, Error> {
    let (problem, policy) = model.build(registry)?;
    let program = Program::record(&problem, &*policy, &model.params, true)?;
    let acts = registry.explanation(model.config.problem())?.acts;
    translate(&program, &problem, name, acts)
}

/// The file of a program for agents of a problem; `name` and `acts` say in words whose it is and what its actions do.
pub fn translate(program: &Program, problem: &Problem, name: &str, acts: &str) -> Result<String, Error> {
    let workspace = Workspace::new(program)?;
    let mut writer = Writer { program, workspace, constants: BTreeMap::new(), data: String::new(), product: false };
    let body = writer.body()?;
    let mut file = header::header(program, problem, name, acts, writer.workspace.size);
    file += &writer.data;
    if writer.product {
        file += PRODUCT;
    }
    file += &body;
    file += &helpers::definitions(program);
    file += "\n#endif\n";
    Ok(file)
}

/// A number as C reads it: to the last bit, in the precision that it was computed in.
fn number(x: Real) -> String {
    if cfg!(feature = "f64") { format!("{x:e}") } else { format!("{x:e}f") }
}

/// Numbers between braces, as many in a line as are easily read.
fn numbers(values: &[Real]) -> String {
    let lines = values.chunks(10).map(|line| line.iter().map(|&x| number(x)).collect::<Vec<_>>().join(", "));
    format!("{{\n    {}\n}}", lines.collect::<Vec<_>>().join(",\n    "))
}

const PRODUCT: &str = "
/* y = x w, where x has `rows` rows of `inner` numbers and w has `inner` rows of `columns` numbers. Sums of eight are added up: in single precision
 * that rounds less than one long sum. */
static void cinoc_product(cinoc_real *y, const cinoc_real *x, const cinoc_constant *w, int rows, int inner, int columns)
{
    int i, j, k, first, from;
    for (i = 0; i < rows; i++, x += inner, y += columns) {
        for (first = 0; first < columns; first += 16) {
            int some = columns - first < 16 ? columns - first : 16;
            cinoc_real sum[16] = {0};
            for (from = 0; from < inner; from += 8) {
                int end = inner - from < 8 ? inner : from + 8;
                cinoc_real part[16] = {0};
                for (k = from; k < end; k++)
                    for (j = 0; j < some; j++) part[j] += x[k] * w[k * columns + first + j];
                for (j = 0; j < some; j++) sum[j] += part[j];
            }
            for (j = 0; j < some; j++) y[first + j] = sum[j];
        }
    }
}
";

struct Writer<'a> {
    program: &'a Program,
    workspace: Workspace,
    /// Names of constants that were written.
    constants: BTreeMap<VarId, String>,
    /// Their definitions.
    data: String,
    /// Whether matrices are multiplied.
    product: bool,
}

impl Writer<'_> {
    /// The function that decides.
    fn body(&mut self) -> Result<String, Error> {
        let (program, mut lines) = (self.program, String::new());
        for line in &program.lines()? {
            if renames(line).is_none() {
                writeln!(lines, "    {}", self.line(line)).expect("text");
            }
        }
        let copy =
            |to: &str, from: String, count: usize| format!("    for (i = 0; i < {count}; i++) {to}[i] = {};\n", at(&from, "i"));
        lines += &copy("action", self.pointer(program.action()), program.width());
        match program.remembered() {
            Some(after) => lines += &copy("agent->memory", self.pointer(after), program.memory()),
            None => lines += "    (void)agent;\n",
        }
        let size = self.workspace.size.max(1);
        Ok(format!(
            "
void cinoc_reset(cinoc_agent *agent)
{{
    int i;
    for (i = 0; i < (int)(sizeof agent->memory / sizeof agent->memory[0]); i++) agent->memory[i] = 0;
}}

void cinoc_act(cinoc_agent *agent, const cinoc_observation *seen, cinoc_real action[{}])
{{
    cinoc_real w[{size}];
    int i, j, k;
{lines}    (void)j;
    (void)k;
    (void)w;
}}
",
            program.width()
        ))
    }

    /// A pointer to the numbers of a variable.
    fn pointer(&mut self, id: VarId) -> String {
        let (whose, from) = self.workspace.place(self.program, id);
        if let Some(start) = self.workspace.start(whose) {
            return format!("w + {}", start + from);
        }
        let name = match self.program.value(whose) {
            Value::Input(i) => {
                let instrument = &self.program.inputs()[i].instrument;
                if instrument.count == 1 { format!("&seen->{}", instrument.name) } else { format!("seen->{}", instrument.name) }
            }
            Value::Memory => "agent->memory".into(),
            Value::Constant(values) => self.constant(whose, values),
            Value::Computed => unreachable!("it has a place"),
        };
        if from == 0 { name } else { format!("{name} + {from}") }
    }

    /// The name of a constant, which is written down when it is first asked for.
    fn constant(&mut self, id: VarId, values: &[Real]) -> String {
        if let Some(name) = self.constants.get(&id) {
            return name.clone();
        }
        let word = |name: &str| name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect::<String>();
        let name = match self.program.parameter(values) {
            Some(name) => format!("cinoc_{}", word(name)),
            None => format!("cinoc_constant{}", self.constants.len()),
        };
        write!(self.data, "\nstatic const cinoc_constant {name}[{}] = {};\n", values.len(), numbers(values)).expect("text");
        self.constants.insert(id, name.clone());
        name
    }

    /// A table of indices.
    fn table(&mut self, id: VarId, index: &[u32]) -> String {
        let name = format!("cinoc_index{}", self.constants.len());
        let lines = index.chunks(20).map(|line| line.iter().map(u32::to_string).collect::<Vec<_>>().join(", "));
        let list = lines.collect::<Vec<_>>().join(",\n    ");
        let kind = if index.iter().all(|&i| i < 1 << 16) { "unsigned short" } else { "unsigned long" };
        write!(self.data, "\nstatic const {kind} {name}[{}] = {{\n    {list}\n}};\n", index.len()).expect("text");
        self.constants.insert(id, name.clone());
        name
    }

    /// What a line computes, as a statement.
    fn line(&mut self, line: &Line) -> String {
        let x: Vec<String> = line.inputs.iter().map(|&id| self.pointer(id)).collect();
        let shapes: Vec<_> = line.inputs.iter().map(|&id| self.program.shape(id)).collect();
        let y = self.pointer(line.id);
        let (count, width) = (line.shape.count(), line.shape.last());
        let each = |value: String| format!("for (i = 0; i < {count}; i++) {} = {value};", at(&y, "i"));
        // Rows i and columns j of the result.
        let rows = |rows: usize, columns: usize, value: String| {
            let to = at(&y, &format!("i * {columns} + j"));
            format!("for (i = 0; i < {rows}; i++) for (j = 0; j < {columns}; j++) {to} = {value};")
        };
        match line.op {
            Recorded::Binary(op) => {
                let sign = match op {
                    Binary::Add => '+',
                    Binary::Subtract => '-',
                    Binary::Multiply => '*',
                    Binary::Divide => '/',
                };
                let other = match shapes[1].count() {
                    1 => at(&x[1], "0"),
                    all if all == count => at(&x[1], "i"),
                    some => at(&x[1], &format!("i % {some}")),
                };
                each(format!("{} {sign} {other}", at(&x[0], "i")))
            }
            Recorded::Affine(Affine { scale, shift }) => {
                let sum = if *shift == 0.0 { String::new() } else { format!(" + {}", number(*shift)) };
                each(format!("{} * {}{sum}", number(*scale), at(&x[0], "i")))
            }
            Recorded::Function(function) => each(of(*function, &at(&x[0], "i"))),
            Recorded::Arrange(Arrange::Reshape(_)) => unreachable!("the same numbers"),
            Recorded::Arrange(Arrange::Columns(from, to)) => {
                let index = format!("i * {} + {from} + j", shapes[0].last());
                rows(line.shape.rows(), to - from, at(&x[0], &index))
            }
            Recorded::Arrange(Arrange::Gather(index)) => {
                let table = self.table(line.id, index);
                rows(line.shape.rows(), width, at(&x[0], &format!("i * {} + (int){table}[j]", shapes[0].last())))
            }
            Recorded::Arrange(Arrange::Repeat(times)) => rows(count / times, *times, at(&x[0], "i")),
            Recorded::Arrange(Arrange::RepeatRows(times)) => {
                rows(line.shape.rows(), width, at(&x[0], &format!("i / {times} * {width} + j")))
            }
            Recorded::Arrange(Arrange::TransposeEach(each)) => {
                let inner = shapes[0].last();
                rows(count / each, *each, at(&x[0], &format!("(i / {inner} * {each} + j) * {inner} + i % {inner}")))
            }
            Recorded::Arrange(Arrange::Join) => {
                let (first, second) = (shapes[0].last(), shapes[1].last());
                let part = |from: usize, columns: usize, x: &str| {
                    let (to, value) = (at(&y, &format!("i * {width} + {from} + j")), at(x, &format!("i * {columns} + j")));
                    format!("for (j = 0; j < {columns}; j++) {to} = {value};")
                };
                let (a, b) = (part(0, first, &x[0]), part(first, second, &x[1]));
                format!("for (i = 0; i < {}; i++) {{\n        {a}\n        {b}\n    }}", line.shape.rows())
            }
            Recorded::Reduce(Reduce { mean, .. }) => {
                let group = shapes[0].count() / count;
                let (to, part) = (at(&y, "i"), at(&x[0], &format!("i * {group} + j")));
                let divided = if *mean { format!("\n        {to} /= {group};") } else { String::new() };
                format!(
                    "for (i = 0; i < {count}; i++) {{\n        {to} = 0;\n        for (j = 0; j < {group}; j++) {to} += {part};{divided}\n    }}"
                )
            }
            Recorded::MatMul(MatMul) => {
                let (inner, columns) = (shapes[0].last(), shapes[1].last());
                if matches!(self.program.value(line.inputs[1]), Value::Constant(_)) {
                    self.product = true;
                    return format!("cinoc_product({y}, {}, {}, {}, {inner}, {columns});", x[0], x[1], shapes[0].rows());
                }
                let to = at(&y, &format!("i * {columns} + j"));
                let (a, b) = (at(&x[0], &format!("i * {inner} + k")), at(&x[1], &format!("k * {columns} + j")));
                format!(
                    "for (i = 0; i < {}; i++) for (j = 0; j < {columns}; j++) {{\n        {to} = 0;\n        for (k = 0; k < {inner}; k++) {to} += {a} * {b};\n    }}",
                    shapes[0].rows()
                )
            }
            _ => unreachable!("only plain operations are lines"),
        }
    }
}

/// An element of what a pointer points to.
fn at(pointer: &str, index: &str) -> String {
    match pointer.split_once(" + ") {
        Some((name, from)) if index == "0" => format!("{name}[{from}]"),
        Some((name, from)) => format!("{name}[{from} + {index}]"),
        None => match pointer.strip_prefix('&') {
            Some(scalar) if index == "0" => scalar.to_owned(),
            Some(_) => format!("({pointer})[{index}]"),
            None => format!("{pointer}[{index}]"),
        },
    }
}

/// An elementary function of an expression.
fn of(function: Function, x: &str) -> String {
    match function {
        Function::Tanh => format!("CINOC_MATH(tanh)({x})"),
        Function::Exp => format!("CINOC_MATH(exp)({x})"),
        Function::Sin => format!("CINOC_MATH(sin)({x})"),
        Function::Cos => format!("CINOC_MATH(cos)({x})"),
        Function::Sqrt => format!("CINOC_MATH(sqrt)({x})"),
        Function::Abs => format!("CINOC_MATH(fabs)({x})"),
        Function::Relu => format!("{x} > 0 ? {x} : 0"),
        Function::Square => format!("{x} * {x}"),
        Function::Clamp(low, high) => {
            let (low, high) = (number(low), number(high));
            format!("{x} < {low} ? {low} : {x} > {high} ? {high} : {x}")
        }
    }
}
