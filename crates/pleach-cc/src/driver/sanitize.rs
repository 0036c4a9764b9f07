//! `-fsanitize=fuzzer` is the one sanitizer that we replace: coverage is ours,
//! and the link brings our own `main` for `LLVMFuzzerTestOneInput`. All others
//! go to the fast half as they are, but for control flow integrity: clang has
//! it only with link time optimisation, which we leave out.

use super::options::Flag;

/// Takes the fuzzer out of a `-fsanitize=` or `-fno-sanitize=` option and keeps
/// track of whether it is on; false if nothing of the option is left.
pub fn without_fuzzer(flag: &mut Flag, fuzzer: &mut bool) -> bool {
    let Some((head, on)) = parts(flag) else { return true };
    keep(flag, head, |kind| {
        match (kind, on) {
            ("fuzzer", _) => *fuzzer = on,
            ("all", false) => *fuzzer = false,
            _ => {}
        }
        kind != "fuzzer" && kind != "fuzzer-no-link"
    })
}

/// Takes out what needs link time optimisation; false if nothing is left.
pub fn without_cfi(flag: &mut Flag) -> bool {
    let Some((head, _)) = parts(flag) else { return true };
    keep(flag, head, |kind| kind != "cfi" && !kind.starts_with("cfi-"))
}

fn parts(flag: &Flag) -> Option<(&'static str, bool)> {
    [("-fsanitize=", true), ("-fno-sanitize=", false)]
        .into_iter()
        .find(|(head, _)| flag.name().starts_with(head))
}

fn keep(flag: &mut Flag, head: &str, mut wanted: impl FnMut(&str) -> bool) -> bool {
    let kinds = flag.name()[head.len()..].split(',');
    let kept: Vec<&str> = kinds.filter(|k| wanted(k)).collect();
    let (any, text) = (!kept.is_empty(), format!("{head}{}", kept.join(",")));
    flag.text = text.into();
    any
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_fuzzer_goes() {
        let mut on = false;
        let mut check = |text: &str, left: Option<&str>, expected: bool| {
            let mut flag = Flag::new(text);
            let kept = without_fuzzer(&mut flag, &mut on);
            assert_eq!(kept.then(|| flag.name().to_owned()).as_deref(), left, "{text}");
            assert_eq!(on, expected, "{text}");
        };
        check("-fsanitize=address,undefined", Some("-fsanitize=address,undefined"), false);
        check("-fsanitize=fuzzer-no-link", None, false);
        check("-fsanitize=fuzzer", None, true);
        check("-fno-sanitize=vptr", Some("-fno-sanitize=vptr"), true);
        check("-fno-sanitize=fuzzer", None, false);
        check("-fsanitize=fuzzer,address", Some("-fsanitize=address"), true);
        check("-fno-sanitize=all", Some("-fno-sanitize=all"), false);
        check("-fsanitize-recover=all", Some("-fsanitize-recover=all"), false);
    }

    #[test]
    fn control_flow_integrity_goes() {
        let mut flag = Flag::new("-fsanitize=cfi-icall,address,cfi");
        assert!(without_cfi(&mut flag));
        assert_eq!(flag.name(), "-fsanitize=address");
        assert!(!without_cfi(&mut Flag::new("-fsanitize=cfi")));
    }
}
