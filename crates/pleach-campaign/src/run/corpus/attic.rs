//! Inputs that do not fit in memory, in a file that has no name.
//!
//! The inputs lie one after the other in one file. A second one has the place of each, by
//! its number, so nothing of this is in memory.

use super::scratch::{Scratch, ScratchFile};
use pleach_search::InputId;
use std::io;
use std::sync::{Mutex, PoisonError};

#[derive(Debug)]
pub struct Attic {
    bytes: ScratchFile,
    places: ScratchFile,
    /// Where the next input begins.
    end: Mutex<u64>,
}

/// The length of a place: the end of an input, and how long it is.
const PLACE_LEN: usize = 12;

impl Attic {
    pub fn new(scratch: &Scratch) -> io::Result<Attic> {
        Ok(Attic {
            bytes: scratch.file("inputs")?,
            places: scratch.file("places")?,
            end: Mutex::default(),
        })
    }

    /// Puts an input here, in parts.
    pub fn put(&self, id: InputId, parts: &[&[u8]]) -> io::Result<()> {
        let whole = parts.concat();
        let mut next = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        self.bytes.write_at(&whole, *next)?;
        let end = *next + whole.len() as u64;
        let mut place = [0; PLACE_LEN];
        // No place is all zeros, also that of an empty input.
        place[..8].copy_from_slice(&(end + 1).to_le_bytes());
        place[8..].copy_from_slice(&(whole.len() as u32).to_le_bytes());
        self.places.write_at(&place, u64::from(id) * PLACE_LEN as u64)?;
        *next = end;
        Ok(())
    }

    /// The parts of an input, one after the other.
    pub fn get(&self, id: InputId) -> Option<Vec<u8>> {
        let mut place = [0; PLACE_LEN];
        self.places.read_at(&mut place, u64::from(id) * PLACE_LEN as u64).ok()?;
        let (end, len) = place.split_at(8);
        let end = u64::from_le_bytes(end.try_into().ok()?).checked_sub(1)?;
        let len = u32::from_le_bytes(len.try_into().ok()?);
        let mut whole = vec![0; len as usize];
        self.bytes.read_at(&mut whole, end.checked_sub(len.into())?).ok()?;
        Some(whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn inputs_are_found_by_their_numbers() {
        let dir = tempfile::tempdir().unwrap();
        let scratch = Scratch { dir: dir.path().into(), disk: Arc::default() };
        let attic = Attic::new(&scratch).unwrap();
        let inputs: [(InputId, &[&[u8]]); 4] =
            [(7, &[b"seven"]), (0, &[]), (900, &[b"nine ", b"hundred"]), (3, &[b""])];
        inputs.iter().for_each(|(id, parts)| attic.put(*id, parts).unwrap());
        for (id, parts) in inputs {
            assert_eq!(attic.get(id), Some(parts.concat()), "{id}");
        }
        assert_eq!([1, 8, 899, 901].map(|id| attic.get(id)), [None, None, None, None]);
    }
}
