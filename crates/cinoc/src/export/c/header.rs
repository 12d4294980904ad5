//! The beginning of a C file: what it is, how it is used, and its declarations.

use super::super::program::Program;
use super::helpers;
use crate::Problem;
use crate::sense::Source;
use std::fmt::Write;

/// Characters of a line of a comment.
const WIDTH: usize = 110;

/// Words in lines that begin with `indent`, the first with `first`.
fn wrapped(first: &str, indent: &str, text: &str) -> String {
    let (mut all, mut line) = (String::new(), first.to_owned());
    for word in text.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > WIDTH {
            writeln!(all, "{}", line.trim_end()).expect("text");
            line = indent.to_owned();
        }
        if !line.ends_with(' ') {
            line.push(' ');
        }
        // Words of a user must not end the comment, nor begin another.
        line += &word.replace("*/", "* /").replace("/*", "/ *");
    }
    writeln!(all, "{}", line.trim_end()).expect("text");
    all
}

fn line(text: &str) -> String {
    wrapped(" *", " *", text)
}

/// What each number of an action is.
fn actions(problem: &Problem) -> Vec<String> {
    let swarm = &problem.swarm;
    let moves = if swarm.moves() { swarm.dimensions() } else { 0 };
    let pushes = swarm.action_width().saturating_sub(moves);
    let axes = ["x", "y", "z"];
    let word = |i: usize| match i {
        _ if i < pushes => "push, its intensity u".to_owned(),
        _ => format!("velocity along {}", axes.get(i - pushes).unwrap_or(&"the next axis")),
    };
    let limits = swarm.limits();
    (0..swarm.action_width()).map(|i| format!("action[{i}]: {}, at most {} in magnitude.", word(i), limits[i])).collect()
}

/// Comment and declarations.
pub fn header(program: &Program, problem: &Problem, name: &str, acts: &str, workspace: usize) -> String {
    let mut text = format!("/*\n * The controller of one agent: {name}, exported by cinoc {}.\n *\n", env!("CARGO_PKG_VERSION"));
    let tick = problem.stepper.dt();
    text += &line(&format!(
        "Every tick, {tick} units of time, each agent fills a cinoc_observation with what its instruments read, calls cinoc_act, and does \
         what action says until the next tick. It keeps a cinoc_agent of its own, which cinoc_reset sets to zero before the first tick. \
         Nothing is allocated, nothing is global but constants; cinoc_act takes {workspace} numbers of stack."
    ));
    text += &line(
        "The arithmetic is that of double, or of float if CINOC_FLOAT is defined, for processors that have no other: actions then differ by about a \
         millionth of their limit.",
    );
    text += &line(
        "To use the file from another one, compile it and there write: \
         #define CINOC_DECLARATIONS, then #include this file.",
    );
    text += " *\n * An observation, in this order:\n";
    for input in program.inputs() {
        let one = &input.instrument;
        let count = if one.count == 1 { String::new() } else { format!("[{}]", one.count) };
        text += &wrapped(&format!(" *   {}{count}:", one.name), " *      ", &format!("{}.", one.about));
    }
    text += " *\n";
    text += &wrapped(" * An action:", " *", acts);
    actions(problem).iter().for_each(|action| text += &wrapped(" *  ", " *      ", action));
    text += " *\n";
    text += &line(
        "The action is final as far as one agent can know: scaled, saturated at the limits, divided by the crowd, and led around discs, where \
         the problem has these. Not in it, since it is the plant's: what keeps agents inside the domain, delay and noise.",
    );
    text += " */\n#ifndef CINOC_POLICY\n#define CINOC_POLICY\n\n#include <math.h>\n\n";
    let constant = if cfg!(feature = "f64") { "double" } else { "float" };
    text +=
        "#ifdef CINOC_FLOAT\ntypedef float cinoc_real;\n#define CINOC_MATH(name) name##f\n#else\ntypedef double cinoc_real;\n";
    write!(text, "#define CINOC_MATH(name) name\n#endif\ntypedef {constant} cinoc_constant;\n\n").expect("text");
    writeln!(text, "#define CINOC_READINGS {}", program.readings()).expect("text");
    writeln!(text, "#define CINOC_ACTIONS {}", program.width()).expect("text");
    writeln!(text, "#define CINOC_MEMORY {}", program.memory()).expect("text");
    writeln!(text, "#define CINOC_TICK_TIME {tick:e}\n\ntypedef struct {{").expect("text");
    for input in program.inputs() {
        let one = &input.instrument;
        let count = if one.count == 1 { String::new() } else { format!("[{}]", one.count) };
        writeln!(text, "    cinoc_real {}{count};", one.name).expect("text");
    }
    let memory = program.memory().max(1);
    write!(text, "}} cinoc_observation;\n\ntypedef struct {{\n    cinoc_real memory[{memory}];\n}} cinoc_agent;\n\n")
        .expect("text");
    text += "/* Forgets everything. */\nvoid cinoc_reset(cinoc_agent *agent);\n\n";
    text += "/* One decision. */\n";
    writeln!(text, "void cinoc_act(cinoc_agent *agent, const cinoc_observation *seen, cinoc_real action[{}]);", program.width())
        .expect("text");
    for input in program.inputs() {
        if let Source::Error(lens) = &input.instrument.source {
            let (points, axes) = (lens.offsets.len(), lens.steps.len());
            write!(text, "\n/* Where samples are taken, relative to the agent. */\nextern const cinoc_real cinoc_offset[{points}][{axes}];\n")
                .expect("text");
        }
    }
    text += &helpers::declarations(program);
    text + "\n#endif\n\n#ifndef CINOC_DECLARATIONS\n"
}
