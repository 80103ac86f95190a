import { digestOf } from "../content/encode-content.ts";

/** The same digest for the same request, so that a repeated request is recognised. */
export const digestOfRequest = (body: unknown): string => digestOf(canonicalJson(body));

/** The same text for the same JSON, whatever the order of its keys. Shallow JSON only: it calls itself. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`).join(",")}}`;
}
