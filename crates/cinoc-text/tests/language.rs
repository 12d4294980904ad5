//! The language: precedence, printing, terms, and texts that are not expressions.

mod common;

use cinoc_text::{Axis, Expr, Form, Kind, Plan, Scope, Treatment, parse, sum, terms};
use common::interpreter::Instance;
use common::texts::Dice;
use common::{arrays, scope};

fn plain(expr: &Expr) -> Vec<f64> {
    let arrays: Vec<Vec<f64>> = arrays(1).iter().map(|values| values.iter().map(|x| *x as f64).collect()).collect();
    Instance { arrays: &arrays, number: 1 }.value(expr)
}

#[test]
fn precedence_is_the_usual_one() {
    for (text, value) in [
        ("1 + 2*3", 7.0),
        ("(1 + 2)*3", 9.0),
        ("8/4/2", 1.0),
        ("8 - 4 - 2", 2.0),
        ("2^3^2", 512.0),
        ("-2^2", -4.0),
        ("(-2)^2", 4.0),
        ("2^-1", 0.5),
        ("2*-3", -6.0),
        ("6/-3*2", -4.0),
        ("--2", 2.0),
        ("1.5e1 + .5 + 2.", 17.5),
        ("where(1 + 1 < 3, 1, 0)", 1.0),
        ("1e+2 + 1E-1", 100.1),
    ] {
        let found = plain(&parse(text, &scope()).unwrap_or_else(|error| panic!("{error}")));
        assert!(found == [value], "{text} = {found:?}");
    }
}

#[test]
fn expressions_print_with_few_parentheses() {
    for text in [
        "u - (v - k)",
        "u - v - k",
        "(u + v)*k",
        "u + v*k",
        "-u^2",
        "(-u)^2",
        "u^(v + 1)",
        "(u^2)^3",
        "u^2^3",
        "-(u + v)",
        "1e-5*u + 0.001",
    ] {
        assert_eq!(parse(text, &scope()).unwrap().to_string(), text);
    }
    for (text, printed) in [
        ("((u))", "u"),
        ("u*(v)", "u*v"),
        ("1.0e-3*u", "0.001*u"),
        ("where(u<v,u,v)", "where(u < v, u, v)"),
        ("dx(dx(u))", "lap(u)"),
    ] {
        assert_eq!(parse(text, &scope()).unwrap().to_string(), printed);
    }
}

#[test]
fn printed_expressions_are_read_as_the_same() {
    let mut dice = Dice(1);
    for _ in 0..if cfg!(miri) { 10 } else { 3000 } {
        let depth = 1 + dice.below(5);
        let text = dice.scalar(depth);
        let Ok(expr) = parse(&text, &scope()) else { continue };
        let again = parse(&expr.to_string(), &scope()).unwrap_or_else(|error| panic!("{text}\n{error}"));
        assert_eq!((&expr, expr.kind), (&again, again.kind), "{text}");
    }
}

#[test]
fn damaged_texts_do_not_panic() {
    let mut dice = Dice(2);
    let signs = [
        "(", ")", ",", "+", "-", "*", "/", "^", "<", "==", "=", ".", "1", "1e", "e9", "u", "wind", " ", "\n", "²", "é", "\u{0}",
        "exp(", "left", "push.", "999", "random(",
    ];
    let (mut right, mut wrong) = (0, 0);
    for round in 0..if cfg!(miri) { 30 } else { 5000 } {
        let depth = dice.below(4);
        let mut text = if round % 5 == 0 { String::new() } else { dice.scalar(depth) };
        for _ in 0..1 + dice.below(6) {
            let places: Vec<_> = text.char_indices().map(|(i, _)| i).chain([text.len()]).collect();
            let at = places[dice.below(places.len())];
            match dice.below(3) {
                0 => text.truncate(at),
                1 => drop((at < text.len()).then(|| text.remove(at))),
                _ => text.insert_str(at, signs[dice.below(signs.len())]),
            }
        }
        match parse(&text, &scope()) {
            Err(error) => {
                wrong += 1;
                assert!(text.get(error.span()).is_some() && error.to_string().lines().count() >= 4, "{text:?}");
            }
            Ok(expr) => {
                right += 1;
                terms(&expr, "u");
                let _ = Plan::new(&scope(), &[&expr], Axis::Cells);
            }
        }
    }
    assert!(cfg!(miri) || (right > 100 && wrong > 1000), "{right} right, {wrong} wrong");
}

/// Terms of a right-hand side in the equation of `z`, printed.
fn printed(rhs: &str) -> Vec<String> {
    let mut scope = Scope::new(2);
    scope.add(&["z", "w"], Kind::FIELD).unwrap();
    scope.add(&["D", "c", "epsilon"], Kind::CONSTANT).unwrap();
    scope.add(&["k", "source"], Kind::MAP).unwrap();
    scope.add(&["wind"], Kind::MAP.vector()).unwrap();
    scope.add(&["heat"], Kind::SERIES).unwrap();
    scope.add(&["push"], Kind::CHANNEL).unwrap();
    terms(&parse(rhs, &scope).unwrap_or_else(|error| panic!("{error}")), "z").iter().map(ToString::to_string).collect()
}

