//! The test suite of Test-Comp, the competition on software testing: `metadata.xml`, and for
//! each test the values that `__VERIFIER_nondet_*` returned, in their order
//! (test-suite format 1.1).

use super::Context;
use super::xml::escape;
use std::fmt::Write;
use std::io;
use std::path::Path;

/// A value that a call returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// The end of the function's name: `int`, `uchar`.
    pub kind: String,
    /// As C writes it.
    pub text: String,
}

pub struct TestSuite {
    /// The source file that has `main`, if it is known.
    pub program_file: String,
    /// The SHA-256 of this file, in hexadecimal; empty if it is not found.
    pub program_hash: String,
    /// For each test its values, and if it ends in an error.
    pub tests: Vec<(Vec<Value>, bool)>,
}

impl Value {
    /// Reads a line of the runtime's log: the name of the function, and the bits that it
    /// returned, in hexadecimal.
    pub fn parse(line: &str) -> Option<Value> {
        let (kind, bits) = line.split_once(' ')?;
        let bits = u128::from_str_radix(bits, 16).ok()?;
        let text = match kind {
            "char" | "s8" => (bits as i8).to_string(),
            "short" | "s16" => (bits as i16).to_string(),
            "int" | "s32" => (bits as i32).to_string(),
            "long" | "longlong" | "s64" | "ssize_t" | "loff_t" | "off_t" => {
                (bits as i64).to_string()
            }
            "int128" => (bits as i128).to_string(),
            "float" => float(f64::from(f32::from_bits(bits as u32))),
            "double" => float(f64::from_bits(bits as u64)),
            _ => bits.to_string(),
        };
        Some(Value { kind: kind.into(), text })
    }
}

/// The shortest text that has this value.
fn float(value: f64) -> String {
    match value {
        v if v.is_nan() => "NAN".into(),
        v if v.is_infinite() => (if v > 0.0 { "INFINITY" } else { "-INFINITY" }).into(),
        v => format!("{v:?}"),
    }
}

/// The type of a value, as C names it.
fn c_type(kind: &str) -> &str {
    match kind {
        "bool" => "_Bool",
        "uchar" => "unsigned char",
        "ushort" => "unsigned short",
        "uint" | "unsigned" => "unsigned int",
        "ulong" => "unsigned long",
        "longlong" => "long long",
        "ulonglong" => "unsigned long long",
        "pointer" => "void *",
        "pchar" | "charp" => "char *",
        "int128" => "__int128",
        "uint128" | "u128" => "unsigned __int128",
        other => other,
    }
}

/// Writes the suite into a directory, which must exist.
pub fn write(dir: &Path, suite: &TestSuite, context: &Context) -> io::Result<()> {
    std::fs::write(dir.join("metadata.xml"), metadata(suite, context))?;
    let width = suite.tests.len().to_string().len();
    for (i, (values, is_error)) in suite.tests.iter().enumerate() {
        let name = format!("testcase-{:0width$}.xml", i + 1);
        std::fs::write(dir.join(name), testcase(values, *is_error))?;
    }
    Ok(())
}

fn metadata(suite: &TestSuite, context: &Context) -> String {
    let entries = [
        ("sourcecodelang", "C".to_string()),
        ("producer", format!("Pleach {}", env!("CARGO_PKG_VERSION"))),
        ("specification", "COVER( init(main()), FQL(COVER EDGES(@DECISIONEDGE)) )".into()),
        ("programfile", suite.program_file.clone()),
        ("programhash", suite.program_hash.clone()),
        ("entryfunction", "main".into()),
        ("architecture", "64bit".into()),
        ("creationtime", utc(context.now)),
    ];
    let mut out = head("test-metadata");
    for (name, value) in entries {
        let _ = writeln!(out, "  <{name}>{}</{name}>", escape(&value));
    }
    out + "</test-metadata>\n"
}

fn testcase(values: &[Value], is_error: bool) -> String {
    let mut out = head("testcase");
    if is_error {
        out = out.replace("<testcase>\n", "<testcase coversError=\"true\">\n");
    }
    for Value { kind, text } in values {
        let _ =
            writeln!(out, r#"  <input type="{}">{}</input>"#, escape(c_type(kind)), escape(text));
    }
    out + "</testcase>\n"
}

fn head(root: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n\
         <!DOCTYPE {root} PUBLIC \"+//IDN sosy-lab.org//DTD test-format {root} 1.1//EN\" \
         \"https://sosy-lab.org/test-format/{root}-1.1.dtd\">\n<{root}>\n"
    )
}

/// `2026-11-18T21:05:12Z`
fn utc(seconds: u64) -> String {
    let (days, time) = (seconds / 86_400, seconds % 86_400);
    // Civil date from a number of days, by eras of 400 years that begin in March.
    let z = days + 719_468;
    let (era, day) = (z / 146_097, z % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    let (hour, minute, second) = (time / 3600, time / 60 % 60, time % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_as_c_writes_them() {
        let of = |line| Value::parse(line).map(|v| v.text);
        assert_eq!(of("char ff").as_deref(), Some("-1"));
        assert_eq!(of("uchar ff").as_deref(), Some("255"));
        assert_eq!(of("int ffffffff80000000").as_deref(), Some("-2147483648"));
        assert_eq!(of("double 3ff8000000000000").as_deref(), Some("1.5"));
        assert_eq!(of("int128 ffffffffffffffffffffffffffffffff").as_deref(), Some("-1"));
        assert_eq!(of("int"), None);
    }

    #[test]
    fn dates_are_right() {
        assert_eq!(utc(0), "1970-01-01T00:00:00Z");
        assert_eq!(utc(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(utc(1_795_035_912), "2026-11-18T21:05:12Z");
    }
}
