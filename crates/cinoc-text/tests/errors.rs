//! Messages for mistakes, by their exact text.

use cinoc_text::{Axis, Kind, MAX_LENGTH, MAX_NODES, Plan, Scope, parse};

fn scope() -> Scope {
    let mut scope = Scope::new(2);
    scope.add(&["z", "temperature"], Kind::FIELD).unwrap();
    scope.add(&["epsilon"], Kind::CONSTANT).unwrap();
    scope.add(&["k"], Kind::MAP).unwrap();
    scope.add(&["wind"], Kind::MAP.vector()).unwrap();
    scope.add(&["T_out"], Kind::SERIES).unwrap();
    scope.add(&["push"], Kind::CHANNEL).unwrap();
    scope.add(&["push.u"], Kind::ACTION).unwrap();
    scope.add(&["kitchen"], Kind::ZONE).unwrap();
    scope
}

/// Texts, what is wrong, the bytes that are marked, and what to do.
#[rustfmt::skip]
const MISTAKES: &[(&str, &str, &str, &str)] = &[
    ("epsilon*lap(wind) + z", "lap needs a scalar, but wind is a vector", "wind", "use a component, such as wind.x, or dot(wind, …)"),
    ("div(z)", "div needs a vector, but z is a scalar", "z", "write div(grad(z)), which is lap(z), or div(v*z) with a vector v"),
    ("wind + z", "wind is a vector and z is a scalar; their sum is not defined", "wind + z", "use a component, such as wind.x, or dot(wind, …)"),
    ("k*wind*grad(z)", "k*wind and grad(z) are vectors; their product is not defined", "k*wind*grad(z)", "write dot(k*wind, grad(z))"),
    ("dot(wind, z)", "dot needs vectors, but z is a scalar", "z", "write * for a product with a scalar"),
    ("z^wind", "a power needs a scalar, but wind is a vector", "wind", "use a component, such as wind.x, or dot(wind, …)"),
    ("z/wind", "division by it needs a scalar, but wind is a vector", "wind", "use a component, such as wind.x, or dot(wind, …)"),
    ("exp(grad(z))", "exp needs a scalar, but grad(z) is a vector", "grad(z)", "use dot(…, …)"),
    ("epsilom*lap(z)", "epsilom is not known", "epsilom", "write epsilon, or declare epsilom"),
    ("epsilon*lab(z)", "lab is not known", "lab", "write lap"),
    ("foo*z", "foo is not known", "foo", "declare foo, for example among the constants"),
    ("q(z)", "q is not known", "q", "use one of exp log sqrt sin cos tan tanh abs min max clamp where step smoothstep grad lap div dot dx dy dz mean sum max random"),
    ("z(1 + k)", "z is not a function", "z", "for a product, write z*(…)"),
    ("lap", "lap is a function and needs arguments", "lap", "write lap(a)"),
    ("lap(epsilon)", "epsilon is the same in all cells, so its lap is zero", "epsilon", "remove the term, or use a field or a map"),
    ("push.u + z", "push.u has one value per agent, z has one value per cell", "z", "reduce one of them first, for example mean(push.u)"),
    ("mean(push.u) + mean(T_out)", "T_out is one value, so mean has nothing to reduce", "T_out", "write T_out without mean"),
    ("lap(push.u)", "lap needs one value per cell, but push.u has one value per agent", "push.u", "use the field of the channel instead of the agents' values"),
    ("sin(z, k)", "sin has 1 argument but was given 2", "sin(z, k)", "write sin(a)"),
    ("clamp(z, 1)", "clamp has 3 arguments but was given 2", "clamp(z, 1)", "write clamp(a, low, high)"),
    ("where(z, 1, 0)", "where needs a condition first, but z is a scalar", "z", "write a comparison, such as where(a < b, then, else), or a zone"),
    ("where(z < k, wind, z)", "wind is a vector, but z is a scalar", "where(z < k, wind, z)", "both results of where have the same rank"),
    ("where(0 < z < 1, z, k)", "comparisons cannot be chained", "<", "compare two values at a time, as in a < b && b < c"),
    ("z < k", "a comparison alone has no value", "z < k", "write where(a < b, then, else)"),
    ("1 + (z < k)", "(z < k) is a condition, not a number", "(z < k)", "write where((z < k), 1, 0), or put it first in where"),
    ("kitchen*(kitchen && z < k)", "(kitchen && z < k) is a condition, not a number", "(kitchen && z < k)", "write where((kitchen && z < k), 1, 0), or put it first in where"),
    ("where(z < k || z, 1, 0)", "|| needs conditions, but z is a scalar", "z", "write a comparison, such as a < b, or a zone"),
    ("mean(z, z < 1 && k < 1)", "z < 1 && k < 1 is not a zone", "z < 1 && k < 1", "name a zone of the file, or write mean(z) over all cells"),
    ("mean(z, k < 1)", "k < 1 is not a zone", "k < 1", "name a zone of the file, or write mean(z) over all cells"),
    ("where(z < 1 and k < 1, 1, 0)", "and is not an operator", "and", "write &&"),
    ("mean(z, k)", "k is not a zone", "k", "name a zone of the file, or write mean(z) over all cells"),
    ("mean(push.u, kitchen)", "push.u has one value per agent, and a zone consists of cells", "push.u", "write mean(push.u) over all agents"),
    ("z +", "a value is missing at the end", "", "add it, or remove the operator before"),
    ("* z", "a value is missing before *", "*", "add it, or remove the sign"),
    ("(z + k", "this parenthesis is not closed", "(", "add )"),
    ("z + k)", "this parenthesis closes nothing", ")", "remove it, or open one before"),
    ("2z", "2z is not a number", "2z", "for a product, write 2*z"),
    ("2 z", "an operator is missing before z", "z", "for a product, write *z"),
    ("z ** 2", "** is not an operator", "**", "write ^ for powers"),
    ("z²", "² is not understood", "²", "write ^2"),
    ("z = 3", "= is not an operator", "=", "write the right-hand side only; a comparison is =="),
    ("1.2.3", "1.2. is not a number", "1.2.", "write one point"),
    ("1e999", "1e999 is too large a number", "1e999", "numbers are below 1.8e308"),
    ("z, k", "a comma is allowed between arguments only", ",", "remove it; decimals have a point"),
    ("", "the text is empty", "", "write an expression; 0 for nothing"),
    ("exp()", "exp has 1 argument but was given 0", "exp()", "write exp(a)"),
    ("random(0.2)", "random is allowed in texts of start and target only", "random", "declare a map with random(…) as its text and use its name"),
    ("dz(z)", "dz needs 3 dimensions, the domain has 2", "dz(z)", "use dx, or lap"),
    ("a # b", "'#' is not understood", "#", "use names, numbers, + - * / ^, comparisons and parentheses"),
    ("wind.z", "wind.z is not known", "wind.z", "wind has the components x, y"),
    ("z & k", "& is not understood", "&", "write &&"),
    ("z && k", "&& needs conditions, but z is a scalar", "z", "write a comparison, such as a < b, or a zone"),
    ("+z", "+ needs a value on its left", "+", "remove it"),
    ("min(z)", "min has 2 arguments but was given 1", "min(z)", "write min(a, b)"),
    ("sum(3)", "3 is one value, so sum has nothing to reduce", "3", "write 3 without sum"),
];

