//! What the page calls. It writes a request where [`request`] says, calls [`respond`], and reads the answer there.
#![allow(
    unsafe_code,
    reason = "an exported name is unsafe: another symbol of that name would take its place"
)]

use std::cell::RefCell;

use crate::answer;

thread_local! {
    static REQUEST: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static ANSWER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Where to write a request of this many bytes.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn request(bytes: usize) -> *mut u8 {
    REQUEST.with_borrow_mut(|request| {
        // Without clearing it first: filling megabytes with zeros takes time.
        request.resize(bytes, 0);
        request.as_mut_ptr()
    })
}

/// Answers the request; returns where the answer is.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn respond() -> *const u8 {
    let answered = REQUEST.with_borrow(|request| answer(request));
    ANSWER.with_borrow_mut(|answer| {
        *answer = answered;
        answer.as_ptr()
    })
}

/// The bytes of the answer.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn answered() -> usize {
    ANSWER.with_borrow(Vec::len)
}
