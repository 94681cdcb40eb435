//! Where the runners' sockets lie: one file for each chat, named by its id.

use std::path::{Path, PathBuf};

use wire::ChatId;

/// The folder of the runners' sockets. Its paths must be short enough for a socket address.
#[derive(Clone, Debug)]
pub struct SocketPlace(PathBuf);

impl SocketPlace {
    /// Length of a socket's name and the slash before it, in bytes.
    pub const NAME_BYTES: usize = "/cs_0123456789abcdef.sock".len();

    /// Sockets lie in this folder.
    pub fn new(folder: PathBuf) -> Self {
        Self(folder)
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.0
    }

    pub(crate) fn socket(&self, chat: ChatId) -> PathBuf {
        self.0.join(format!("{chat}.sock"))
    }

    /// The chat whose socket has this file name; none for other files.
    pub(crate) fn chat(name: &str) -> Option<ChatId> {
        name.strip_suffix(".sock")?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sockets_name_gives_its_chat_back() {
        let chat = ChatId::from_random(7);
        let path = SocketPlace::new("/r".into()).socket(chat);
        let name = path.file_name().unwrap().to_str().unwrap();
        assert_eq!(SocketPlace::chat(name), Some(chat));
        assert_eq!(name.len() + 1, SocketPlace::NAME_BYTES);
        assert_eq!(SocketPlace::chat("server.sock"), None);
    }
}
