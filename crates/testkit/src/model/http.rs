//! As much of HTTP/1.1 as the clients need: requests with a length or in chunks, answers as JSON or as events.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};

use serde_json::Value;

/// A request that was read to its end.
pub(crate) struct Request {
    /// Its path, without the query.
    pub(crate) path: String,
    body: Vec<u8>,
}

/// One event of an answer: its name, where the API names events, and its data.
pub(crate) type Event = (Option<&'static str>, Value);

/// One client's connection.
pub(crate) struct Stream {
    reader: BufReader<TcpStream>,
    over: bool,
}

impl Request {
    /// The body, or null when it is no JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

impl Stream {
    pub(crate) fn new(stream: TcpStream) -> Self {
        // A test measures nothing here, but a piece of an answer must not wait for the next one.
        let _ = stream.set_nodelay(true);
        Self {
            reader: BufReader::new(stream),
            over: false,
        }
    }

    /// The next request, or none at the end.
    pub(crate) fn request(&mut self) -> io::Result<Option<Request>> {
        let mut first = String::new();
        if self.over || self.reader.read_line(&mut first)? == 0 {
            return Ok(None);
        }
        let target = first.split(' ').nth(1).unwrap_or_default();
        let path = target.split('?').next().unwrap_or_default().to_owned();
        let (mut length, mut chunked) = (0, false);
        loop {
            let mut line = String::new();
            self.reader.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else {
                break;
            };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.trim().parse().unwrap_or_default(),
                "transfer-encoding" => chunked = value.trim().eq_ignore_ascii_case("chunked"),
                _ => {}
            }
        }
        let body = if chunked {
            self.chunks()?
        } else {
            self.bytes(length)?
        };
        Ok(Some(Request { path, body }))
    }

    fn bytes(&mut self, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.reader.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn chunks(&mut self) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        loop {
            let mut line = String::new();
            self.reader.read_line(&mut line)?;
            let digits = line.split(';').next().unwrap_or_default().trim();
            let length = usize::from_str_radix(digits, 16).map_err(io::Error::other)?;
            // Each chunk ends in CRLF, the last and empty one too.
            let chunk = self.bytes(length + 2)?;
            if length == 0 {
                return Ok(all);
            }
            all.extend_from_slice(&chunk[..length]);
        }
    }

    /// Answers with one text.
    pub(crate) fn json(&mut self, status: u16, value: &Value) -> io::Result<()> {
        let body = value.to_string();
        self.write(&format!(
            "HTTP/1.1 {status} OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        ))
    }

    /// Begins an answer in events; the end of the connection is its end.
    pub(crate) fn begin_events(&mut self) -> io::Result<()> {
        self.over = true;
        self.write(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\nconnection: close\r\n\r\n",
        )
    }

    pub(crate) fn events(&mut self, events: &[Event]) -> io::Result<()> {
        let text: String = events
            .iter()
            .map(|(name, data)| {
                let name = name.map(|it| format!("event: {it}\n")).unwrap_or_default();
                // A bare word is no JSON: one API ends its streams so.
                let data = data
                    .as_str()
                    .map_or_else(|| data.to_string(), str::to_owned);
                format!("{name}data: {data}\n\n")
            })
            .collect();
        self.write(&text)
    }

    pub(crate) fn end_events(&mut self) -> io::Result<()> {
        self.reader.get_ref().shutdown(Shutdown::Write)
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        self.reader.get_mut().write_all(text.as_bytes())
    }
}
