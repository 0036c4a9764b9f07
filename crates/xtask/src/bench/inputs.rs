//! Inputs of a given length for the calculator.

/// Statements that use every operator and every part of the lexer. They never divide by
/// zero, because a crash would end the run early.
pub fn calculations(length: usize) -> Vec<u8> {
    const LINES: [&str; 6] = [
        "a=17+4*(b-2)\n",
        "b = a*a - 31/7 + (12 % 5)\n",
        "c=-(a|b)&255\n",
        "(((a+b)*3)/11)%1000\n",
        "d = 123456789 - c*2\n",
        "x=y=a+b+c+d\n",
    ];
    let mut text = Vec::with_capacity(length + 32);
    for line in LINES.iter().cycle() {
        if text.len() + line.len() > length {
            break;
        }
        text.extend_from_slice(line.as_bytes());
    }
    // One last sum fills the rest.
    while text.len() + 1 < length {
        text.push(b'1' + (text.len() % 9) as u8);
        if text.len() % 16 == 0 && text.len() + 2 < length {
            text.push(b'+');
        }
    }
    text.resize(length, b'\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_have_the_given_length_and_end_with_a_newline() {
        for length in [1, 13, 48, 4096] {
            let text = calculations(length);
            assert_eq!(text.len(), length);
            assert_eq!(text.last(), Some(&b'\n'));
        }
    }
}
