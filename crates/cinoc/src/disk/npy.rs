//! Arrays in NumPy's format.

/// The header of a `.npy` file, parsed by hand: nothing is allocated by the sizes it claims before they are known to fit.
#[derive(Debug)]
pub struct Header<'a> {
    /// Type of the numbers, like `<f4`.
    pub descr: &'a str,
    /// True if the first index runs fastest.
    pub fortran: bool,
    /// Shape of the array.
    pub shape: Vec<u64>,
    /// Bytes before the numbers.
    pub size: u64,
}

impl<'a> Header<'a> {
    /// Reads the header from the start of a file; `None` if there is none.
    pub fn of(start: &'a [u8]) -> Option<Self> {
        let (magic, rest) = start.split_first_chunk::<6>()?;
        let (version, rest) = rest.split_first_chunk::<2>()?;
        let (length, rest) = match version[0] {
            1 => rest.split_first_chunk().map(|(length, rest)| (usize::from(u16::from_le_bytes(*length)), rest))?,
            _ => rest.split_first_chunk().map(|(length, rest)| (u32::from_le_bytes(*length) as usize, rest))?,
        };
        let text = std::str::from_utf8(rest.get(..length)?).ok().filter(|_| magic == b"\x93NUMPY")?;
        let after = |key: &str| Some(text.split_once(&format!("'{key}':"))?.1.trim_start());
        let numbers = after("shape")?.strip_prefix('(')?.split_once(')')?.0;
        let numbers = numbers.split(',').map(str::trim).filter(|number| !number.is_empty());
        Some(Self {
            descr: after("descr")?.strip_prefix('\'')?.split_once('\'')?.0,
            fortran: after("fortran_order")?.starts_with("True"),
            shape: numbers.map(|number| number.parse().ok()).collect::<Option<_>>()?,
            size: (start.len() - rest.len() + length) as u64,
        })
    }
}

/// Reads an array of numbers, in C order; an error is the reason as a sentence.
pub fn array(file: &[u8]) -> Result<(Vec<usize>, Vec<f64>), String> {
    let Header { descr, fortran, shape, size } = Header::of(file).ok_or("it is not a .npy file; save it with numpy.save")?;
    if fortran {
        return Err("it is in Fortran order; save it with numpy.ascontiguousarray".into());
    }
    let types = "save it as float32, float64 or integers";
    let unknown = || format!("its numbers are {}; {types}", crate::error::shortened(descr));
    let (order, kind) = descr.split_at_checked(1).ok_or_else(unknown)?;
    let numbers = &file[size as usize..];
    macro_rules! read {
        ($($name:literal $number:ty),*) => {
            match kind {
                $($name => {
                    let (all, rest) = numbers.as_chunks();
                    let number = |&bytes| match order {
                        ">" => <$number>::from_be_bytes(bytes),
                        _ => <$number>::from_le_bytes(bytes),
                    };
                    (rest.is_empty(), all.iter().map(|bytes| number(bytes) as f64).collect::<Vec<f64>>())
                })*
                _ => return Err(unknown()),
            }
        };
    }
    let (whole, values) =
        read!("f4" f32, "f8" f64, "i1" i8, "i2" i16, "i4" i32, "i8" i64, "u1" u8, "b1" u8, "u2" u16, "u4" u32, "u8" u64);
    let count = shape.iter().try_fold(1u64, |count, n| count.checked_mul(*n));
    if !whole || count != Some(values.len() as u64) {
        let length = file.len();
        return Err(format!("it is {length} bytes long, which is not what its shape {shape:?} asks for; save it again"));
    }
    if !values.iter().all(|x| x.is_finite()) {
        return Err("it holds NaN or infinite numbers; replace them".into());
    }
    Ok((shape.iter().map(|n| *n as usize).collect(), values))
}
