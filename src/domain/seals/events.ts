import type { Message } from "../message.ts";

/** A range of the log as it was, signed: src/seals/README.md says what exactly is hashed and signed. */
export type LogSealed = Message<
  "LogSealed",
  {
    /** The first and the last sequence of the range; it begins where the one before ended. */
    readonly from: number;
    readonly to: number;
    /** Messages in the range: fewer than its sequences where the log has gaps. */
    readonly count: number;
    /** Of the Merkle tree over the messages, SHA-256 as lower-case hex. */
    readonly root: string;
    /** The digest of the seal before; null for the first. */
    readonly previous: string | null;
    readonly keyId: string;
    /** Base64 of the DER of the public key, which is what stands between the first and the last line of its PEM. */
    readonly publicKey: string;
    /** Ed25519, as base64. */
    readonly signature: string;
  }
>;
