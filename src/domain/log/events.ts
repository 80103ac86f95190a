import type { Message } from "../message.ts";

/** The signed state of a range of the log. src/seals/README.md specifies exactly what is hashed and signed. */
export type LogSealed = Message<
  "LogSealed",
  {
    /** The first and the last sequence of the range, which begins where the one before ended. */
    readonly from: number;
    readonly to: number;
    /** Messages in the range: fewer than its sequences where the log has gaps. */
    readonly count: number;
    /** The root of the Merkle tree over the messages, SHA-256 as lower-case hex. */
    readonly root: string;
    /** The digest of the seal before; null for the first. */
    readonly previous: string | null;
    readonly keyId: string;
    /** Base64 of the DER of the public key: the text between the first and the last line of its PEM. */
    readonly publicKey: string;
    /** Ed25519, as base64. */
    readonly signature: string;
  }
>;

/** Entries of the log that a file holds from then on: the log itself may lose them, from its beginning. */
export type LogArchived = Message<
  "LogArchived",
  {
    /** Counts the files of a log from 1, and so names a file in few bytes. */
    readonly number: number;
    /** The first and the last sequence of the range, which begins where that of the file before ended. */
    readonly from: number;
    readonly to: number;
    /** Entries in the file. */
    readonly count: number;
    /** The root of the Merkle tree over them, made as for a seal. */
    readonly root: string;
    /** The name of the file, without its directory. */
    readonly file: string;
    readonly bytes: number;
    /** SHA-256 of the file as lower-case hex. */
    readonly sha256: string;
  }
>;

/** An operator's decision that readers of the log go on without a message that none of them can decode. */
export type MessagePassed = Message<
  "MessagePassed",
  {
    /** The sequence of the message in the log; it is passed by only while it is the same, byte for byte. */
    readonly sequence: number;
    readonly subject: string;
    /** The digest of the stored message as seals hash it: its sequence, the time of its storage, its subject and its body. */
    readonly sha256: string;
    /** What could not be decoded about it. */
    readonly fault: string;
    readonly reason: string;
  }
>;
