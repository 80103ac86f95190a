import type { PostOutcome, SafePost } from "./safe-post.ts";
import { signatureHeaders, type WebhookSecret } from "./secret.ts";

type Destination = { readonly url: string; readonly secrets: readonly WebhookSecret[] };
type Message = { readonly id: string; readonly body: Uint8Array; readonly traceparent: string | null };

/** One message as Standard Webhooks has it, signed as of now. */
export function signedPost(
  post: SafePost,
  { url, secrets }: Destination,
  { id, body, traceparent }: Message,
  signal?: AbortSignal,
): Promise<PostOutcome> {
  const headers = {
    "Content-Type": "application/json",
    "User-Agent": "Waybill",
    ...(traceparent === null ? {} : { traceparent }),
    ...signatureHeaders({ id, at: new Date().toISOString(), body }, secrets),
  };
  return post({ url, headers, body, ...(signal === undefined ? {} : { signal }) });
}