#[test]
fn mistakes_are_answered_with_a_sentence_the_place_and_advice() {
    for (text, what, marked, advice) in MISTAKES {
        let error = parse(text, &scope()).expect_err(text);
        assert_eq!((error.what(), &text[error.span()], error.advice()), (*what, *marked, *advice), "{text}");
        let carets = "^".repeat(marked.chars().count().max(1));
        let indent = " ".repeat(2 + text[..error.span().start].chars().count());
        assert_eq!(error.to_string(), format!("{what}\n  {text}\n{indent}{carets}\n{advice}"));
    }
}

#[test]
fn the_line_of_a_longer_text_is_shown() {
    let error = parse("z +\n  epsilon*lab(z)", &scope()).unwrap_err();
    assert_eq!(error.to_string(), "lab is not known\nline 2:   epsilon*lab(z)\n                  ^^^\nwrite lap");
    let long = format!("{}lab(z){}", "z*k + ".repeat(40), " + z*k".repeat(40));
    let error = parse(&long, &scope()).unwrap_err();
    let lines: Vec<_> = error.to_string().lines().map(str::to_owned).collect();
    assert!(lines.iter().all(|line| line.chars().count() <= 104), "{error}");
    let column = lines[2].chars().count() - 3;
    assert_eq!(lines[1].chars().skip(column).take(3).collect::<String>(), "lab");
}

