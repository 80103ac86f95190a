import { createHash } from "node:crypto";
import type { JobContent } from "./content-store.ts";

/** The bytes that are stored, and whose digest is in the JobCreated event. */
export const encodeContent = (content: JobContent): Uint8Array => new TextEncoder().encode(JSON.stringify(content));

export const decodeContent = (bytes: Uint8Array): JobContent => JSON.parse(new TextDecoder().decode(bytes));

/** SHA-256 as lower-case hex. */
export const digestOf = (bytes: Uint8Array | string): string => createHash("sha256").update(bytes).digest("hex");
