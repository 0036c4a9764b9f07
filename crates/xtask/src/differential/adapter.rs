//! Makes a csmith program read its global variables from standard input.
//!
//! A csmith program reads no input, so nothing in it would be symbolic. But it computes
//! everything from its globals. So the adapted program first reads them, in the order of
//! their declarations. A global that the input does not reach keeps its initialiser.
//!
//! Only integers and arrays of integers are read. Constants could be written only through
//! a cast, pointers would point anywhere, and a union can contain a pointer. Csmith
//! guarantees defined behaviour only for its own initialisers. With other values it holds
//! nearly always, so the comparison asks the sanitizers first.

use std::fmt::Write;

/// An adapted program.
pub struct Adapted {
    pub source: String,
    /// The size of all these globals: the length of a complete input.
    pub input_len: usize,
}

/// Larger arrays keep their initialisers. They would make inputs long, and traces no
/// more interesting.
const MAX_ARRAY_BYTES: usize = 256;

/// `None` if no global can be read, or if this is not a csmith program.
pub fn adapt(source: &str) -> Option<Adapted> {
    let globals: Vec<Global> = source.lines().filter_map(Global::parse).collect();
    let include = source.find("#include \"csmith.h\"")?;
    let main = source.find("\nint main (")?;
    let begin = "platform_main_begin();";
    let start = main + source[main..].find(begin)? + begin.len();
    if globals.is_empty() {
        return None;
    }

    let mut out = String::with_capacity(source.len() + 4096);
    out.push_str(&source[..include]);
    out.push_str("#include <unistd.h>\n");
    out.push_str(&source[include..main]);
    out.push_str(TAKE);
    out.push_str("static void feed_globals(void)\n{\n");
    for global in &globals {
        let Global { name, base, .. } = global;
        // Writing to a String cannot fail.
        let _ = if global.is_array {
            writeln!(out, "    (void)take({name}, sizeof {name});")
        } else {
            writeln!(out, "    {{ {base} v; if (take(&v, sizeof v)) {name} = v; }}")
        };
    }
    out.push_str("}\n");
    out.push_str(&source[main..start]);
    out.push_str("\n    feed_globals();");
    out.push_str(&source[start..]);
    let input_len = globals.iter().map(|g| g.size).sum();
    Some(Adapted { source: out, input_len })
}

const TAKE: &str = "
static int take(void *to, unsigned long size)
{
    unsigned char *at = to;

    while (size > 0) {
        long n = read(0, at, size);

        if (n <= 0)
            return 0;
        at += n;
        size -= (unsigned long)n;
    }
    return 1;
}
";

struct Global<'a> {
    name: &'a str,
    base: &'a str,
    is_array: bool,
    size: usize,
}

impl<'a> Global<'a> {
    /// Csmith writes one declaration on each line: `static volatile int32_t g_87 = …;` or
    /// `static int32_t g_98[10] = {…};`.
    fn parse(line: &'a str) -> Option<Global<'a>> {
        let declaration = line.strip_prefix("static ")?.split_once(" = ")?.0;
        let (volatile, declaration) = match declaration.strip_prefix("volatile ") {
            Some(rest) => (true, rest),
            None => (false, declaration),
        };
        let (base, declarator) = declaration.split_once(' ')?;
        let width = match base {
            "int8_t" | "uint8_t" => 1,
            "int16_t" | "uint16_t" => 2,
            "int32_t" | "uint32_t" => 4,
            "int64_t" | "uint64_t" => 8,
            _ => return None,
        };
        let (name, dimensions) = match declarator.split_once('[') {
            Some((name, rest)) => (name, rest.strip_suffix(']')?.split("][").collect()),
            None => (declarator, Vec::new()),
        };
        if !name.starts_with("g_") || !name[2..].bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let mut size: usize = width;
        for dimension in &dimensions {
            size = size.checked_mul(dimension.parse().ok()?)?;
        }
        let is_array = !dimensions.is_empty();
        if is_array && (volatile || size > MAX_ARRAY_BYTES) {
            return None;
        }
        Some(Global { name, base, is_array, size })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = "\
#include \"csmith.h\"
static uint64_t g_2 = 0x1009D434678DC2A8LL;
static volatile int16_t g_15 = 1L;/* VOLATILE GLOBAL g_15 */
static const int32_t g_81 = (-5L);
static int32_t *g_82 = &g_81;
static int32_t * volatile g_112[4][3] = {{0}};
static int32_t g_98[2][3] = {{0L,0L,0L},{0L,0L,0L}};
static int64_t g_99[10][10] = {{0L}};
static union U2 g_130 = {0x164AA8A3L};

int main (int argc, char* argv[])
{
    platform_main_begin();
    return 0;
}
";

    #[test]
    fn only_integers_and_arrays_of_integers_are_read() {
        let adapted = adapt(PROGRAM).unwrap();
        let fed: Vec<&str> = adapted.source.lines().filter(|l| l.contains("take(")).collect();
        assert_eq!(
            fed,
            [
                "static int take(void *to, unsigned long size)",
                "    { uint64_t v; if (take(&v, sizeof v)) g_2 = v; }",
                "    { int16_t v; if (take(&v, sizeof v)) g_15 = v; }",
                "    (void)take(g_98, sizeof g_98);",
            ]
        );
        assert_eq!(adapted.input_len, 8 + 2 + 24);
        assert!(adapted.source.contains("platform_main_begin();\n    feed_globals();"));
    }

    #[test]
    fn a_program_without_integers_is_refused() {
        assert!(adapt("#include \"csmith.h\"\nint main (void)\n{\n}\n").is_none());
        assert!(adapt("").is_none());
    }
}
