//! Learns which number the program has for which token of the grammar.

use crate::run::ring::Runner;
use crate::run::shared::Shared;
use pleach_exec::executor::ExecError;
use pleach_exec::triage::readable;
use pleach_template::NameConflict;

/// Runs without a token after which no more are made.
const MAX_RUNS_WITHOUT_TOKEN: usize = 20;

/// Runs sentences until the numbers of all tokens are known. A sentence that does not match
/// the program's tokens is skipped here: if it matters, it will come again.
pub fn learn_tokens(runner: &mut Runner, sentences: &[Vec<u8>]) -> Result<(), ExecError> {
    let shared = runner.shared.clone();
    let Some(tokens) = &shared.tokens else { return Ok(()) };
    let mut without_token = 0;
    for (i, sentence) in sentences.iter().enumerate() {
        let knows_all = tokens.read().knows_all_numbers();
        // One is run in any case, to see that the lexer is called at all.
        if knows_all && i > 0 || shared.is_stopping() {
            break;
        }
        let Some(numbers) = runner.probe_tokens(sentence)? else { continue };
        if numbers.is_empty() {
            note_no_token(&shared);
            without_token += 1;
            if without_token >= MAX_RUNS_WITHOUT_TOKEN {
                break;
            }
        }
        let _ = tokens.write().align(sentence, &numbers);
    }
    learn_names(&shared);
    Ok(())
}

fn note_no_token(shared: &Shared) {
    let functions = shared.map.token_functions();
    let names: Vec<_> = functions.iter().map(|f| readable(&f.name)).collect();
    let note = format!(
        "{} returned no token in a run on a sentence of the grammar: the program does not call \
         it, or only later",
        names.join(", ")
    );
    shared.lock().account.note(note);
}

/// Learns numbers from the names that the program has for its tokens. Notes where a name and
/// the runs disagree.
fn learn_names(shared: &Shared) {
    let Some(tokens) = &shared.tokens else { return };
    let functions = shared.map.token_functions();
    let names = functions.iter().flat_map(|f| &f.names);
    let names: Vec<(i32, &str)> = names.map(|(n, name)| (*n, &name[..])).collect();
    let conflicts = tokens.write().learn_names(&names);
    let mut state = shared.lock();
    for NameConflict { token, known_number, name, number_of_name } in conflicts {
        state.account.note(format!(
            "token {token} of the grammar was {known_number} in runs, and {name} in the program is \
             {number_of_name}"
        ));
    }
}
