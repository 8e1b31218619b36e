//! Where bits are flipped, and in which order.

use std::fmt;
use std::path::PathBuf;

use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};

use super::world::{PAGE_BYTES, World};
use super::{BitRotSettings, Kind};
use crate::error::StressError;

/// A bit of a file; of a page that is overwritten, its first byte.
#[derive(Clone, Debug)]
pub struct Place {
    pub path: PathBuf,
    pub offset: usize,
    pub bit: u8,
}

impl Place {
    /// The file with this bit flipped.
    pub fn damaged(&self) -> Result<Vec<u8>, StressError> {
        let mut bytes = std::fs::read(&self.path)?;
        bytes[self.offset] ^= 1 << self.bit;
        Ok(bytes)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        write!(f, "bit {} of byte {} of {name}", self.bit, self.offset)
    }
}

/// The places that are still to come, the next one last.
#[derive(Debug)]
pub struct Places(Vec<(Kind, Vec<Place>)>);

impl Places {
    pub fn of(world: &World, settings: &BitRotSettings) -> Result<Self, StressError> {
        let mut random = StdRng::seed_from_u64(settings.seed);
        let files = |kind| match kind {
            Kind::Database | Kind::Salvage => Ok(vec![world.database.clone()]),
            Kind::Log => Ok(vec![world.log.clone()]),
            Kind::Backups => world.backup_files(),
        };
        let of_kind = |kind| {
            // A page stands for all of its bytes.
            let every =
                if kind == Kind::Salvage { settings.every.next_multiple_of(PAGE_BYTES) } else { settings.every };
            let first = if kind == Kind::Salvage { 0 } else { random.random_range(0..every) };
            let mut places = spread(&files(kind)?, first, every, &mut random)?;
            places.shuffle(&mut random);
            Ok((kind, places))
        };
        Ok(Self(Kind::ALL.into_iter().map(of_kind).collect::<Result<_, StressError>>()?))
    }

    pub fn are_empty(&self) -> bool {
        self.0.iter().all(|(_, places)| places.is_empty())
    }

    pub fn next(&mut self, kind: Kind) -> Option<Place> {
        self.0.iter_mut().find(|(of, _)| *of == kind)?.1.pop()
    }
}

/// A bit of every so many bytes of the files, as if they were one.
fn spread(files: &[PathBuf], first: usize, every: usize, random: &mut StdRng) -> Result<Vec<Place>, StressError> {
    let (mut places, mut offset) = (Vec::new(), first);
    for path in files {
        let bytes = usize::try_from(std::fs::metadata(path)?.len()).unwrap_or(usize::MAX);
        while offset < bytes {
            places.push(Place { path: path.clone(), offset, bit: random.random_range(0..8) });
            offset += every;
        }
        offset -= bytes;
    }
    Ok(places)
}
