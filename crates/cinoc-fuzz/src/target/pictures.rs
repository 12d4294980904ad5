//! Fields from `.png` files.

use super::{built, scratch};
use crate::{Allowance, Answer, Target, mutate};
use arbitrary::{Result, Unstructured};
use cinoc::Problem;
use cinoc_cli::readers::fields;
use png::{BitDepth, ColorType};
use std::path::PathBuf;
use tempfile::TempDir;

/// Pictures of every kind.
pub struct Pictures {
    problem: Problem,
    folder: TempDir,
    sound: Vec<Vec<u8>>,
}

impl Pictures {
    pub fn new() -> Self {
        let kinds = [
            (ColorType::Grayscale, BitDepth::One),
            (ColorType::Grayscale, BitDepth::Four),
            (ColorType::Grayscale, BitDepth::Eight),
            (ColorType::Grayscale, BitDepth::Sixteen),
            (ColorType::GrayscaleAlpha, BitDepth::Eight),
            (ColorType::Rgb, BitDepth::Eight),
            (ColorType::Rgb, BitDepth::Sixteen),
            (ColorType::Rgba, BitDepth::Eight),
            (ColorType::Indexed, BitDepth::Two),
            (ColorType::Indexed, BitDepth::Eight),
        ];
        let sound = kinds
            .into_iter()
            .flat_map(|(colour, depth)| [(7, 5), (1, 1), (40, 3)].map(|size| picture(colour, depth, size)))
            .collect();
        Self { problem: built("heat2d"), folder: scratch(), sound }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("field.png")
    }
}

fn picture(colour: ColorType, depth: BitDepth, (width, height): (u32, u32)) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(colour);
    encoder.set_depth(depth);
    if colour == ColorType::Indexed {
        encoder.set_palette((0..12).collect::<Vec<u8>>());
        encoder.set_trns(vec![0, 255]);
    }
    let row = (width as usize * colour.samples() * depth as usize).div_ceil(8);
    // Indices stay inside the palette.
    let data: Vec<u8> =
        (0..row * height as usize).map(|i| if colour == ColorType::Indexed { i as u8 & 1 } else { (37 * i) as u8 }).collect();
    let mut writer = encoder.write_header().expect("a header");
    writer.write_image_data(&data).expect("a picture");
    writer.finish().expect("an end");
    bytes
}

/// Returns the chunks of a picture: kinds and contents.
fn chunks(picture: &[u8]) -> Vec<([u8; 4], Vec<u8>)> {
    let (mut rest, mut found) = (&picture[8..], Vec::new());
    while let Some((length, tail)) = rest.split_first_chunk::<4>() {
        let length = u32::from_be_bytes(*length) as usize;
        let (kind, tail) = tail.split_first_chunk::<4>().expect("a kind");
        found.push((*kind, tail[..length].to_vec()));
        rest = &tail[length + 4..];
    }
    found
}

/// Joins chunks, with valid checksums.
fn joined(chunks: &[([u8; 4], Vec<u8>)]) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
    for (kind, content) in chunks {
        bytes.extend((content.len() as u32).to_be_bytes());
        let part = [&kind[..], content].concat();
        bytes.extend(&part);
        bytes.extend(crc32fast::hash(&part).to_be_bytes());
    }
    bytes
}

impl Target for Pictures {
    fn name(&self) -> &'static str {
        "png"
    }

    /// Deflate expands a byte to at most 1032, and a byte is eight pixels of up to four colours in the worst case; plus
    /// the decoder's own windows.
    fn allowance(&self) -> Allowance {
        Allowance { fixed: 1 << 20, per_byte: 1032 * 8 * 4 }
    }

    fn input(&self, choice: &mut Unstructured) -> Result<Vec<u8>> {
        let (whole, other) = (choice.choose(&self.sound)?, choice.choose(&self.sound)?);
        if choice.ratio(1, 4)? {
            return mutate::changed(choice, whole, other);
        }
        let mut parts = chunks(whole);
        for _ in 0..choice.int_in_range(0..=3)? {
            let at = choice.choose_index(parts.len())?;
            match choice.int_in_range(0..=7)? {
                // Wrong sizes, depth, colours and interlacing.
                0..=2 => {
                    let header = &mut parts[0].1;
                    let sizes = [0u32, 1, 2, 8, 255, 4096, 8192, 65_535, 1 << 26, 1 << 30, i32::MAX as u32, u32::MAX];
                    match choice.int_in_range(0..=3)? {
                        0 if header.len() >= 4 => header[..4].copy_from_slice(&choice.choose(&sizes)?.to_be_bytes()),
                        1 if header.len() >= 8 => header[4..8].copy_from_slice(&choice.choose(&sizes)?.to_be_bytes()),
                        2 if header.len() >= 8 => {
                            let size = choice.choose(&sizes)?.to_be_bytes();
                            header[..8].copy_from_slice(&[size, size].concat());
                        }
                        _ if header.len() > 8 => {
                            let at = 8 + choice.choose_index(header.len() - 8)?;
                            header[at] = *choice.choose(&[0, 1, 2, 3, 4, 6, 8, 16, 255])?;
                        }
                        _ => {}
                    }
                }
                3 => {
                    let mut content = std::mem::take(&mut parts[at].1);
                    mutate::change(choice, &mut content, other)?;
                    parts[at].1 = content;
                }
                4 if parts.len() > 1 => drop(parts.remove(at)),
                5 => parts.insert(at, parts[at].clone()),
                6 => {
                    parts[at].0 = **choice.choose(&[
                        b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"zTXt", b"iTXt", b"iCCP", b"acTL", b"fcTL", b"fdAT",
                        b"sBIT", b"eXIf",
                    ])?
                }
                _ => {
                    // A compressed text or profile, which is not needed.
                    let kind = **choice.choose(&[b"zTXt", b"iTXt", b"iCCP"])?;
                    let packed =
                        parts.iter().find(|(kind, _)| kind == b"IDAT").map(|(_, content)| content.clone()).unwrap_or_default();
                    parts.insert(1.min(parts.len()), (kind, [&b"name\0\0"[..], &packed].concat()));
                }
            }
        }
        Ok(joined(&parts))
    }

    fn read(&self, input: &[u8]) -> Result<Answer, String> {
        std::fs::write(self.path(), input).map_err(|error| error.to_string())?;
        let found = fields(&self.path(), &self.problem);
        if let Ok(fields) = &found {
            let nodes = self.problem.stepper.grid().count();
            if fields.len() != 1 || fields[0].len() != nodes || fields[0].iter().any(|z| !(0.0..=1.0).contains(z)) {
                return Err("no field of grey levels".into());
            }
        }
        Ok(Answer::of(found))
    }
}
