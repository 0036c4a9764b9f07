//! The functions of the machine's libm: those that a target calls.
//!
//! Their results are not defined to the last bit. Rust links its own version of some of
//! them, which differ from glibc's. So they are looked up in the shared library at the
//! first call. There is no other code here.

use std::ffi::CStr;
use std::sync::OnceLock;

macro_rules! functions {
    ($table:ident, $kind:ident, $double:ty, $float:ty; $($name:ident $text:literal $single:literal;)*) => {
        /// A function of libm.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $kind { $($name,)* }

        struct $table {
            doubles: Vec<Option<$double>>,
            floats: Vec<Option<$float>>,
        }

        impl $table {
            fn get() -> &'static $table {
                static TABLE: OnceLock<$table> = OnceLock::new();
                TABLE.get_or_init(|| $table {
                    // Safety: the functions of C have these types.
                    doubles: vec![$(find($text).map(|at| unsafe {
                        std::mem::transmute::<*mut libc::c_void, $double>(at)
                    }),)*],
                    // Safety: as above.
                    floats: vec![$(find($single).map(|at| unsafe {
                        std::mem::transmute::<*mut libc::c_void, $float>(at)
                    }),)*],
                })
            }
        }
    };
}

functions! {
    Unaries, Unary, extern "C" fn(f64) -> f64, extern "C" fn(f32) -> f32;
    Sin c"sin" c"sinf";
    Cos c"cos" c"cosf";
    Tan c"tan" c"tanf";
    Asin c"asin" c"asinf";
    Acos c"acos" c"acosf";
    Atan c"atan" c"atanf";
    Sinh c"sinh" c"sinhf";
    Cosh c"cosh" c"coshf";
    Tanh c"tanh" c"tanhf";
    Asinh c"asinh" c"asinhf";
    Acosh c"acosh" c"acoshf";
    Atanh c"atanh" c"atanhf";
    Exp c"exp" c"expf";
    Exp2 c"exp2" c"exp2f";
    Exp10 c"exp10" c"exp10f";
    Expm1 c"expm1" c"expm1f";
    Log c"log" c"logf";
    Log2 c"log2" c"log2f";
    Log10 c"log10" c"log10f";
    Log1p c"log1p" c"log1pf";
    Cbrt c"cbrt" c"cbrtf";
    Erf c"erf" c"erff";
    Erfc c"erfc" c"erfcf";
    Gamma c"tgamma" c"tgammaf";
}

functions! {
    Binaries, Binary, extern "C" fn(f64, f64) -> f64, extern "C" fn(f32, f32) -> f32;
    Pow c"pow" c"powf";
    Atan2 c"atan2" c"atan2f";
    Hypot c"hypot" c"hypotf";
    Remainder c"remainder" c"remainderf";
    NextAfter c"nextafter" c"nextafterf";
    Dim c"fdim" c"fdimf";
}

impl Unary {
    /// The result for a `double`.
    pub fn double(self, x: f64) -> f64 {
        Unaries::get().doubles[self as usize].map_or(f64::NAN, |f| f(x))
    }

    /// The result for a `float`.
    pub fn single(self, x: f32) -> f32 {
        Unaries::get().floats[self as usize].map_or(f32::NAN, |f| f(x))
    }
}

impl Binary {
    /// The result for two `double`s.
    pub fn double(self, x: f64, y: f64) -> f64 {
        Binaries::get().doubles[self as usize].map_or(f64::NAN, |f| f(x, y))
    }

    /// The result for two `float`s.
    pub fn single(self, x: f32, y: f32) -> f32 {
        Binaries::get().floats[self as usize].map_or(f32::NAN, |f| f(x, y))
    }
}

/// The address of a function in the shared library.
fn find(name: &CStr) -> Option<*mut libc::c_void> {
    // Safety: plain calls with strings; the library is never closed.
    unsafe {
        let library = libc::dlopen(c"libm.so.6".as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
        if library.is_null() {
            return None;
        }
        Some(libc::dlsym(library, name.as_ptr())).filter(|at| !at.is_null())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_is_found() {
        assert!(Unaries::get().doubles.iter().all(Option::is_some));
        assert!(Unaries::get().floats.iter().all(Option::is_some));
        assert!(Binaries::get().doubles.iter().all(Option::is_some));
        assert!(Binaries::get().floats.iter().all(Option::is_some));
    }

    #[test]
    fn results_are_right() {
        assert_eq!(Unary::Exp.double(0.0), 1.0);
        assert_eq!(Unary::Log10.single(1000.0), 3.0);
        assert_eq!(Binary::Pow.double(7.0, 2.0), 49.0);
        assert_eq!(Binary::Remainder.double(5.0, 3.0), -1.0);
    }
}
