//! Random C++ programs: templates, exceptions, virtual calls, lambdas, RAII, containers and
//! strings of the standard library, streams.
//!
//! A program is some of the parts in `parts.cpp`, in random order, with random expressions,
//! types, operators and numbers in the places that are marked. All parts read the input.

use super::random::Random;

/// How many bytes a program reads.
pub const INPUT_LEN: u64 = 160;

const PARTS: &str = include_str!("parts.cpp");
const MIN_PARTS: u64 = 3;

const PRELUDE: &str = r#"#include <algorithm>
#include <array>
#include <cctype>
#include <compare>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <queue>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <typeinfo>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

using u64 = std::uint64_t;
static u64 sum = 0xcbf29ce484222325;
static void mix(u64 v) {
    sum = (sum ^ v) * 0x100000001b3;
    sum ^= sum >> 29;
}
static void mix(const std::string &text) {
    for (char c : text) mix(u64((unsigned char)c));
    mix(text.size());
}
struct Input {
    std::string bytes;
    std::size_t at = 0;
    u64 next() { return at < bytes.size() ? u64((unsigned char)bytes[at++]) : u64(at++ % 7); }
};
"#;

/// The program for a seed.
pub fn generate(seed: u64) -> String {
    let mut random = Random::new(seed ^ 0xc0ffee);
    let mut parts: Vec<(&str, &str)> = parts().collect();
    let count = MIN_PARTS + random.below(3);
    let mut program = PRELUDE.to_string();
    let mut names = Vec::new();
    for number in 0..count {
        let (name, text) = parts.swap_remove(random.below(parts.len() as u64) as usize);
        program += &format!("\nnamespace {name}_{number} {{\n{}}}\n", fill(text, &mut random));
        names.push(format!("{name}_{number}"));
    }
    program += "\nint main() {\n    Input in;\n";
    program += READERS[random.below(READERS.len() as u64) as usize];
    for name in names {
        program +=
            &format!("    {name}::run(in);\n    std::cout << \"{name} \" << sum << '\\n';\n");
    }
    program + "    return int(sum & 15);\n}\n"
}

/// Ways to read the whole input.
const READERS: [&str; 3] = [
    "    in.bytes.assign(std::istreambuf_iterator<char>(std::cin), {});\n",
    "    for (char c; std::cin.get(c);) in.bytes += c;\n",
    "    char block[32];\n    while (std::size_t n = std::fread(block, 1, sizeof block, stdin)) \
     in.bytes.append(block, n);\n",
];

/// The names and texts of all parts.
fn parts() -> impl Iterator<Item = (&'static str, &'static str)> {
    PARTS.split("\n//// ").skip(1).filter_map(|part| part.split_once('\n'))
}

/// Fills the marked places of a part.
fn fill(text: &str, random: &mut Random) -> String {
    let mut out = String::with_capacity(2 * text.len());
    let mut named: Vec<(String, String)> = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('@') {
        out.push_str(&rest[..at]);
        let mut chars = rest[at + 1..].chars();
        let kind = chars.next().unwrap_or('@');
        rest = chars.as_str();
        if let ('E' | 'C', Some((list, after))) = (kind, operands(rest)) {
            let values: Vec<&str> = list.split(',').collect();
            out.push_str(&match kind {
                'E' => expression(&values, 2, random),
                _ => condition(&values, random),
            });
            rest = after;
            continue;
        }
        let digit =
            rest.chars().next().filter(|c| matches!(kind, 'T' | 'S' | 'O') && c.is_ascii_digit());
        let choice = match digit {
            None => choose(kind, random),
            Some(digit) => {
                rest = &rest[1..];
                let name = format!("{kind}{digit}");
                match named.iter().find(|(known, _)| *known == name) {
                    Some((_, choice)) => choice.clone(),
                    None => {
                        let choice = choose(kind, random);
                        named.push((name, choice.clone()));
                        choice
                    }
                }
            }
        };
        out.push_str(&choice);
    }
    out + rest
}

/// What is in the parentheses that a text starts with, and what follows them.
fn operands(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 1 => return Some((&text[1..at], &text[at + 1..])),
            ')' => depth -= 1,
            _ if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

fn choose(kind: char, random: &mut Random) -> String {
    const OPERATORS: [&str; 6] = ["+", "-", "*", "^", "|", "&"];
    const RELATIONS: [&str; 6] = ["<", ">", "<=", ">=", "==", "!="];
    let mut pick = |from: &[&str]| from[random.below(from.len() as u64) as usize].to_string();
    match kind {
        'T' => format!("std::uint{}_t", pick(&["8", "16", "32", "64"])),
        'S' => format!("std::int{}_t", pick(&["8", "16", "32", "64"])),
        'O' => pick(&OPERATORS),
        'R' => pick(&RELATIONS),
        'N' => (2 + random.below(5)).to_string(),
        _ => random.below(256).to_string(),
    }
}

/// An expression in `u64`, where everything wraps around.
fn expression(values: &[&str], depth: u32, random: &mut Random) -> String {
    if depth == 0 || random.below(5) == 0 {
        return match random.below(3) {
            0 => format!("u64({})", random.below(256)),
            _ => format!("u64({})", values[random.below(values.len() as u64) as usize]),
        };
    }
    let (a, b) = (expression(values, depth - 1, random), expression(values, depth - 1, random));
    match random.below(10) {
        0 => format!("({a} / ({b} | 1))"),
        1 => format!("({a} % ({b} | 1))"),
        2 => format!("({a} << ({b} & 15))"),
        3 => format!("({a} >> ({b} & 31))"),
        4 => format!("({} ? {a} : {b})", condition(values, random)),
        _ => format!("(u64({a}) {} {b})", choose('O', random)),
    }
}

fn condition(values: &[&str], random: &mut Random) -> String {
    let (a, b) = (expression(values, 1, random), expression(values, 1, random));
    match random.below(3) {
        0 => format!("({a} % {} == {})", 2 + random.below(5), random.below(2)),
        1 => format!("({a} {} {})", choose('R', random), random.below(256)),
        _ => format!("({a} {} {b})", choose('R', random)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mark_is_filled_and_numbered_ones_agree() {
        for seed in 0..60 {
            let program = generate(seed);
            assert!(!program.contains('@'), "seed {seed}:\n{program}");
            assert_eq!(program, generate(seed));
        }
        let filled = fill("@T1 @T1 @T1 @T1 @T1 @T1", &mut Random::new(1));
        let types: Vec<&str> = filled.split(' ').collect();
        assert!(types.iter().all(|t| *t == types[0]), "{filled}");
        assert_eq!(operands("(f(a),b) x"), Some(("f(a),b", " x")));
    }

    #[test]
    fn all_parts_are_used() {
        let all: String = (0..60).map(generate).collect();
        assert!(parts().count() >= 12);
        for (name, _) in parts() {
            assert!(all.contains(&format!("namespace {name}_")), "{name}");
        }
    }
}
