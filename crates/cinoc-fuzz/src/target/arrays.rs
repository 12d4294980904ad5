//! Fields in `.npy` files.

use super::{built, scratch};
use crate::{Allowance, Answer, Target, mutate};
use arbitrary::{Result, Unstructured};
use cinoc::Problem;
use cinoc_cli::readers::fields;
use std::path::PathBuf;
use tempfile::TempDir;

/// Fields for a problem on a line and for one in the plane.
pub struct Arrays {
    problems: [Problem; 2],
    folder: TempDir,
}

impl Arrays {
    pub fn new() -> Self {
        Self { problems: ["heat1d", "heat2d"].map(built), folder: scratch() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("fields.npy")
    }
}

/// Encodes a file of version 1, 2 or 3.
fn file(version: u8, header: &str, numbers: &[u8]) -> Vec<u8> {
    let length = (header.len() as u32).to_le_bytes();
    let length = if version == 1 { &length[..2] } else { &length };
    [b"\x93NUMPY", &[version, 0][..], length, header.as_bytes(), numbers].concat()
}

impl Target for Arrays {
    fn name(&self) -> &'static str {
        "npy"
    }

    /// The bytes, as numbers, as fields; single precision may become double.
    fn allowance(&self) -> Allowance {
        Allowance { fixed: 1 << 15, per_byte: 6 }
    }

    fn input(&self, choice: &mut Unstructured) -> Result<Vec<u8>> {
        let nodes = &choice.choose(&self.problems)?.stepper.grid().nodes;
        let several = choice.int_in_range(0..=3usize)?;
        let mut shape: Vec<usize> = if several > 0 { [&[several], &nodes[..]].concat() } else { nodes.clone() };
        let descr = *choice.choose(&["<f4", ">f4", "<f8", ">f8", "<f4", "<f8", "<i4", "|u1", "|O"])?;
        let width = if descr.ends_with('8') { 8 } else { 4 };
        let count: usize = shape.iter().product();
        let mut numbers: Vec<u8> = (0..count)
            .flat_map(|i| if width == 8 { (i as f64).to_le_bytes().to_vec() } else { (i as f32).to_le_bytes().to_vec() })
            .collect();
        if choice.ratio(1, 4)? {
            let at = choice.choose_index(shape.len())?;
            shape[at] = *choice.choose(&[0, 1, 13, 1 << 20, 1 << 32, 1 << 62, usize::MAX])?;
        }
        let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
        let order = *choice.choose(&["False", "False", "False", "True"])?;
        let mut header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({},), }}", sizes.join(", "));
        if choice.ratio(1, 3)? {
            let mut bytes = header.into_bytes();
            mutate::change(choice, &mut bytes, b"'shape': (1,2), 'descr': [('a', '<f4')]")?;
            header = String::from_utf8_lossy(&bytes).into_owned();
        }
        let padding = *choice.choose(&[0, 1, 16, 64, 5000, 70_000])?;
        header += &" ".repeat(padding);
        if choice.ratio(1, 6)? {
            let value = *choice.choose(&[f32::NAN, f32::INFINITY, f32::MAX])?;
            numbers.chunks_exact_mut(4).for_each(|word| word.copy_from_slice(&value.to_le_bytes()));
        }
        let whole = file(*choice.choose(&[1, 1, 2, 3, 9])?, &header, &numbers);
        Ok(if choice.ratio(1, 3)? { mutate::changed(choice, &whole, b"\x93NUMPY\x01\x00v\x00")? } else { whole })
    }

    fn read(&self, input: &[u8]) -> Result<Answer, String> {
        std::fs::write(self.path(), input).map_err(|error| error.to_string())?;
        let mut answers = Vec::new();
        for problem in &self.problems {
            let found = fields(&self.path(), problem);
            if let Ok(fields) = &found {
                let nodes = problem.stepper.grid().count();
                if fields.is_empty() || fields.iter().any(|field| field.len() != nodes || field.iter().any(|z| !z.is_finite())) {
                    return Err("fields that do not fit".into());
                }
            }
            answers.push(Answer::of(found));
        }
        let accepted = answers.contains(&Answer::Accepted);
        Ok(if accepted { Answer::Accepted } else { answers.swap_remove(0) })
    }
}
