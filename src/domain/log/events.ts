import type { Message } from "../message.ts";

/** An operator's decision that readers of the log go on without a message that none of them can decode. */
export type MessagePassed = Message<
  "MessagePassed",
  {
    /** The place of the message in the log; what stands there is passed by only while it is the same, byte for byte. */
    readonly sequence: number;
    readonly subject: string;
    /** Of the stored message as seals hash it: its place, when it was stored, its subject and its body. */
    readonly sha256: string;
    /** What could not be decoded about it. */
    readonly fault: string;
    readonly reason: string;
  }
>;