#[test]
fn texts_have_limits() {
    let whats = |text: &str| parse(text, &scope()).unwrap_err().what().to_owned();
    assert_eq!(whats(&" ".repeat(MAX_LENGTH + 1)), "the text has 10001 bytes, more than 10000");
    assert_eq!(whats(&"é".repeat(MAX_LENGTH)), "the text has 20000 bytes, more than 10000");
    for deep in ["z + ".repeat(150) + "z", "(".repeat(5000), "-".repeat(5000), "exp(".repeat(2000), "z^".repeat(4000)] {
        assert_eq!(whats(&deep), "the expression has more than 100 levels");
    }
    let wide = format!("min({})", vec!["z"; MAX_NODES + 1].join(","));
    assert_eq!(whats(&wide), "the text has more than 1000 operations");
}

#[test]
fn names_are_checked() {
    let rejected = |name: &str| scope().add(&[name], Kind::MAP).unwrap_err().to_string();
    assert_eq!(rejected("exp"), "exp is a function\n  exp\n  ^^^\nchoose another name");
    assert_eq!(rejected("z"), "z is declared twice\n  z\n  ^\nrename one of them");
    assert_eq!(rejected("wind.y"), "wind.y is declared twice\n  wind.y\n  ^^^^^^\nrename one of them");
    assert_eq!(rejected("2a"), "\"2a\" is not a name\n  2a\n  ^^\nuse letters, digits and _, and a letter first");
    assert!(rejected("").contains("is not a name") && rejected("a b").contains("is not a name"));
    assert!(scope().add(&["q", "q"], Kind::MAP).is_err());
}

#[test]
fn a_plan_needs_scalars_along_its_axis() {
    let scope = scope();
    let rejected = |text: &str, axis| Plan::new(&scope, &[&parse(text, &scope).unwrap()], axis).unwrap_err().to_string();
    assert_eq!(rejected("2*wind", Axis::Cells), "a scalar is needed here\n  2*wind\n  ^^^^^^\nuse dot or a component");
    assert_eq!(rejected("z", Axis::Instance), "one value is needed here\n  z\n  ^\nreduce it, for example by mean(…)");
    assert!(rejected("push.u", Axis::Cells).starts_with("one value per cell is needed here"));
    let none = Plan::new(&Scope::new(1), &[&parse("1", &Scope::new(1)).unwrap()], Axis::Cells).unwrap_err();
    assert_eq!(none.what(), "no name is declared");
}

#[test]
fn random_fields_belong_to_start_and_target() {
    let scope = scope().with_random();
    assert!(parse("tanh(3*random(0.2)) - random(1e-1)", &scope).is_ok());
    let error = parse("random(z)", &scope).unwrap_err();
    assert_eq!(
        (error.what(), error.advice()),
        ("random needs its correlation length as a positive number", "write, for example, random(0.2)")
    );
}

#[test]
fn the_number_of_arrays_is_limited() {
    let mut scope = Scope::new(1);
    for i in 0..65 {
        scope.add(&[&format!("k{i}")], Kind::MAP).unwrap();
    }
    let error = Plan::new(&scope, &[&parse("k0", &scope).unwrap()], Axis::Cells).unwrap_err();
    assert_eq!(error.what(), "more than 64 arrays are declared");
}
