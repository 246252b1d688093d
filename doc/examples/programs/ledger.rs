// SPDX-License-Identifier: GPL-2.0-or-later
//! Eight threads book entries in one ledger under a mutex.
use std::sync::{Arc, Mutex};
use std::thread;

const CLERKS: u64 = 8;
const ENTRIES_EACH: u64 = 20_000;

struct Ledger {
    seal: u64,
}

/// Each entry is sealed with the one before it, and so with the lock held.
#[inline(never)]
fn book(ledger: &Mutex<Ledger>, account: u64, amount: u64) {
    let mut ledger = ledger.lock().unwrap();
    for round in 0..4_000u64 {
        ledger.seal = (ledger.seal ^ account ^ round)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(27)
            ^ amount;
    }
}

fn main() {
    let ledger = Arc::new(Mutex::new(Ledger { seal: 0 }));
    let clerks: Vec<_> = (0..CLERKS)
        .map(|account| {
            let ledger = Arc::clone(&ledger);
            thread::Builder::new()
                .name(format!("clerk-{account}"))
                .spawn(move || (0..ENTRIES_EACH).for_each(|i| book(&ledger, account, i)))
                .unwrap()
        })
        .collect();
    for clerk in clerks {
        clerk.join().unwrap();
    }
    println!("{:x}", ledger.lock().unwrap().seal);
}
