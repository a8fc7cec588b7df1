//! SHA-256 of a file's bytes, so that a reviewer can match a fit with the files it came from:
//! `sha256sum` prints the same digits.

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

/// The digest in lower-case hexadecimal.
pub fn sha256_hex(bytes: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_equal_the_published_examples() {
        // FIPS 180-4 example values (NIST, SHA256.pdf), and the empty message.
        for (message, digest) in [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
            ),
        ] {
            assert_eq!(sha256_hex(message.as_bytes()), digest, "{message}");
        }
        let million = "a".repeat(1_000_000);
        assert_eq!(
            sha256_hex(million.as_bytes()),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        );
    }

    #[test]
    fn every_padding_length_gives_its_own_digest() {
        let digests: std::collections::BTreeSet<_> =
            (0..200).map(|n| sha256_hex(&vec![b'x'; n])).collect();
        assert_eq!(digests.len(), 200);
    }
}
