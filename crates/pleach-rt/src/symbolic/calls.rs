//! Labels at calls that need more than argument slots: variadic arguments, structures by
//! value, results from code without instrumentation.

use super::arena::node;
use super::tls::tls;
use super::{events, losses, objects, shadow};
use crate::models::api::V;
use crate::models::va_list::VaList;
use pleach_abi::layout::{ADDR_LIMIT, ARG_SLOTS, BYVAL_SLOTS, VA_BYVAL, VaShape};
use pleach_abi::shm::Loss;

/// The stamp of a result that `longjmp` leaves: `setjmp` returns next, under any name.
pub const FROM_JUMP: u64 = 1;

/// After a call that leaves a stamp: the label of the result, if `callee` left it. If the
/// argument stamp is still there, the callee has neither instrumentation nor a model.
pub extern "C" fn after_call(callee: u64) -> u32 {
    let t = tls();
    let mut unmodelled = (0, 0);
    if t.arg_stamp != 0 {
        if t.arg_stamp == callee {
            unmodelled = (callee, events::record_unmodelled(callee as usize));
        }
        t.arg_stamp = 0;
    }
    losses::note_call(unmodelled.0, unmodelled.1);
    // Clear all slots: in a structure the first part may be concrete and another labelled.
    if t.ret_stamp != callee && t.ret_stamp != FROM_JUMP {
        t.rets = [0; pleach_abi::layout::RET_SLOTS];
    }
    t.ret_stamp = 0;
    t.rets[0]
}

/// True if the last result of a `__VERIFIER_*` function is signed.
static mut RESULT_IS_SIGNED: bool = false;

pub fn set_signed_result(signed: bool) {
    // Safety: input is taken by one thread at a time.
    unsafe { RESULT_IS_SIGNED = signed };
}

/// The label of such a result, in the width that the program has declared.
pub extern "C" fn resize_result(label: u32, width: u32) -> u32 {
    if label == 0 {
        return 0;
    }
    let n = *node(label);
    let has = u32::from(n.width);
    let result = V::arg(label, has, n.val);
    // Safety: input is taken by one thread at a time.
    let signed = unsafe { RESULT_IS_SIGNED };
    match width {
        _ if width == has => result,
        _ if width < has => result.trunc(width),
        65.. => {
            events::count_loss(Loss::Shape);
            return 0;
        }
        _ if signed => result.sext(width),
        _ => result.zext(width),
    }
    .label
}

/// The labels that a variadic function keeps until `va_start`.
#[repr(C)]
pub struct Saved {
    shape: *const VaShape,
    labels: [u32; ARG_SLOTS],
    byval: [u64; BYVAL_SLOTS],
}

impl Saved {
    pub const NONE: Saved =
        Saved { shape: core::ptr::null(), labels: [0; ARG_SLOTS], byval: [0; BYVAL_SLOTS] };
}

/// At the entry of a variadic function that was passed labels.
pub extern "C" fn va_save(to: *mut Saved) {
    let t = tls();
    // Safety: instrumented code passes a buffer in its frame.
    unsafe {
        (*to).shape = t.va as *const VaShape;
        (*to).labels = t.args;
        (*to).byval = t.byval;
    }
}

/// Size of the register save area.
const SAVE_AREA: u64 = 176;

/// After `va_start`: stores the labels where `va_arg` will read the values.
pub extern "C" fn va_start(list: *const u8, saved: *const Saved) {
    // Safety: the list was just set up; the buffer is in the frame of the caller.
    unsafe {
        let l = &*list.cast::<VaList>();
        shadow::clear(l.save_area, SAVE_AREA);
        let Some(shape) = (*saved).shape.as_ref() else { return };
        let places = shape.places.as_ptr();
        for i in 0..shape.n as usize {
            let slot = shape.first as usize + i;
            if slot >= ARG_SLOTS {
                break;
            }
            let [offset, bytes] = *places.add(i);
            let at = match u64::from(offset) {
                o if o < SAVE_AREA => l.save_area + o,
                o => l.overflow + o - 192,
            };
            let label = (*saved).labels[slot];
            match u64::from(bytes) {
                0 => {}
                b if b & VA_BYVAL == 0 => shadow::store(at, label, 8 * u32::from(bytes)),
                b => match (*saved).byval.get((label as usize).wrapping_sub(1)) {
                    Some(&from) => shadow::copy(at, from, b & !VA_BYVAL),
                    None => shadow::clear(at, b & !VA_BYVAL),
                },
            }
        }
    }
}

/// Not 0 if an argument points to labelled memory. This is not a label, but it makes the
/// caller stamp the call, so that [`after_call`] learns whether the callee took it. What is
/// checked is the rest of the object that the pointer points to, and the first bytes of what
/// pointers at its beginning point to: the buffers of `iconv` or of zlib's streams, the words of
/// a command line. `size`: see [`objects::load_in`]; the compiler may know the object, which is
/// then at `base`.
pub extern "C" fn pointed(at: u64, base: u64, size: u64) -> u32 {
    /// Where the object is not known.
    const FIRST_BYTES: u64 = 8;
    const MAX_CHECKED: u64 = 4096;
    const MAX_POINTERS: u64 = 8;
    let is_labelled = |at: u64, n| at < ADDR_LIMIT - MAX_CHECKED && !shadow::is_clean(at, n);
    if at >= ADDR_LIMIT - MAX_CHECKED {
        return 0;
    }
    let known = if size != 0 { Some((base, size)) } else { None };
    let object = known.or_else(|| objects::find(at).map(|o| (o.base, o.size)));
    let rest = object.and_then(|(base, size)| size.checked_sub(at.wrapping_sub(base)));
    let rest = rest.unwrap_or(0);
    if is_labelled(at, rest.clamp(FIRST_BYTES, MAX_CHECKED)) {
        return 1;
    }
    let mut places = (0..(rest / 8).min(MAX_POINTERS)).map(|i| at + 8 * i);
    // Safety: inside the object.
    let is_pointer_to_labels =
        |place: u64| is_labelled(unsafe { (place as *const u64).read_unaligned() }, FIRST_BYTES);
    u32::from(places.any(is_pointer_to_labels))
}

/// In the caller of a structure passed by value: remembers its address, if it has labels.
pub extern "C" fn byval_out(slot: u32, from: u64, bytes: u64) -> u32 {
    if slot as usize >= BYVAL_SLOTS || shadow::is_clean(from, bytes) {
        return 0;
    }
    tls().byval[slot as usize] = from;
    1 + slot
}

/// In the callee: copies the labels of the structure.
pub extern "C" fn byval_in(slot: u32, to: u64, bytes: u64) {
    if (slot as usize) < BYVAL_SLOTS {
        shadow::copy(to, tls().byval[slot as usize], bytes);
    }
}

/// `memcpy` and `memmove`: copies the labels.
pub extern "C" fn copy(dst: u64, src: u64, n: u64) {
    shadow::copy(dst, src, n);
}

/// `memset`.
pub extern "C" fn fill(dst: u64, label: u32, n: u64) {
    if label == 0 {
        return shadow::clear(dst, n);
    }
    for i in 0..n {
        shadow::store(dst + i, label, 8);
    }
}
