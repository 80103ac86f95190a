import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";

/** Bytes ready to be sent. */
export type StaticFile = {
  readonly type: string;
  readonly bytes: Buffer;
  readonly gzipped: Buffer;
  /** SHA-256 in hex. */
  readonly digest: string;
};

export const toStaticFile = (type: string, bytes: Buffer): StaticFile => ({
  type,
  bytes,
  // Less memory makes shorter blocks, each with its own codes: smaller for a bundle whose parts differ so much.
  gzipped: gzipSync(bytes, { level: 9, memLevel: 6 }),
  digest: createHash("sha256").update(bytes).digest("hex"),
});
