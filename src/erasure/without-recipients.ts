import { decodeContent, encodeContent } from "../content/encode-content.ts";

/** The content without those recipients, whose places stay: events name recipients by them. The same bytes each time. */
export function withoutRecipients(content: Uint8Array, indices: readonly number[]): Uint8Array {
  const gone = new Set(indices);
  const decoded = decodeContent(content);
  const recipients = decoded.recipients.map((recipient, index) => (gone.has(index) ? null : recipient));
  return encodeContent({ ...decoded, recipients });
}
