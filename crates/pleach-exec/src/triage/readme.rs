//! The text beside the crashes that tells how to run one again.

use std::ffi::{OsStr, OsString};

/// `README.txt` of a directory of crashes. `program` is the program with its arguments, as
/// the user gave them; `flags` are further options of `pleach replay`.
pub fn readme(program: &[OsString], flags: &[OsString], container: bool) -> String {
    let all = command(program);
    let flags: String = flags.iter().map(|f| format!("{} ", quoted(f))).collect();
    let mut text = format!(
        "Each file here is an input on which the program crashed, one for each kind of\n\
         crash and place. The name says which signal (sig:) and how the input was found.\n\
         \n\
         To run one again and see the kind, the stack and the output:\n\
         \n    pleach replay --show-output {flags}FILE -- {all}\n"
    );
    if !container {
        let line = by_hand(program, OsStr::new("FILE"));
        text += &format!("\nWithout Pleach:\n\n    {line}\n");
    }
    text += &format!(
        "\nTo shrink one, as long as it shows the same crash:\n\
         \n    pleach tmin {flags}-i FILE -o SMALL -- {all}\n"
    );
    text
}

/// The command that runs the program on one input, for a shell.
pub fn by_hand(program: &[OsString], input: &OsStr) -> String {
    use std::os::unix::ffi::OsStrExt;
    let names_input = program.iter().skip(1).any(|a| a.as_bytes().windows(2).any(|w| w == b"@@"));
    let file = quoted(input);
    let parts: Vec<_> = program.iter().map(|a| quoted(a).replace("@@", &file)).collect();
    match names_input {
        true => parts.join(" "),
        false => format!("{} <{file}", parts.join(" ")),
    }
}

fn command(program: &[OsString]) -> String {
    program.iter().map(|a| quoted(a)).collect::<Vec<_>>().join(" ")
}

/// An argument, quoted for a shell if necessary.
pub fn quoted(arg: &OsStr) -> String {
    let text = arg.to_string_lossy();
    let plain = |c: char| c.is_alphanumeric() || "@%+=:,./-_".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text.into_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_can_be_pasted() {
        let program = ["./my prog", "-x", "@@"].map(OsString::from);
        let text = readme(&program, &["-t".into(), "500".into()], false);
        assert!(text.contains("pleach replay --show-output -t 500 FILE -- './my prog' -x @@\n"));
        assert!(text.contains("    './my prog' -x FILE\n"), "{text}");
        assert!(text.contains("pleach tmin -t 500 -i FILE -o SMALL -- './my prog' -x @@\n"));
        assert!(!readme(&program, &[], true).contains("Without Pleach"));
        let stdin = ["./calc"].map(OsString::from);
        assert_eq!(by_hand(&stdin, OsStr::new("a'b")), r"./calc <'a'\''b'");
    }
}
