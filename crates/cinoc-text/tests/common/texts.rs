//! Random texts.

/// Reproducible pseudo-random numbers.
pub struct Dice(pub u64);

impl Dice {
    /// A number below `count`.
    pub fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % count
    }

    fn one_of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }

    /// A smooth scalar over cells: values and derivatives of it stay moderate.
    pub fn scalar(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.one_of(&["u", "v", "a", "b", "k", "m", "wind.x", "heat", "push", "0.5", "2", "1e-1"]).into();
        }
        let d = depth - 1;
        match self.below(20) {
            0..=2 => format!("({} + {})", self.scalar(d), self.scalar(d)),
            3..=4 => format!("{} - {}", self.scalar(d), self.scalar(d)),
            5..=7 => format!("({})*({})", self.scalar(d), self.scalar(d)),
            8 => format!("({})/(2 + sin({}))", self.scalar(d), self.scalar(d)),
            9 => format!("-{}", self.scalar(0)),
            10 => format!("tanh({})^{}", self.scalar(d), self.one_of(&["0", "1", "2", "3", "4", "5"])),
            11 => format!("{}({})", self.one_of(&["sin", "cos", "tanh"]), self.scalar(d)),
            12 => format!("exp(sin({}))", self.scalar(d)),
            13 => format!("{}(1.5 + tanh({}))", self.one_of(&["sqrt", "log"]), self.scalar(d)),
            14 => format!("(1.5 + tanh({}))^{}", self.scalar(d), self.one_of(&["0.5", "1.5", "a", "-1", "-2", "b"])),
            15 => format!(
                "where({} {} k{}, {}, {})",
                self.scalar(0),
                self.one_of(&["<", ">", "<=", ">="]),
                self.one_of(&["", " && left", " || left && u < k"]),
                self.scalar(d),
                self.scalar(d)
            ),
            16 => format!("smoothstep(-2, 2.5, {})", self.scalar(d)),
            17 => format!("{}({}, {})", self.one_of(&["min", "max"]), self.scalar(d), self.scalar(d)),
            18 => self.operator(d),
            _ => format!("{}(u + {})", self.one_of(&["mean", "sum"]), self.scalar(d)),
        }
    }

    fn operator(&mut self, depth: usize) -> String {
        match self.below(6) {
            0 => format!("lap(u*({}))", self.scalar(depth)),
            1 => format!("div({}*grad(v + {}))", self.one_of(&["k", "a", "u", "a*k"]), self.scalar(depth)),
            2 => format!("dot(wind, grad(u - {}))", self.scalar(depth)),
            3 => format!("div(wind*({}))", self.scalar(depth)),
            4 => format!("dx(u*{})", self.scalar(depth)),
            _ => format!("mean(push.u^2)*{} + mean(u*{}, left)", self.scalar(0), self.scalar(depth)),
        }
    }
}
