//! Files in the folder of a problem file. A problem file of unknown origin must not read other places.

use crate::disk;
use crate::error::shortened;
use std::path::{Component, Path};

/// Reads a file of at most `most` bytes, named relative to the folder of the problem file at `place`; an error is the
/// reason as a sentence.
pub fn read(place: &str, name: &str, most: usize) -> Result<Vec<u8>, String> {
    let shown = shortened(name);
    let outside = || format!("{shown} must be in the folder of the problem file or below, like \"data/plan.png\"");
    let mut parts = Path::new(name).components();
    let plain = name.len() <= 200 && !name.chars().any(char::is_control);
    if !plain || name.is_empty() || !parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
        return Err(outside());
    }
    let folder = match Path::new(place).parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let unread = |error: std::io::Error| {
        format!("{shown} cannot be read ({error}); put the file into the folder of the problem file, or correct the name")
    };
    // Links may lead elsewhere.
    let path = folder.join(name).canonicalize().map_err(unread)?;
    if !path.starts_with(folder.canonicalize().map_err(unread)?) {
        return Err(outside());
    }
    if path.metadata().is_ok_and(|about| about.len() > most as u64) {
        return Err(format!("{shown} is too large; all data files together may have 4 MB, so make it smaller"));
    }
    let bytes = disk::read_up_to(&path, most as u64 + 1).map_err(|error| error.to_string())?;
    if bytes.len() > most { Err(format!("{shown} is too large; all data files together may have 4 MB")) } else { Ok(bytes) }
}
