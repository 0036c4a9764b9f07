//! A browser for tests: Chromium without a window, driven over the DevTools protocol through
//! a pair of pipes.

use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use tempfile::TempDir;

/// How long an answer may take: only a browser that is stuck reaches it.
const PATIENCE: Duration = Duration::from_secs(120);

pub struct Browser {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    session: String,
    next: u64,
    events: Vec<Value>,
    _profile: TempDir,
}

impl Browser {
    /// Starts a browser with one empty page.
    pub fn start() -> Browser {
        let profile = tempfile::tempdir().expect("a temporary directory");
        // The protocol uses descriptors 3 and 4.
        let script = "exec chromium --headless=new --no-sandbox --disable-gpu --no-first-run \
                      --disable-dev-shm-usage --disable-background-networking \
                      --remote-debugging-pipe --user-data-dir=\"$0\" about:blank \
                      3<&0 4>&1 </dev/null >/dev/null 2>&1";
        let mut child = Command::new("sh")
            .args(["-c", script])
            .arg(profile.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("sh runs");
        let to = child.stdin.take().expect("a pipe");
        let mut pipe = BufReader::new(child.stdout.take().expect("a pipe"));
        let (sender, from) = channel();
        std::thread::spawn(move || {
            let mut message = Vec::new();
            while pipe.read_until(0, &mut message).is_ok_and(|n| n > 0) {
                message.pop();
                let Ok(value) = serde_json::from_slice(&message) else { break };
                if sender.send(value).is_err() {
                    break;
                }
                message.clear();
            }
        });
        let mut browser = Browser {
            child,
            to,
            from,
            session: String::new(),
            next: 0,
            events: Vec::new(),
            _profile: profile,
        };
        let page = browser.call("Target.createTarget", &json!({ "url": "about:blank" }));
        let target = json!({ "targetId": page["targetId"], "flatten": true });
        let attached = browser.call("Target.attachToTarget", &target);
        browser.session = attached["sessionId"].as_str().expect("a session").to_string();
        for domain in ["Page", "Runtime", "Network", "Log"] {
            browser.call(&format!("{domain}.enable"), &json!({}));
        }
        browser
    }

    /// Opens a file and waits until it is loaded.
    pub fn open(&mut self, path: &Path) {
        self.events.clear();
        let url = format!("file://{}", path.display());
        self.call("Page.navigate", &json!({ "url": url }));
        self.wait_for("Page.loadEventFired");
    }

    /// Loads the page again.
    pub fn reload(&mut self) {
        self.events.retain(|e| e["method"] != "Page.loadEventFired");
        self.call("Page.reload", &json!({}));
        self.wait_for("Page.loadEventFired");
    }

    /// Sets the size of the window and the theme that the system asks for.
    pub fn look(&mut self, width: u32, height: u32, theme: &str) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1,
                           "mobile": width < 600 });
        self.call("Emulation.setDeviceMetricsOverride", &size);
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": theme }] });
        self.call("Emulation.setEmulatedMedia", &media);
    }

    /// The value of an expression.
    pub fn eval(&mut self, expression: &str) -> Value {
        let params =
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let result = self.call("Runtime.evaluate", &params);
        assert!(result["exceptionDetails"].is_null(), "{expression}: {result}");
        result["result"]["value"].clone()
    }

    /// Writes a picture of the window to a file.
    pub fn screenshot(&mut self, path: &Path) {
        let picture = self.call("Page.captureScreenshot", &json!({ "format": "png" }));
        let text = picture["data"].as_str().expect("a picture");
        std::fs::write(path, from_base64(text)).expect("the directory is writable");
    }

    /// The errors of scripts and of the page's policy since it was opened.
    pub fn errors(&mut self) -> Vec<String> {
        // An answer comes after all events before it.
        self.eval("0");
        let is_error = |event: &&Value| match event["method"].as_str() {
            Some("Runtime.exceptionThrown") => true,
            Some("Runtime.consoleAPICalled") => event["params"]["type"] == "error",
            Some("Log.entryAdded") => event["params"]["entry"]["level"] == "error",
            _ => false,
        };
        self.events.iter().filter(is_error).map(Value::to_string).collect()
    }

    /// The addresses that the page asked for.
    pub fn requests(&mut self) -> BTreeSet<String> {
        self.eval("0");
        let sent = |e: &&Value| e["method"] == "Network.requestWillBeSent";
        let url = |e: &Value| e["params"]["request"]["url"].as_str().map(String::from);
        self.events.iter().filter(sent).filter_map(url).collect()
    }

    fn call(&mut self, method: &str, params: &Value) -> Value {
        self.next += 1;
        let id = self.next;
        let mut message = json!({ "id": id, "method": method, "params": params });
        if !self.session.is_empty() {
            message["sessionId"] = self.session.clone().into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.to.write_all(&bytes).expect("the browser reads");
        loop {
            let answer = self.receive(method);
            if answer["id"] == id {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].clone();
            }
            self.events.push(answer);
        }
    }

    fn wait_for(&mut self, event: &str) {
        while !self.events.iter().any(|e| e["method"] == event) {
            let next = self.receive(event);
            self.events.push(next);
        }
    }

    fn receive(&self, what: &str) -> Value {
        match self.from.recv_timeout(PATIENCE) {
            Ok(value) => value,
            Err(error) => panic!("{what}: {error}; is chromium installed? ./x setup installs it"),
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn from_base64(text: &str) -> Vec<u8> {
    let value = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits: Vec<u8> = text.bytes().filter(|&c| c != b'=').collect();
    let mut bytes = Vec::new();
    for chunk in digits.chunks(4) {
        let all = chunk
            .iter()
            .enumerate()
            .fold(0u32, |all, (i, &c)| all | u32::from(value(c)) << (18 - 6 * i));
        bytes.extend(&all.to_be_bytes()[1..chunk.len()]);
    }
    bytes
}
