//! Why a branch is not taken, in words.

use pleach_campaign::run::{Guard, Loss, Place, Reason};
use pleach_exec::triage::readable;
use pleach_search::BranchId;

/// A reason for the page.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Words {
    /// One of the classes that the page knows.
    pub class: &'static str,
    pub text: String,
    /// The branch that the text is about.
    pub guard: Option<BranchId>,
}

/// Puts a reason into words. `function`: the function of the branch.
pub fn words(reason: &Reason, function: &str) -> Words {
    let of = |class, text: String| Words { class, text, guard: None };
    match reason {
        Reason::Taken => of("taken", String::new()),
        Reason::Refuted { paths, pinned, pin } => {
            let mut text = match paths {
                1 => "no input takes it on the one path that was tried".to_string(),
                n => format!("no input takes it on any of the {n} paths that were tried"),
            };
            if *pinned > 0 {
                let which = match (*paths, *pinned) {
                    (1, _) => "it".into(),
                    (paths, pinned) if paths == pinned => "each of them".into(),
                    (_, pinned) => format!("{pinned} of them"),
                };
                let at = pin.as_ref().map_or(String::new(), |pin| format!(" ({})", place(pin)));
                text += &format!(
                    "; on {which} an address was held at its value{at}, so it may be \
                     possible with another"
                );
            }
            of("refuted", text)
        }
        Reason::NeverAsked => {
            of("asked", "it depends on the input, but the search did not ask for it".into())
        }
        Reason::Fixed => of(
            "fixed",
            "it depends only on parts of the input that the grammar does not let change".into(),
        ),
        Reason::Unsolved { paths, unknown, relaxed, refuted } => {
            let counts = [
                (unknown, "the solver gave up"),
                (relaxed, "it found an input only without some conditions"),
                (refuted, "there is none"),
            ];
            let parts: Vec<String> = counts
                .into_iter()
                .filter(|(n, _)| **n > 0)
                .map(|(n, what)| format!("on {n} {what}"))
                .collect();
            let tried =
                if *paths == 1 { "1 path was".into() } else { format!("{paths} paths were") };
            of("unsolved", format!("{tried} tried: {}", parts.join(", ")))
        }
        Reason::Missed { solved, missed } => {
            let inputs = if *solved == 1 { "an input".into() } else { format!("{solved} inputs") };
            let text = match missed {
                0 => format!("the solver found {inputs}, and none has run to here yet"),
                _ => format!("the solver found {inputs}, but the runs took another way"),
            };
            of("missed", text)
        }
        Reason::Folded => of(
            "folded",
            "the compiler removed this side of the branch from the program that runs".into(),
        ),
        Reason::Lost(loss) => of("lost", lost(loss)),
        Reason::Decided => of(
            "decided",
            "its condition is a value that the run has decided on before, at another place".into(),
        ),
        Reason::Proved => of("refuted", "the compiler has proved that it is never taken".into()),
        Reason::Concrete => {
            let text = "in the traces its condition was not computed from the input; it may still \
                        depend on the way that the run took";
            of("concrete", text.into())
        }
        Reason::NotTraced => {
            of("untraced", "inputs reach the condition, but no trace of them came that far".into())
        }
        Reason::Unreached(guard) => unreached(guard, function),
    }
}

fn unreached(guard: &Guard, function: &str) -> Words {
    let (text, guard) = match guard {
        Guard::Branch { branch, .. } => {
            ("no input reaches it; the nearest reached branch on the way is".into(), Some(*branch))
        }
        Guard::NoReturn(branch) => {
            ("no input reaches it: a call did not return on the way from".into(), Some(*branch))
        }
        Guard::NotCalled => (
            format!(
                "no input reaches it: nothing calls {function} by its name; it may be called through a pointer"
            ),
            None,
        ),
        Guard::Entry => {
            ("no input reaches it: the program ended before, and not at a branch".into(), None)
        }
    };
    Words { class: "unreached", text, guard }
}

fn lost(loss: &Loss) -> String {
    let Loss { cause, function, place: at } = loss;
    let at = at.as_ref().map_or(String::new(), |at| format!(" at {}", place(at)));
    match (*cause, function) {
        ("unmodelled", Some(name)) => {
            format!(
                "it depends on the result of {}, which has no model, called{at}",
                readable(name)
            )
        }
        ("unmodelled", None) => {
            format!("it depends on the result of a function without a model, called{at}")
        }
        ("pinned", _) => {
            format!("it depends on what was read{at}, where the address was held at its value")
        }
        ("float", _) => {
            "it depends on floating point that is concrete, such as `long double`".into()
        }
        ("healed", _) => {
            "it depends on memory that a function without a model has overwritten".into()
        }
        (other, _) => format!("it depends on a value whose dependence was lost ({other}){at}"),
    }
}

fn place(place: &Place) -> String {
    let file = place.file.rsplit('/').next().unwrap_or(&place.file);
    format!("{file}:{} in {}", place.line, readable(&place.function))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_has_words() {
        let text = |reason: Reason| {
            let words = words(&reason, "f");
            (words.class, words.text)
        };
        let pin = Place { function: "get".into(), file: "src/t.c".into(), line: 7 };
        let (class, refuted) =
            text(Reason::Refuted { paths: 3, pinned: 1, pin: Some(pin.clone()) });
        assert_eq!(class, "refuted");
        assert!(refuted.contains("any of the 3 paths"), "{refuted}");
        assert!(refuted.contains("on 1 of them") && refuted.contains("t.c:7 in get"), "{refuted}");
        let loss = Loss { cause: "unmodelled", function: Some("crypt".into()), place: Some(pin) };
        let (_, lost) = text(Reason::Lost(loss));
        assert!(lost.contains("crypt") && lost.contains("t.c:7"), "{lost}");
        let unsolved = Reason::Unsolved { paths: 4, unknown: 3, relaxed: 0, refuted: 1 };
        assert!(text(unsolved).1.contains("on 3 the solver gave up, on 1 there is none"));
    }
}