#[test]
fn terms_are_classified() {
    for (rhs, expected) in [
        (
            "epsilon*lap(z) + z - z^3 + push",
            &["epsilon*lap(z): implicit diffusion", "z: explicit growth", "-z^3: explicit", "push: explicit"][..],
        ),
        ("D*(lap(z) - z)", &["D*lap(z): implicit diffusion", "-D*z: implicit decay"]),
        ("div(k*grad(z))/c", &["div(k*grad(z))/c: implicit diffusion"]),
        ("div(c*grad(z))", &["c*lap(z): implicit diffusion"]),
        ("div(grad(z)*k*D)", &["D*div(k*grad(z)): implicit diffusion"]),
        ("k*lap(z)", &["k*lap(z): implicit diffusion"]),
        ("heat*lap(z)", &["heat*lap(z): explicit diffusion"]),
        ("-lap(z) - D*lap(lap(z))", &["-lap(z): explicit backward diffusion", "-D*lap(lap(z)): implicit fourth order"]),
        (
            "lap(z^3 - z - epsilon*lap(z))",
            &["lap(z^3): explicit", "-lap(z): explicit backward diffusion", "-epsilon*lap(lap(z)): implicit fourth order"],
        ),
        ("-(c + 1)*z + (c - D)*z", &["-(c + 1)*z: implicit decay", "(c - D)*z: explicit rate of unknown sign"]),
        ("-c*(z - source)", &["-c*z: implicit decay", "c*source: explicit"]),
        ("-heat*z", &["-heat*z: explicit decay"]),
        ("-push*z", &["-push*z: explicit decay"]),
        ("-dot(wind, grad(z))", &["-dot(wind, grad(z)): explicit transport"]),
        ("-dot(grad(z), c*wind)", &["-dot(c*wind, grad(z)): explicit transport"]),
        ("-div(wind*z)", &["-div(wind*z): explicit transport"]),
        ("div(k*grad(z) - z*c*wind)", &["div(k*grad(z)): implicit diffusion", "-c*div(wind*z): explicit transport"]),
        ("-c*dx(z) - z*dx(z)", &["-c*dx(z): explicit transport", "-z*dx(z): explicit"]),
        ("c*w - 2*k*w*z", &["c*w: explicit coupling to w", "-2*k*w*z: explicit"]),
        ("D*lap(w)", &["D*lap(w): explicit"]),
        ("div(z*grad(z))", &["div(z*grad(z)): explicit"]),
        ("z*(1 - z)", &["z*(1 - z): explicit"]),
        ("-z/c - z*exp(-k)", &["-z/c: implicit decay", "-exp(-k)*z: implicit decay"]),
        (
            "0.1*(2*(z - 3*(w - lap(z))))",
            &["0.1*2*z: explicit growth", "-0.1*2*3*w: explicit coupling to w", "0.1*2*3*lap(z): implicit diffusion"],
        ),
        ("lap(k*z) + lap(k)", &["lap(k*z): explicit", "lap(k): explicit"]),
        ("dot(wind, wind)*z", &["dot(wind, wind)*z: explicit rate of unknown sign"]),
        ("dot(wind, z*wind)", &["dot(wind, wind)*z: explicit rate of unknown sign"]),
        ("mean(z)*k - mean(z)", &["k*mean(z): explicit", "-mean(z): explicit"]),
        ("where(z < 0, z, 0) + 1", &["where(z < 0, z, 0): explicit", "1: explicit"]),
    ] {
        assert_eq!(printed(rhs), expected, "{rhs}");
    }
}

#[test]
fn coefficients_are_returned_as_expressions() {
    let expr = parse("a*div(k*grad(u))/b - b*u", &scope()).unwrap();
    let [diffusion, decay] = &terms(&expr, "u")[..] else { panic!("two terms") };
    let Form::Diffusion { outside, inside: Some(inside) } = &diffusion.form else { panic!("a diffusion") };
    assert_eq!((outside.to_string(), inside.to_string(), diffusion.treatment), ("a/b".into(), "k".into(), Treatment::Implicit));
    let Form::Rate { rate } = &decay.form else { panic!("a rate") };
    assert_eq!(rate.to_string(), "-b");
}

#[test]
fn terms_add_up_to_the_right_hand_side() {
    let mut dice = Dice(3);
    let mut compared = 0;
    for _ in 0..if cfg!(miri) { 10 } else { 2000 } {
        let text = format!("a*({} - lap(u*b + {})) + div(k*(grad(u) - wind*{}))", dice.scalar(2), dice.scalar(1), dice.scalar(1));
        let Ok(expr) = parse(&text, &scope()) else { continue };
        let terms = terms(&expr, "u");
        let again = sum(&terms).unwrap();
        let (one, other) = (plain(&expr), plain(&again));
        let size = one.iter().fold(1.0, |a: f64, b| a.max(b.abs()));
        for i in 0..one.len() {
            assert!((one[i] - other[if other.len() == 1 { 0 } else { i }]).abs() < 1e-9 * size, "{text}\n{again}");
        }
        // They can be read again.
        assert_eq!(parse(&again.to_string(), &scope()).unwrap_or_else(|error| panic!("{error}")).to_string(), again.to_string());
        compared += 1;
    }
    assert!(cfg!(miri) || compared > 1000, "{compared}");
}
