//! Names that token functions have.
//!
//! A name is no proof, and need not be one: the border is dormant unless a run works
//! on tokens, and `pleach tokens` shows what was found. So the list has what people
//! call such functions, and leaves out what mostly means something else (`next`,
//! `read`, `advance`, `peek`). Names are the source's own, in C++ without scope.

/// Name, and whose it is.
const NAMES: &[(&str, &str)] = &[
    ("lex", "hand-written lexers, and Unix programs before flex"),
    ("llex", "Lua"),
    ("scan", "hand-written scanners"),
    ("token", "the classic recursive-descent calculators"),
    ("gettoken", "K&R, and shells after it"),
    ("get_token", "the same, later"),
    ("getToken", "the same, in C++"),
    ("GetToken", "the same, where functions have capitals"),
    ("gettok", "LLVM's tutorial and its many children"),
    ("get_tok", "the same, later"),
    ("nexttoken", "hand-written lexers"),
    ("next_token", "hand-written lexers"),
    ("nextToken", "the same, in C++; ANTLR's lexers"),
    ("NextToken", "the same, where functions have capitals"),
    ("next_tok", "hand-written lexers"),
    ("read_token", "bash"),
    ("scan_token", "Lox and what was made after it"),
    ("scanToken", "the same"),
    ("lex_token", "hand-written lexers"),
    ("tokenize_next", "hand-written lexers"),
];

/// `yylex`; with `%define api.prefix` or `flex -P` whatever comes before `lex`, which
/// people end with an underscore or with `yy` (`jq_yylex`, `jsY_lex`).
const ENDINGS: [&str; 2] = ["yylex", "_lex"];

pub fn is_token_function(name: &str) -> bool {
    NAMES.iter().any(|(n, _)| *n == name) || ENDINGS.iter().any(|e| name.ends_with(e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lexers_are_known_and_their_helpers_are_not() {
        for name in ["yylex", "jq_yylex", "jsY_lex", "llex", "nextToken", "gettok", "lex"] {
            assert!(is_token_function(name), "{name}");
        }
        for name in ["yylex_init", "yylex_destroy", "yyparse", "complex", "flex", "tokens", "next"]
        {
            assert!(!is_token_function(name), "{name}");
        }
    }
}
