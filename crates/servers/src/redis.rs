//! A Redis server for one run, without persistence.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::Result;

use crate::binaries;
use crate::folder::Folder;
use crate::process::{self, Process, Signal};

/// A running Redis, open to every local user on 127.0.0.1.
#[derive(Debug)]
pub struct Redis {
    process: Process,
    // Dropped after the server.
    folder: Folder,
    port: u16,
    server: PathBuf,
}

impl Redis {
    /// Starts a server; returns when it answers.
    ///
    /// # Errors
    ///
    /// If no Redis is installed (the error names the package to install), or it does not start (the error ends with its
    /// log).
    pub fn start() -> Result<Self> {
        let server = binaries::redis_server()?;
        let folder = Folder::create("nightdesk-redis-", Signal::Term)?;
        let (process, port) = process::on_a_free_port(|port| run(&server, folder.path(), port))?;
        Ok(Self { process, folder, port, server })
    }

    /// Returns the port on 127.0.0.1. It stays the same when the server is started again.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Returns the URL of the server.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port)
    }

    /// Returns the folder that it runs in.
    pub fn dir(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the process id of the server.
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Stops the server. Its data is lost.
    ///
    /// # Errors
    ///
    /// If the server cannot be signalled.
    pub fn stop(&mut self) -> Result<()> {
        self.process.end()
    }

    /// Starts the stopped server again, on the same port, empty.
    ///
    /// # Errors
    ///
    /// If the server does not start; the error ends with its log.
    pub fn start_again(&mut self) -> Result<()> {
        self.process = run(&self.server, self.folder.path(), self.port)?;
        Ok(())
    }
}

fn run(server: &Path, folder: &Path, port: u16) -> Result<Process> {
    let mut command = Command::new(server);
    command
        .args(["--bind", "127.0.0.1", "--port", &port.to_string()])
        .args(["--save", "", "--appendonly", "no", "--daemonize", "no"])
        .arg("--dir")
        .arg(folder)
        .current_dir(folder);
    let mut process = Process::spawn(command, &folder.join("redis.log"), Signal::Term)?;
    process.wait_until("Redis", || Ok(is_answering(port).unwrap_or(false)))?;
    Ok(process)
}

fn is_answering(port: u16) -> std::io::Result<bool> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(Duration::from_secs(1)))?;
    stream.write_all(b"PING\r\n")?;
    let mut pong = [0; 7];
    stream.read_exact(&mut pong)?;
    Ok(&pong == b"+PONG\r\n")
}
