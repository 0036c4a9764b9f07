//! Where a campaign is, and how to log in there. Secrets come from a file or the environment,
//! or stand in the address; what is shown to users never has one.

use crate::error::JoinError;
use crate::wire::is_name;
use async_nats::ConnectOptions;
use std::fmt;
use std::path::{Path, PathBuf};

/// `nats://[user:password@]host[:port][,host[:port]...]/campaign`, or `tls://`.
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    tls: bool,
    /// The servers to begin with; they name the others of their cluster.
    hosts: Vec<String>,
    pub campaign: String,
    user: Option<(String, Option<String>)>,
}

/// Without secrets.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let scheme = if self.tls { "tls" } else { "nats" };
        write!(f, "{scheme}://{}/{}", self.hosts.join(","), self.campaign)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Address {
    pub fn parse(url: &str) -> Result<Address, JoinError> {
        let wrong = |why: &str| JoinError::Address { why: why.to_string() };
        let (tls, rest) = if let Some(rest) = url.strip_prefix("nats://") {
            (false, rest)
        } else if let Some(rest) = url.strip_prefix("tls://") {
            (true, rest)
        } else {
            return Err(wrong("it must begin with nats:// or tls://"));
        };
        let (login, rest) = match rest.rsplit_once('@') {
            Some((login, rest)) => (Some(login), rest),
            None => (None, rest),
        };
        let (hosts, campaign) =
            rest.split_once('/').ok_or_else(|| wrong("it has no name of a campaign"))?;
        if !is_name(campaign) {
            return Err(wrong(
                "the name of a campaign has 1 to 64 letters, digits, hyphens and underscores",
            ));
        }
        let hosts: Vec<String> = hosts.split(',').map(str::to_string).collect();
        if hosts.iter().any(|host| !is_host(host)) {
            return Err(wrong("its host is missing or not a host"));
        }
        let user = match login.map(|login| login.split_once(':')) {
            None => None,
            Some(Some((user, password))) => Some((unescape(user), Some(unescape(password)))),
            Some(None) => Some((unescape(login.unwrap_or("")), None)),
        };
        Ok(Address { tls, hosts, campaign: campaign.to_string(), user })
    }

    /// The servers as the client takes them.
    pub(crate) fn servers(&self) -> Vec<String> {
        let scheme = if self.tls { "tls" } else { "nats" };
        self.hosts.iter().map(|host| format!("{scheme}://{host}")).collect()
    }

    /// The options that log in. A file comes first, then what the address has, then the
    /// environment, with the names that the `nats` command uses.
    pub(crate) fn login(&self, creds: Option<&Path>) -> Result<ConnectOptions, JoinError> {
        let var = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let mut options = ConnectOptions::new().require_tls(self.tls);
        if let Some(roots) = var("NATS_CA") {
            options = options.add_root_certificates(readable(Path::new(&roots))?);
        }
        if let (Some(cert), Some(key)) = (var("NATS_CERT"), var("NATS_KEY")) {
            let (cert, key) = (readable(Path::new(&cert))?, readable(Path::new(&key))?);
            options = options.add_client_certificate(cert, key);
        }
        if let Some(path) = creds {
            return from_file(options, path);
        }
        if let Some((user, password)) = self.user.clone() {
            return Ok(match password {
                Some(password) => options.user_and_password(user, password),
                None => options.token(user),
            });
        }
        if let Some(path) = var("NATS_CREDS").or_else(|| var("NATS_NKEY")) {
            return from_file(options, Path::new(&path));
        }
        Ok(match (var("NATS_USER"), var("NATS_PASSWORD"), var("NATS_TOKEN")) {
            (Some(user), Some(password), _) => options.user_and_password(user, password),
            (_, _, Some(token)) => options.token(token),
            // As the `nats` command does it.
            (Some(token), None, None) => options.token(token),
            _ => options,
        })
    }
}

fn is_host(host: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b".-_:[]%".contains(&b);
    !host.is_empty() && !host.starts_with(':') && host.bytes().all(plain)
}

/// Undoes `%40` and the like, which addresses need for characters such as `@`.
fn unescape(text: &str) -> String {
    let mut out = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()).filter(|_| first == b'%') {
            Some(byte) => {
                out.push(byte);
                rest = &after[2..];
            }
            None => {
                out.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn readable(path: &Path) -> Result<PathBuf, JoinError> {
    match std::fs::File::open(path) {
        Ok(_) => Ok(path.to_path_buf()),
        Err(error) => Err(JoinError::Credentials { path: path.into(), why: error.to_string() }),
    }
}

/// A file of credentials as NATS has them, the seed of an nkey, `user:password`, or a token.
fn from_file(options: ConnectOptions, path: &Path) -> Result<ConnectOptions, JoinError> {
    let wrong = |why: &str| JoinError::Credentials { path: path.into(), why: why.to_string() };
    let text = std::fs::read_to_string(path).map_err(|error| wrong(&error.to_string()))?;
    if text.contains("BEGIN NATS USER JWT") {
        // The error would quote the file.
        return options
            .credentials(&text)
            .map_err(|_| wrong("it has no valid user JWT with its seed"));
    }
    let mut lines = text.lines().map(str::trim);
    let line = lines
        .find(|line| !line.is_empty() && !line.starts_with(['#', '-']))
        .ok_or_else(|| wrong("it is empty"))?;
    let is_seed = line.len() == 58
        && line.starts_with("SU")
        && line.bytes().all(|b| b.is_ascii_alphanumeric());
    Ok(match line.split_once(':') {
        Some((user, password)) => options.user_and_password(user.into(), password.into()),
        None if is_seed => options.nkey(line.into()),
        None => options.token(line.into()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_shown_without_secrets() {
        let parse = |url: &str| Address::parse(url).unwrap();
        let address = parse("nats://host:4222/lexer");
        assert_eq!(address.servers(), ["nats://host:4222"]);
        let address = parse("tls://me:s3c%40ret@a:1,b:2/x_1");
        assert_eq!(address.to_string(), "tls://a:1,b:2/x_1");
        assert_eq!(format!("{address:?}"), "tls://a:1,b:2/x_1");
        assert_eq!(address.user, Some(("me".into(), Some("s3c@ret".into()))));
        assert_eq!(address.servers(), ["tls://a:1", "tls://b:2"]);
        assert_eq!(parse("nats://t0ken@h/c").user, Some(("t0ken".into(), None)));
    }

    #[test]
    fn wrong_addresses_are_refused_and_not_quoted() {
        for url in [
            "http://host/x",
            "host:4222/x",
            "nats://host:4222",
            "nats://host:4222/",
            "nats://host/../x",
            "nats://host/a/b",
            "nats:///x",
            "nats://:4222/x",
            "nats://me:secret@/x",
            "nats://a,,b/x",
        ] {
            let message = Address::parse(url).unwrap_err().to_string();
            assert!(!message.contains("secret"), "{message}");
        }
    }
}
