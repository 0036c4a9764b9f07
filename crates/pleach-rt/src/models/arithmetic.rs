//! Functions of integer arithmetic: absolute values, quotients with remainders, the first
//! bit set, network byte order.
#![allow(clashing_extern_declarations, reason = "models see pointers as numbers")]

use super::api::{V, enter};
use super::define::models;
use crate::symbolic::tls::tls;
use crate::symbolic::{arena, events};
use pleach_abi::node::{Node, Op};

mod real {
    unsafe extern "C" {
        pub fn div(n: i32, by: i32) -> u64;
        pub fn ldiv(n: i64, by: i64) -> super::Parts;
    }
}

models! {
    fn abs(n: i32) -> i32 {
        absolute(n)
    }
    fn labs(n: i64) -> i64 {
        absolute(n)
    }
    fn llabs(n: i64) -> i64 {
        absolute(n)
    }
    fn imaxabs(n: i64) -> i64 {
        absolute(n)
    }

    fn ffs(n: i32) -> i32 {
        first_set(n)
    }
    fn ffsl(n: i64) -> i32 {
        first_set(n)
    }
    fn ffsll(n: i64) -> i32 {
        first_set(n)
    }

    fn htons(n: u16) -> u16 {
        swap_bytes(n)
    }
    fn ntohs(n: u16) -> u16 {
        swap_bytes(n)
    }
    fn htonl(n: u32) -> u32 {
        swap_bytes(n)
    }
    fn ntohl(n: u32) -> u32 {
        swap_bytes(n)
    }

    /// Both parts are returned in one register, the quotient in the low half.
    fn div(n: i32, by: i32) -> u64 {
        let both = real::div(n.val as i32, by.val as i32);
        let (quotient, remainder) = label_division(n, by, both & 0xffff_ffff, both >> 32);
        quotient.zext(64).or(remainder.zext(64).mul(V::new(64, 1 << 32)))
    }
}

/// `ldiv_t` and its like.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Parts {
    quotient: i64,
    remainder: i64,
}

macro_rules! wide_quotients {
    ($($name:ident)*) => {$(
        /// # Safety
        /// As the C function of that name. A structure has a label for each part.
        #[unsafe(export_name = concat!("__pleach_m_", stringify!($name)))]
        pub unsafe extern "C" fn $name(n: i64, by: i64) -> Parts {
            let me = $name as *const () as usize;
            let [n_label, by_label] = enter(me);
            // Safety: the caller guarantees it; it traps where the C function does.
            let both = unsafe { real::ldiv(n, by) };
            let (quotient, remainder) = label_division(
                V::arg(n_label, 64, n as u64),
                V::arg(by_label, 64, by as u64),
                both.quotient as u64,
                both.remainder as u64,
            );
            if quotient.label | remainder.label != 0 {
                let t = tls();
                (t.rets[0], t.rets[1]) = (quotient.label, remainder.label);
                t.ret_stamp = me as u64;
            }
            both
        }
    )*};
}

wide_quotients!(ldiv lldiv imaxdiv);

/// Adds the labels to a quotient and a remainder; checks a labelled divisor.
fn label_division(n: V, by: V, quotient: u64, remainder: u64) -> (V, V) {
    let mut parts = [V::new(n.width, quotient), V::new(n.width, remainder)];
    if n.label | by.label != 0 {
        if by.label != 0 {
            events::divisor(tls().site, by.label);
        }
        let imm = if n.label == 0 { n.val } else { by.val };
        for (part, op) in parts.iter_mut().zip([Op::SDiv, Op::SRem]) {
            part.label = arena::binary(op, n.width, n.label, by.label, imm, part.val);
        }
    }
    (parts[0], parts[1])
}

fn absolute(n: V) -> V {
    let zero = V::new(n.width, 0);
    n.slt(zero).choose(zero.sub(n), n)
}

fn unary(op: Op, n: V, val: u64) -> V {
    let mut r = V::new(n.width, val);
    if n.label != 0 {
        let node = Node { op: op as u8, width: n.width as u8, a: n.label, val, ..Node::default() };
        r.label = arena::push(node);
    }
    r
}

fn first_set(n: V) -> V {
    let zeros = n.val.trailing_zeros().min(n.width);
    let place = unary(Op::Cttz, n, zeros.into()).add(V::new(n.width, 1));
    let zero = V::new(n.width, 0);
    n.eq(zero).choose(zero, place).trunc(32)
}

fn swap_bytes(n: V) -> V {
    unary(Op::Bswap, n, n.val.swap_bytes() >> (64 - n.width))
}
