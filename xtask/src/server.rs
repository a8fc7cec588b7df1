//! A static file server on 127.0.0.1 that sends the policy the page must live with.
use std::{
    fs,
    io::{self, BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    path::{Component, Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

/// What the page may do: run its own files, nothing inline, nothing from or to another host.
pub const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; \
    style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; worker-src 'self'; \
    manifest-src 'self'; base-uri 'none'; form-action 'none'";

/// A request head longer than this is refused.
const MAX_HEAD_BYTES: u64 = 64 * 1024;

/// A running server; dropping it frees the port.
pub struct Server {
    address: SocketAddr,
    prefix: String,
    stopping: Arc<AtomicBool>,
    listening: Option<JoinHandle<()>>,
}

impl Server {
    /// Serves `folder` under `http://127.0.0.1:PORT/PREFIX`; the prefix begins and ends with `/`.
    /// Port 0 takes a free one.
    pub fn start(folder: PathBuf, port: u16, prefix: &str) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let address = listener.local_addr()?;
        let stopping = Arc::new(AtomicBool::new(false));
        let site = Arc::new(Site { folder, prefix: prefix.to_owned() });
        let stop = Arc::clone(&stopping);
        let listening = thread::spawn(move || {
            for stream in listener.incoming() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                let site = Arc::clone(&site);
                // A client that goes away in the middle of an answer is its own business.
                thread::spawn(move || stream.and_then(|stream| site.answer(stream)).ok());
            }
        });
        Ok(Self { address, prefix: prefix.to_owned(), stopping, listening: Some(listening) })
    }

    /// Address of the page.
    pub fn url(&self) -> String {
        format!("http://{}{}", self.address, self.prefix)
    }

    /// Serves until the process ends.
    pub fn wait(mut self) {
        if let Some(listening) = self.listening.take() {
            listening.join().ok();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::SeqCst);
        // The listener sits in `accept`: a connection wakes it.
        TcpStream::connect(self.address).ok();
        if let Some(listening) = self.listening.take() {
            listening.join().ok();
        }
    }
}

struct Site {
    folder: PathBuf,
    prefix: String,
}

impl Site {
    fn answer(&self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        let mut lines = BufReader::new(&stream).take(MAX_HEAD_BYTES).lines();
        // Browsers open connections ahead of need and may send nothing on them.
        let Some(request) = lines.next().transpose()? else { return Ok(()) };
        // The head has to be read whole: closing on unread bytes would reset the connection.
        for line in lines {
            if line?.is_empty() {
                break;
            }
        }
        let mut words = request.split(' ');
        let (method, target) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
        if method != "GET" && method != "HEAD" {
            return respond(&mut stream, "405 Method Not Allowed", "text/plain", b"", true);
        }
        let found = self.file(target).and_then(|file| Some((fs::read(&file).ok()?, file)));
        let head_only = method == "HEAD";
        match found {
            Some((body, file)) => {
                respond(&mut stream, "200 OK", media_type(&file), &body, head_only)
            }
            None => respond(&mut stream, "404 Not Found", "text/plain", b"not found\n", head_only),
        }
    }

    /// The file that a request target names, if it lies in the folder.
    fn file(&self, target: &str) -> Option<PathBuf> {
        let path = target.split(['?', '#']).next()?.strip_prefix(&self.prefix)?;
        let relative = Path::new(if path.is_empty() { "index.html" } else { path });
        let inside = relative.components().all(|part| matches!(part, Component::Normal(_)));
        inside.then(|| self.folder.join(relative))
    }
}

fn respond(
    stream: &mut TcpStream,
    status: &str,
    media_type: &str,
    body: &[u8],
    head_only: bool,
) -> io::Result<()> {
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nContent-Length: {}\r\n\
         Content-Security-Policy: {POLICY}\r\nX-Content-Type-Options: nosniff\r\n\
         Referrer-Policy: no-referrer\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n",
        body.len()
    )?;
    if !head_only {
        stream.write_all(body)?;
    }
    stream.flush()
}

fn media_type(file: &Path) -> &'static str {
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("wasm") => "application/wasm",
        Some("json" | "map") => "application/json",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("csv") => "text/csv; charset=utf-8",
        Some("txt") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(server: &Server, target: &str) -> String {
        let mut stream = TcpStream::connect(server.address).unwrap();
        write!(stream, "GET {target} HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn crate_folder() -> Server {
        Server::start(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src"), 0, "/a/b/").unwrap()
    }

    #[test]
    fn a_file_comes_with_the_policy() {
        let answer = get(&crate_folder(), "/a/b/server.rs?x=1");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert!(answer.contains(&format!("Content-Security-Policy: {POLICY}\r\n")));
        assert!(answer.ends_with("}\n"));
    }

    #[test]
    fn nothing_outside_the_folder_is_served() {
        let server = crate_folder();
        for target in ["/a/b/../Cargo.toml", "/a/b//etc/hostname", "/server.rs", "/a/b/none", "*"] {
            let answer = get(&server, target);
            assert!(answer.starts_with("HTTP/1.1 404"), "{target}: {answer}");
        }
    }

    #[test]
    fn a_taken_port_is_an_error_until_it_is_free_again() {
        let first = crate_folder();
        let port = first.address.port();
        let second = Server::start(PathBuf::from("."), port, "/");
        assert_eq!(second.err().map(|error| error.kind()), Some(io::ErrorKind::AddrInUse));
        drop(first);
        assert!(Server::start(PathBuf::from("."), port, "/").is_ok());
    }
}
