/** The tags of a DKIM or DMARC record (RFC 6376 3.2), with names in lower case; null if it is no list of tags. */
export function readTagList(record: string): ReadonlyMap<string, string> | null {
  const tags = new Map<string, string>();
  for (const part of record.replace(/;\s*$/, "").split(";")) {
    const [, name = "", value = ""] = /^\s*([A-Za-z][A-Za-z0-9_]*)\s*=\s*(.*?)\s*$/s.exec(part) ?? [];
    if (name === "" || tags.has(name.toLowerCase())) return null;
    tags.set(name.toLowerCase(), value);
  }
  return tags;
}
