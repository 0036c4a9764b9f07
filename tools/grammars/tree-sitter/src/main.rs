//! Says of texts whether a parser of tree-sitter takes them: `accept LANGUAGE`.
//! Each text comes on the standard input behind its length (four bytes, the lowest
//! first), and gets a line, `yes` or `no`.

use std::io::{self, Read};
use std::process::ExitCode;

fn main() -> ExitCode {
    let name = std::env::args().nth(1).unwrap_or_default();
    let language = match name.as_str() {
        "c" => tree_sitter_c::LANGUAGE,
        "cpp" => tree_sitter_cpp::LANGUAGE,
        "css" => tree_sitter_css::LANGUAGE,
        "go" => tree_sitter_go::LANGUAGE,
        "java" => tree_sitter_java::LANGUAGE,
        "javascript" => tree_sitter_javascript::LANGUAGE,
        "json" => tree_sitter_json::LANGUAGE,
        "lua" => tree_sitter_lua::LANGUAGE,
        "regex" => tree_sitter_regex::LANGUAGE,
        "rust" => tree_sitter_rust::LANGUAGE,
        "toml" => tree_sitter_toml_ng::LANGUAGE,
        _ => {
            eprintln!("accept: there is no language {name:?} here");
            return ExitCode::from(2);
        }
    };
    let mut parser = tree_sitter::Parser::new();
    if let Err(problem) = parser.set_language(&language.into()) {
        eprintln!("accept: {problem}");
        return ExitCode::from(2);
    }
    let mut length = [0; 4];
    while io::stdin().read_exact(&mut length).is_ok() {
        let mut text = vec![0; u32::from_le_bytes(length) as usize];
        if io::stdin().read_exact(&mut text).is_err() {
            return ExitCode::from(2);
        }
        let tree = parser.parse(&text, None);
        let accepted = tree.is_some_and(|tree| !tree.root_node().has_error());
        println!("{}", if accepted { "yes" } else { "no" });
    }
    ExitCode::SUCCESS
}
