//! A `nats-server` on a free port of 127.0.0.1, for tests and measurements. It ends with its
//! value, and so does its directory.

use std::io;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub struct Server {
    child: Option<Child>,
    dir: TempDir,
    host: String,
    pub port: u16,
    cluster_port: u16,
    config: PathBuf,
}

impl Server {
    /// Starts a server with JetStream. `extra` is added to its configuration.
    pub fn start(extra: &str) -> io::Result<Server> {
        Server::start_on("127.0.0.1", extra)
    }

    /// The same, for connections to another address of this machine.
    pub fn start_on(host: &str, extra: &str) -> io::Result<Server> {
        let mut server = Server::new(free_port()?, free_port()?)?;
        server.host = host.to_string();
        server.configure("jetstream {}", extra)?;
        server.restart()?;
        Ok(server)
    }

    /// Starts a server without JetStream.
    pub fn plain() -> io::Result<Server> {
        let mut server = Server::new(free_port()?, free_port()?)?;
        server.configure("", "")?;
        server.restart()?;
        Ok(server)
    }

    /// Starts a server whose store takes that many bytes.
    pub fn with_store(bytes: u64) -> io::Result<Server> {
        let mut server = Server::new(free_port()?, free_port()?)?;
        server.configure(&format!("jetstream {{ max_file: {bytes} }}"), "")?;
        server.restart()?;
        Ok(server)
    }

    /// Starts a cluster, and waits until it has a leader.
    pub fn cluster(size: usize) -> io::Result<Vec<Server>> {
        let mut servers = (0..size)
            .map(|_| Server::new(free_port()?, free_port()?))
            .collect::<io::Result<Vec<_>>>()?;
        let routes: Vec<String> = servers
            .iter()
            .map(|server| format!("nats-route://127.0.0.1:{}", server.cluster_port))
            .collect();
        let routes = routes.join(", ");
        for (number, server) in servers.iter_mut().enumerate() {
            let cluster = format!(
                "server_name: n{number}\ncluster {{ name: c, listen: 127.0.0.1:{}, routes: [{routes}] }}",
                server.cluster_port
            );
            server.configure("jetstream {}", &cluster)?;
            server.restart()?;
        }
        Ok(servers)
    }

    fn new(port: u16, cluster_port: u16) -> io::Result<Server> {
        let dir = tempfile::Builder::new().prefix("pleach-nats-").tempdir()?;
        let config = dir.path().join("server.conf");
        let host = "127.0.0.1".to_string();
        Ok(Server { child: None, dir, host, port, cluster_port, config })
    }

    fn configure(&self, jetstream: &str, extra: &str) -> io::Result<()> {
        let store = self.dir.path().join("store");
        let jetstream = match jetstream.split_once('{') {
            Some((head, rest)) => format!("{head}{{ store_dir: {store:?}, {rest}"),
            None => String::new(),
        };
        let text = format!("listen: {}:{}\n{jetstream}\n{extra}\n", self.host, self.port);
        std::fs::write(&self.config, text)
    }

    /// The address of a campaign there.
    pub fn url(&self, campaign: &str) -> String {
        format!("nats://127.0.0.1:{}/{campaign}", self.port)
    }

    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    pub fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// Kills the server as a crash would.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            // Both fail only if it has ended already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Starts it again on the same port, with the store that it has.
    pub fn restart(&mut self) -> io::Result<()> {
        self.kill();
        let log = std::fs::File::create(self.dir.path().join("log"))?;
        let child = Command::new("nats-server")
            .arg("-c")
            .arg(&self.config)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()?;
        self.child = Some(child);
        let deadline = Instant::now() + Duration::from_secs(20);
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            if Instant::now() > deadline {
                return Err(io::Error::other("nats-server does not answer"));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// Removes the store of a server that was killed.
    pub fn lose_store(&mut self) -> io::Result<()> {
        self.kill();
        std::fs::remove_dir_all(self.dir.path().join("store"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}
