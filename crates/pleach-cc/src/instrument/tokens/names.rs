//! Common names of token functions.
//!
//! A wrong guess does no harm: the border is inactive unless a run works on tokens, and
//! `pleach tokens` shows what was found. The list leaves out names that mostly mean
//! something else (`next`, `read`, `advance`, `peek`). Names are those of the source,
//! in C++ without scope.

/// A name, and where it is used.
const NAMES: &[(&str, &str)] = &[
    ("lex", "hand-written lexers, and Unix programs before flex"),
    ("llex", "Lua"),
    ("scan", "hand-written scanners"),
    ("token", "the classic recursive-descent calculators"),
    ("gettoken", "K&R, and shells after it"),
    ("get_token", "the same, in newer programs"),
    ("getToken", "the same, in C++"),
    ("GetToken", "the same, where functions have capitals"),
    ("gettok", "LLVM's tutorial and programs based on it"),
    ("get_tok", "the same, in newer programs"),
    ("nexttoken", "hand-written lexers"),
    ("next_token", "hand-written lexers"),
    ("nextToken", "the same, in C++; ANTLR's lexers"),
    ("NextToken", "the same, where functions have capitals"),
    ("next_tok", "hand-written lexers"),
    ("read_token", "bash"),
    ("scan_token", "Lox and programs based on it"),
    ("scanToken", "the same"),
    ("lex_token", "hand-written lexers"),
    ("tokenize_next", "hand-written lexers"),
];

/// `yylex`, and the names that `%define api.prefix` or `flex -P` make. The prefix mostly
/// ends with an underscore or with `yy` (`jq_yylex`, `jsY_lex`).
const SUFFIXES: [&str; 2] = ["yylex", "_lex"];

pub fn is_token_function(name: &str) -> bool {
    NAMES.iter().any(|(n, _)| *n == name) || SUFFIXES.iter().any(|e| name.ends_with(e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lexers_are_recognised_and_their_helpers_are_not() {
        for name in ["yylex", "jq_yylex", "jsY_lex", "llex", "nextToken", "gettok", "lex"] {
            assert!(is_token_function(name), "{name}");
        }
        for name in ["yylex_init", "yylex_destroy", "yyparse", "complex", "flex", "tokens", "next"]
        {
            assert!(!is_token_function(name), "{name}");
        }
    }
}
