//! Maps from pictures and arrays.

use super::super::data::{Raster, Resampling};
use super::super::draft::{Draft, MapText, Scale};
use super::Known;
use crate::disk::{npy, picture::Picture};
use crate::{Error, Real};

/// Maximum number of pixels of a picture.
const MOST_PIXELS: u64 = 1 << 22;

/// Largest difference of a colour from one of a legend, per channel: what scaling and packing of pictures change.
const TOLERANCE: u8 = 32;

/// Values of a map of data on the cells; `None` for texts.
pub fn on_cells(draft: &Draft, key: &str, map: &MapText, known: &Known) -> Result<Option<Vec<Real>>, Error> {
    let fault = |file: &str| {
        let file = crate::error::shortened(file);
        move |reason: String| draft.fault(key, format!("{file}: {reason}"))
    };
    let (samples, way) = match map {
        MapText::Text(_) | MapText::Vector(_) => return Ok(None),
        MapText::Picture { file, scale } => {
            let picture = Picture::read(draft.data.file(&draft.place, key, file)?, MOST_PIXELS).map_err(fault(file))?;
            match scale {
                Scale::Legend(legend) => {
                    let mut numbers = Vec::new();
                    for (colour, text) in legend {
                        numbers.push((*colour, known.number(draft, key, text)? as f64));
                    }
                    (legend_samples(&picture, &numbers).map_err(fault(file))?, Resampling::Nearest)
                }
                Scale::Range([black, white]) => {
                    (upwards(&picture, |x, y| black + (white - black) * picture.level(x, y)), Resampling::Mean)
                }
            }
        }
        MapText::Array { file } => {
            let (shape, values) = npy::array(draft.data.file(&draft.place, key, file)?).map_err(fault(file))?;
            (Raster { shape, values }, Resampling::Mean)
        }
        MapText::Values { shape, values } => (Raster { shape: shape.clone(), values: values.clone() }, Resampling::Mean),
    };
    let (axes, found) = (known.grid.dimensions(), samples.shape.len());
    if axes != found || samples.shape.contains(&0) {
        let shape = crate::error::shortened(&format!("{:?}", samples.shape));
        return Err(draft.fault(key, format!("its shape is {shape}; it needs {axes} axes, as the domain")));
    }
    let values = samples.on(&known.grid.nodes, &known.grid.periodic, way);
    Ok(Some(values.into_iter().map(|x| x as Real).collect()))
}

/// Numbers of pixels, x along the rows, y upwards.
fn upwards(picture: &Picture, number: impl Fn(usize, usize) -> f64) -> Raster {
    let (width, height) = (picture.width, picture.height);
    let values = (0..width).flat_map(|x| (0..height).rev().map(move |y| (x, y)));
    Raster { shape: vec![width, height], values: values.map(|(x, y)| number(x, y)).collect() }
}

/// Numbers of the colours of a picture.
fn legend_samples(picture: &Picture, legend: &[([u8; 3], f64)]) -> Result<Raster, String> {
    let apart = |a: [u8; 3], b: [u8; 3]| a.iter().zip(b).map(|(a, b)| a.abs_diff(b)).max().unwrap_or(0);
    let hex = |[red, green, blue]: [u8; 3]| format!("#{red:02x}{green:02x}{blue:02x}");
    let nearest = |colour| legend.iter().min_by_key(|(known, _)| apart(*known, colour)).expect("a legend has colours");
    for (x, y) in (0..picture.height).flat_map(|y| (0..picture.width).map(move |x| (x, y))) {
        let colour = picture.colour(x, y);
        let (near, _) = *nearest(colour);
        if apart(near, colour) > TOLERANCE {
            let (column, row, colour, near) = (x + 1, y + 1, hex(colour), hex(near));
            return Err(format!(
                "the pixel in column {column} of row {row} from the top has the colour {colour}, which is not in the legend; \
                 add it, or correct the picture (the nearest is {near})"
            ));
        }
    }
    Ok(upwards(picture, |x, y| nearest(picture.colour(x, y)).1))
}
