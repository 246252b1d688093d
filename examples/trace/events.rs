// SPDX-License-Identifier: GPL-2.0-or-later
//! A program in Rust that records events of its own, through the library's C interface:
//!
//!     plecoc --json -o app.json app.pleco
//!     rustc -L /usr/local/lib -l pinchtrace events.rs
//!     ./events
//!     pinch trace --list
//!
//! Two threads answer requests.
use std::ffi::{c_char, c_int, c_void, CString};
use std::thread;

extern "C" {
    fn pinchtrace_register(json: *const c_char) -> c_int;
    fn pinchtrace_event(subsystem: u16, event: u16, argument: u32);
    fn pinchtrace_event_payload(subsystem: u16, event: u16, argument: u32, payload: *const c_void, size_bytes: usize);
}

/// As app.pleco numbers them.
const APP: u16 = 0;
const APP_START: u16 = 0;
const APP_STOP: u16 = 1;
const REQUEST: u16 = 1;
const REQUEST_BEGIN: u16 = 0;
const REQUEST_PART: u16 = 1;
const REQUEST_END: u16 = 2;

/// The fields of request.PART.
#[repr(C)]
struct Part {
    bytes: u64,
    part: u32,
    reserved: u32,
}

fn event(subsystem: u16, event: u16, argument: u32) {
    unsafe { pinchtrace_event(subsystem, event, argument) }
}

fn part(number: u32, part: &Part) {
    let payload = part as *const Part as *const c_void;

    unsafe { pinchtrace_event_payload(REQUEST, REQUEST_PART, number, payload, std::mem::size_of::<Part>()) }
}

fn answer(number: u32) {
    event(REQUEST, REQUEST_BEGIN, number);
    for i in 0..2 {
        part(number, &Part { bytes: 1000 * number as u64 + i as u64, part: i, reserved: 0 });
    }
    event(REQUEST, REQUEST_END, number);
}

fn main() {
    let json = CString::new(include_str!("app.json")).expect("JSON has no NUL");

    if unsafe { pinchtrace_register(json.as_ptr()) } != 0 {
        eprintln!("readers will not know the events' names");
    }
    event(APP, APP_START, 0);
    let threads: Vec<_> = (0..2).map(|i| thread::spawn(move || (3 * i..3 * i + 3).for_each(answer))).collect();
    for thread in threads {
        thread.join().expect("a thread ends");
    }
    event(APP, APP_STOP, 0);
}
