//! Source text that grows line by line, with indentation.

#[derive(Default)]
pub struct Source {
    text: String,
    depth: usize,
}

impl Source {
    pub fn line(&mut self, line: impl AsRef<str>) {
        for _ in 0..self.depth {
            self.text.push_str("    ");
        }
        self.text.push_str(line.as_ref());
        self.text.push('\n');
    }

    /// A line that begins a block, such as `if (x) {`.
    pub fn open(&mut self, line: impl AsRef<str>) {
        self.line(line);
        self.depth += 1;
    }

    pub fn close(&mut self) {
        self.close_with("}");
    }

    /// A line that ends a block, such as `};`.
    pub fn close_with(&mut self, line: &str) {
        self.depth = self.depth.saturating_sub(1);
        self.line(line);
    }

    /// Ends a block and begins another, as `} else {` does.
    pub fn between(&mut self, line: impl AsRef<str>) {
        self.depth = self.depth.saturating_sub(1);
        self.open(line);
    }

    pub fn finish(self) -> String {
        self.text
    }
}
