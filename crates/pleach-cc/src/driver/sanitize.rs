//! Sanitizer options that Pleach changes.
//!
//! `-fsanitize=fuzzer` is replaced: Pleach has its own coverage, and the link adds
//! a `main` that calls `LLVMFuzzerTestOneInput`. Control flow integrity is removed
//! together with `-flto`, because clang supports it only with link-time
//! optimisation. All other sanitizers go to the fast half unchanged.

use super::options::Flag;

/// Removes the fuzzer from a `-fsanitize=` or `-fno-sanitize=` option and records
/// in `fuzzer` whether it is on. False if nothing of the option is left.
pub fn remove_fuzzer(flag: &mut Flag, fuzzer: &mut bool) -> bool {
    let Some((head, on)) = sanitizer_option(flag) else { return true };
    retain_kinds(flag, head, |kind| {
        match (kind, on) {
            ("fuzzer", _) => *fuzzer = on,
            ("all", false) => *fuzzer = false,
            _ => {}
        }
        kind != "fuzzer" && kind != "fuzzer-no-link"
    })
}

/// Removes control flow integrity. False if nothing of the option is left.
pub fn remove_cfi(flag: &mut Flag) -> bool {
    let Some((head, _)) = sanitizer_option(flag) else { return true };
    retain_kinds(flag, head, |kind| kind != "cfi" && !kind.starts_with("cfi-"))
}

/// The option without its list, and true if it turns sanitizers on.
fn sanitizer_option(flag: &Flag) -> Option<(&'static str, bool)> {
    [("-fsanitize=", true), ("-fno-sanitize=", false)]
        .into_iter()
        .find(|(head, _)| flag.name().starts_with(head))
}

fn retain_kinds(flag: &mut Flag, head: &str, mut is_kept: impl FnMut(&str) -> bool) -> bool {
    let kinds = flag.name()[head.len()..].split(',');
    let kept: Vec<&str> = kinds.filter(|k| is_kept(k)).collect();
    let (any, text) = (!kept.is_empty(), format!("{head}{}", kept.join(",")));
    flag.text = text.into();
    any
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_fuzzer_is_removed() {
        let mut on = false;
        let mut check = |text: &str, left: Option<&str>, expected: bool| {
            let mut flag = Flag::new(text);
            let kept = remove_fuzzer(&mut flag, &mut on);
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
    fn control_flow_integrity_is_removed() {
        let mut flag = Flag::new("-fsanitize=cfi-icall,address,cfi");
        assert!(remove_cfi(&mut flag));
        assert_eq!(flag.name(), "-fsanitize=address");
        assert!(!remove_cfi(&mut Flag::new("-fsanitize=cfi")));
    }
}
