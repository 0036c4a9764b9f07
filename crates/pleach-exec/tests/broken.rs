//! Shared memory with random contents: reading it gives a sound trace or an error, also
//! while a target writes to it.

use pleach_abi::shm::Header;
use pleach_exec::container::view;
use pleach_exec::shm::{Shm, Sizes};
use pleach_exec::{Trace, oracle};
use std::mem::offset_of;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};

/// xorshift, with a fixed seed: a failure can be repeated.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Mostly small numbers, which are more often valid indices and operations.
    fn byte(&mut self) -> u8 {
        let n = self.next();
        match n >> 32 & 7 {
            0 => n as u8,
            1 => n as u8 & 0x7f,
            2 | 3 => n as u8 & 7,
            4 => 8,
            _ => 0,
        }
    }
}

const SIZES: Sizes =
    Sizes { nodes: 64, events: 16, snapshots: 4096, tokens: 16, cover: 4096, live: 0, batch: 0 };

fn fill_with_noise(shm: &Shm, random: &mut Random) {
    let file = shm.file();
    let counts = [random.next() % 70, random.next() % 18];
    let nodes = (counts[1] << 32 | counts[0]).to_le_bytes();
    file.write_all_at(&nodes, offset_of!(Header, nodes) as u64).unwrap();
    let tokens = if random.next().is_multiple_of(4) { random.next() as u32 % 18 } else { 0 };
    file.write_all_at(&tokens.to_le_bytes(), offset_of!(Header, tokens) as u64).unwrap();
    let snaps = (random.next() % 5000).to_le_bytes();
    file.write_all_at(&snaps, offset_of!(Header, snaps) as u64).unwrap();
    let end = file.metadata().unwrap().len();
    let from = offset_of!(Header, cut) as u64 + 4 * (random.next() % 64);
    let noise: Vec<u8> = (0..512).map(|_| random.byte()).collect();
    file.write_all_at(&noise, from).unwrap();
    for at in (pleach_abi::shm::HEADER_SIZE as u64..end).step_by(4096) {
        let noise: Vec<u8> = (0..2048).map(|_| random.byte()).collect();
        file.write_all_at(&noise, at).unwrap();
    }
}

/// Reads a trace and uses all of it. True if it was sound.
fn read(shm: &Shm) -> bool {
    let Ok(trace) = Trace::read(shm, 16, &[7]) else { return false };
    let input = [7u8; 16];
    oracle::check(&trace, &view(&input), 3);
    oracle::predict(&trace, None, &view(&input[..5]));
    true
}

#[test]
fn a_random_trace_is_refused_or_used() {
    let shm = Shm::new(SIZES).unwrap();
    let mut random = Random(0x1234_5678_9abc_def1);
    let mut sound = 0;
    for _ in 0..3000 {
        fill_with_noise(&shm, &mut random);
        sound += usize::from(read(&shm));
    }
    // If all or none were sound, the test would show little.
    assert!((1..2999).contains(&sound), "{sound} of 3000 were sound");
}

#[test]
fn a_target_cannot_change_a_trace_that_was_checked() {
    let shm = Shm::new(SIZES).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|s| {
        s.spawn(|| {
            let mut random = Random(77);
            while !stop.load(Ordering::Relaxed) {
                fill_with_noise(&shm, &mut random);
            }
        });
        for _ in 0..3000 {
            read(&shm);
        }
        stop.store(true, Ordering::Relaxed);
    });
}
