//! The `va_list` of x86-64.

#[repr(C)]
#[derive(Clone, Copy)]
pub struct VaList {
    /// Offset of the next general register in the save area.
    general: u32,
    /// Offset of the next vector register in the save area.
    vector: u32,
    /// Address of the next argument on the stack.
    pub overflow: u64,
    pub save_area: u64,
}

/// Where the general and the vector registers end in the save area.
const GENERAL_END: u32 = 48;
const VECTOR_END: u32 = 176;

impl VaList {
    /// Takes an integer or a pointer.
    ///
    /// # Safety
    /// The next argument is one.
    pub unsafe fn next_general(&mut self) -> u64 {
        // Safety: the caller guarantees it.
        unsafe { *(self.place_of_general() as *const u64) }
    }

    /// Takes an integer or a pointer; returns where it is.
    pub fn place_of_general(&mut self) -> u64 {
        if self.general < GENERAL_END {
            self.general += 8;
            return self.save_area + u64::from(self.general) - 8;
        }
        self.overflow += 8;
        self.overflow - 8
    }

    /// Takes a `double`; returns where it is.
    pub fn place_of_double(&mut self) -> u64 {
        if self.vector < VECTOR_END {
            self.vector += 16;
            return self.save_area + u64::from(self.vector) - 16;
        }
        self.overflow += 8;
        self.overflow - 8
    }

    /// Takes a `long double`; returns where it is.
    pub fn place_of_long_double(&mut self) -> u64 {
        self.overflow = self.overflow.next_multiple_of(16) + 16;
        self.overflow - 16
    }
}
