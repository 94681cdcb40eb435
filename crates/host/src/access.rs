//! Whether a caller may make a call at all, before anything is looked up.
//!
//! Callers on this machine with the server's own uid, or root, could run any command without us; refusing them would
//! protect nothing, unless the person wishes it.

use wire::tool::Access;
use wire::{Kind, Refusal};

use crate::Peer;

/// What local callers of the same account may do with terminals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Permission {
    /// Everything.
    #[default]
    Allow,
    /// Nothing.
    Deny,
}

/// The server's side of the decision.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// The account that the server runs as.
    pub server_uid: u32,
    /// From the configuration, `permission.local`.
    pub local: Permission,
}

impl Rules {
    /// Decides about a call that needs `access`.
    ///
    /// # Errors
    /// 403 with the sentence that says how to allow it.
    pub(crate) fn check(self, peer: &Peer, access: Option<Access>) -> Result<(), Refusal> {
        let known = peer.uid == 0 || peer.uid == self.server_uid;
        if !known {
            return Err(Refusal::new(
                Kind::Forbidden,
                format!("the account with uid {} may not use this server", peer.uid),
            )
            .hint("start a server of your own with `sidestick serve`"));
        }
        match (access, self.local) {
            (None, _) | (Some(Access::Terminals), Permission::Allow) => Ok(()),
            (Some(Access::Terminals), Permission::Deny) => Err(Refusal::new(
                Kind::Forbidden,
                "terminals are denied to local callers by permission.local",
            )
            .hint("set `local = \"allow\"` under [permission] in config.toml and start the server again")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Via;

    fn decide(uid: u32, local: Permission, access: Option<Access>) -> Result<(), Refusal> {
        let peer = Peer {
            uid,
            pid: None,
            via: Via::Local,
        };
        Rules {
            server_uid: 1000,
            local,
        }
        .check(&peer, access)
    }

    #[test]
    fn the_same_account_and_root_may_and_strangers_may_not() {
        let terminals = Some(Access::Terminals);
        assert!(decide(1000, Permission::Allow, terminals).is_ok());
        assert!(decide(0, Permission::Allow, terminals).is_ok());
        assert_eq!(decide(1001, Permission::Allow, None).unwrap_err().code, 403);
    }

    #[test]
    fn denied_terminals_leave_the_rest_and_say_how_to_allow_them() {
        assert!(decide(1000, Permission::Deny, None).is_ok());
        let refusal = decide(1000, Permission::Deny, Some(Access::Terminals)).unwrap_err();
        assert!(
            refusal.to_string().contains("local = \"allow\""),
            "{refusal}"
        );
    }
}
