//! Problem files in builds without them, such as the engine of pages of shipped problems: they are refused.

use super::Opened;
use crate::Error;
use crate::problem::{Description, Problem};
use crate::settings::Setting;
use toml::Table;

fn refused<T>(place: &str) -> Result<T, Error> {
    let reason = "problem files are not part of this program; use the command line";
    Err(Error::ProblemFile { place: place.into(), key: "equations".into(), reason: reason.into() })
}

pub fn open(_: &str, place: &str) -> Result<Opened, Error> {
    refused(place)
}

pub fn table(_: &Table) -> Result<Vec<Setting>, Error> {
    refused("the settings")
}

pub fn check(_: &Table) -> Result<(), Error> {
    refused("the settings")
}

pub fn build(_: &str, _: &Table) -> Result<Problem, Error> {
    refused("the settings")
}

pub fn describe(_: &Table) -> Result<Description, Error> {
    refused("the settings")
}
