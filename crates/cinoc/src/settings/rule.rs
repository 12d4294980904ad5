//! Allowed values of a setting, by its type.

use std::ops::RangeInclusive;
use toml::Value;

/// One key of a group of settings.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Name inside the group.
    pub key: &'static str,
    /// Documentation.
    pub about: String,
    /// Allowed values.
    pub rule: Rule,
    /// Value in files written before this setting existed.
    pub absent: Option<Value>,
}

/// Allowed values of a setting. All numbers are finite.
#[derive(Clone, Debug)]
pub enum Rule {
    /// A whole number.
    Whole(RangeInclusive<usize>),
    /// A number.
    Number(RangeInclusive<f64>),
    /// True or false.
    Flag,
    /// One of several words, each with its meaning.
    Word(Vec<(&'static str, &'static str)>),
    /// `[low, high]`, the smaller first.
    Pair(RangeInclusive<f64>),
    /// A list of whole numbers.
    Wholes {
        /// Length of the list.
        count: RangeInclusive<usize>,
        /// Range of each number.
        each: RangeInclusive<usize>,
    },
    /// A list of triples of numbers.
    Triples {
        /// Length of the list.
        count: RangeInclusive<usize>,
        /// Range of each number.
        each: RangeInclusive<f64>,
    },
    /// A list of texts.
    Texts {
        /// Length of the list.
        count: RangeInclusive<usize>,
        /// Largest number of characters of each text.
        longest: usize,
    },
    /// A text of at most this many characters.
    Text(usize),
    /// A group of settings.
    Section(Vec<Setting>),
}

impl Rule {
    /// Returns true if a value is allowed.
    pub fn allows(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Whole(range), value) => whole(value, range),
            (Self::Number(range), value) => number(value, range),
            (Self::Flag, Value::Boolean(_)) => true,
            (Self::Word(words), Value::String(word)) => words.iter().any(|(known, _)| known == word),
            (Self::Pair(range), Value::Array(pair)) => {
                let numbers: Vec<f64> = pair.iter().filter(|x| number(x, range)).filter_map(as_number).collect();
                pair.len() == 2 && matches!(numbers[..], [low, high] if low <= high)
            }
            (Self::Wholes { count, each }, Value::Array(list)) => {
                count.contains(&list.len()) && list.iter().all(|x| whole(x, each))
            }
            (Self::Triples { count, each }, Value::Array(list)) => {
                let fits = |x: &Value| x.as_array().is_some_and(|x| x.len() == 3 && x.iter().all(|x| number(x, each)));
                count.contains(&list.len()) && list.iter().all(fits)
            }
            (Self::Texts { count, longest }, Value::Array(list)) => {
                let fits = |x: &Value| x.as_str().is_some_and(|text| text.chars().count() <= *longest);
                count.contains(&list.len()) && list.iter().all(fits)
            }
            (Self::Text(longest), Value::String(text)) => text.chars().count() <= *longest,
            (Self::Section(_), Value::Table(_)) => true,
            _ => false,
        }
    }

    /// Describes the allowed values: the end of "it must be …".
    pub fn expected(&self) -> String {
        match self {
            Self::Whole(range) => format!("a whole number {}", between(*range.start() as f64, *range.end() as f64)),
            Self::Number(range) => format!("a number {}", between(*range.start(), *range.end())),
            Self::Flag => "true or false".into(),
            Self::Word(words) => words.iter().map(|(word, _)| format!("{word:?}")).collect::<Vec<_>>().join(" or "),
            Self::Pair(range) => {
                format!("two numbers {}, the smaller first, like [0.5, 2.0]", between(*range.start(), *range.end()))
            }
            Self::Wholes { count, each } => {
                let example: Vec<String> = (0..*count.start().max(&1)).map(|_| (*each.start().max(&16)).to_string()).collect();
                let each = between(*each.start() as f64, *each.end() as f64);
                format!("a list of {} whole numbers {each}, like [{}]", some(count), example.join(", "))
            }
            Self::Triples { count, each } => {
                let each = between(*each.start(), *each.end());
                format!("a list of {} triples of numbers {each}, like [[0.5, 0.5, 0.1]]", some(count))
            }
            Self::Texts { count, longest } => {
                format!("a list of {} texts of at most {longest} characters, like [\"swarm.delay = 0..5\"]", some(count))
            }
            Self::Text(longest) => format!("a text of at most {longest} characters"),
            Self::Section(_) => "a section; set one of its keys".into(),
        }
    }
}

fn as_number(value: &Value) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|i| i as f64))
}

fn number(value: &Value, range: &RangeInclusive<f64>) -> bool {
    // NaN is in no range.
    as_number(value).is_some_and(|x| range.contains(&x))
}

fn whole(value: &Value, range: &RangeInclusive<usize>) -> bool {
    value.as_integer().and_then(|i| usize::try_from(i).ok()).is_some_and(|i| range.contains(&i))
}

/// Describes a range.
fn between(low: f64, high: f64) -> String {
    let say = |x: f64| if x != 0.0 && (x.abs() >= 1e6 || x.abs() < 1e-3) { format!("{x:e}") } else { x.to_string() };
    format!("from {} to {}", say(low), say(high))
}

/// Describes a range of counts.
fn some(count: &RangeInclusive<usize>) -> String {
    if count.start() == count.end() { count.start().to_string() } else { format!("{} to {}", count.start(), count.end()) }
}

/// A type that settings can have.
pub trait Kind {
    /// Bounds of the allowed values.
    type Bounds;

    /// Returns the rule with these bounds.
    fn rule(bounds: Self::Bounds) -> Rule;
}

impl Kind for usize {
    type Bounds = RangeInclusive<usize>;
    fn rule(bounds: Self::Bounds) -> Rule {
        Rule::Whole(bounds)
    }
}

impl Kind for f64 {
    type Bounds = RangeInclusive<f64>;
    fn rule(bounds: Self::Bounds) -> Rule {
        Rule::Number(bounds)
    }
}

impl Kind for bool {
    type Bounds = ();
    fn rule((): ()) -> Rule {
        Rule::Flag
    }
}

impl Kind for String {
    type Bounds = usize;
    fn rule(longest: usize) -> Rule {
        Rule::Text(longest)
    }
}

impl Kind for [f64; 2] {
    type Bounds = RangeInclusive<f64>;
    fn rule(bounds: Self::Bounds) -> Rule {
        Rule::Pair(bounds)
    }
}

impl Kind for Vec<usize> {
    type Bounds = (RangeInclusive<usize>, RangeInclusive<usize>);
    fn rule((count, each): Self::Bounds) -> Rule {
        Rule::Wholes { count, each }
    }
}

impl Kind for Vec<String> {
    type Bounds = (RangeInclusive<usize>, usize);
    fn rule((count, longest): Self::Bounds) -> Rule {
        Rule::Texts { count, longest }
    }
}

impl Kind for Vec<[f64; 3]> {
    type Bounds = (RangeInclusive<usize>, RangeInclusive<f64>);
    fn rule((count, each): Self::Bounds) -> Rule {
        Rule::Triples { count, each }
    }
}
