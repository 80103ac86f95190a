import { createHash, createPublicKey, type KeyObject, verify } from "node:crypto";

/** What a verifier finds about one signature of a mail. */
export type Verdict = {
  readonly domain: string;
  readonly selector: string;
  readonly algorithm: string;
  readonly isBodyIntact: boolean;
  readonly isHeaderIntact: boolean;
};

/** The TXT record at this DNS name. */
export type Records = Readonly<Record<string, string>>;

/**
 * A verifier after RFC 6376 3.4 to 3.7 and RFC 8463, for `c=relaxed/relaxed`, that shares no code with the signer. It
 * takes the message as it went over the wire.
 */
export function verifyDkim(message: string, records: Records): readonly Verdict[] {
  const end = message.indexOf("\r\n\r\n");
  const fields = message.slice(0, end).split(/\r\n(?![ \t])/);
  const bodyHash = createHash("sha256")
    .update(relaxBody(message.slice(end + 4)), "latin1")
    .digest("base64");
  return fields
    .filter((field) => nameOf(field) === "dkim-signature")
    .map((field) => {
      const tags = readTags(field.slice(field.indexOf(":") + 1));
      const [domain = "", selector = "", algorithm = ""] = [tags["d"], tags["s"], tags["a"]];
      const record = records[`${selector}._domainkey.${domain}`];
      if (record === undefined) throw new Error(`No record for ${selector} of ${domain}`);
      const isHeaderIntact = isSignedBy(
        readTags(record),
        algorithm,
        signedData(field, fields, tags["h"] ?? ""),
        tags["b"] ?? "",
      );
      return { domain, selector, algorithm, isBodyIntact: tags["bh"] === bodyHash, isHeaderIntact };
    });
}

/** The TXT record that publishes this key. */
export function toRecord(key: KeyObject): string {
  const der = key.export({ type: "spki", format: "der" });
  const isEd25519 = key.asymmetricKeyType === "ed25519";
  // RFC 8463 4.2: the 32 bytes of the key alone, without their ASN.1 wrapping.
  return isEd25519
    ? `v=DKIM1; k=ed25519; p=${der.subarray(-32).toString("base64")}`
    : `v=DKIM1; k=rsa; p=${der.toString("base64")}`;
}

const nameOf = (field: string): string => field.slice(0, field.indexOf(":")).trim().toLowerCase();

const readTags = (text: string): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(
    text.split(";").map((tag) => {
      const [name = "", ...value] = tag.split("=");
      return [name.trim(), value.join("=").replace(/\s/g, "")];
    }),
  );

const relaxHeader = (field: string): string => {
  const value = field.slice(field.indexOf(":") + 1).replaceAll("\r\n", "");
  return `${nameOf(field)}:${value.replace(/[ \t]+/g, " ").replace(/^ | $/g, "")}`;
};

const relaxBody = (body: string): string => {
  const lines = body.split("\r\n").map((line) => line.replace(/[ \t]+/g, " ").replace(/ $/, ""));
  while (lines.at(-1) === "") lines.pop();
  return lines.map((line) => `${line}\r\n`).join("");
};

/** RFC 6376 5.4.2: of fields with the same name, the last one is taken first. */
function signedData(own: string, fields: readonly string[], names: string): Buffer {
  const left = [...fields];
  const lines = names.split(":").map((name) => {
    const index = left.findLastIndex((field) => nameOf(field) === name.toLowerCase());
    return index === -1 ? "" : `${relaxHeader(left.splice(index, 1)[0] ?? "")}\r\n`;
  });
  const unsigned = own.replace(/([;\s]b=)[^;]*/, "$1");
  return Buffer.from(lines.join("") + relaxHeader(unsigned), "latin1");
}

function isSignedBy(record: ReturnType<typeof readTags>, algorithm: string, data: Buffer, b: string): boolean {
  const signature = Buffer.from(b, "base64");
  const bytes = Buffer.from(record["p"] ?? "", "base64");
  if (algorithm === "rsa-sha256") {
    return verify("sha256", data, createPublicKey({ key: bytes, format: "der", type: "spki" }), signature);
  }
  if (algorithm !== "ed25519-sha256" || record["k"] !== "ed25519") return false;
  const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: bytes.toString("base64url") }, format: "jwk" });
  return verify(null, createHash("sha256").update(data).digest(), key, signature);
}
