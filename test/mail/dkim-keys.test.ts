import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { expect } from "chai";
import { createComposer } from "../../src/mail/compose-letter.ts";
import type { DkimKey } from "../../src/mail/dkim.ts";
import type { Letter } from "../../src/mail/mailer.ts";
import { toRecord, verifyDkim } from "../support/verify-dkim.ts";
import { mailTo } from "./letters.ts";

const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const ed25519 = generateKeyPairSync("ed25519");
const records: Record<string, string> = {};

const keyOf = (
  domain: string,
  selector: string,
  pair: { publicKey: KeyObject; privateKey: KeyObject },
  from?: string,
) => {
  records[`${selector}._domainkey.${domain}`] = toRecord(pair.publicKey);
  return { domain, selector, privateKey: pair.privateKey, from: from === undefined ? null : new Date(from) };
};

const today = new Date("2026-11-23T12:00:00Z");

describe("the DKIM keys of sender domains", () => {
  const fallback = keyOf("relay.example", "relay", rsa);
  const keys = [
    fallback,
    keyOf("example.org", "old", rsa),
    keyOf("example.org", "new", rsa, "2026-12-01T00:00:00Z"),
    keyOf("example.org", "edwards", ed25519, "2026-11-23T12:00:00Z"),
    keyOf("shop.example.org", "shop", ed25519),
    keyOf("later.example.org", "later", rsa, "2030-01-01T00:00:00Z"),
    keyOf("xn--bro-hoa.example", "umlaut", ed25519),
  ];

  const composed = (letter: Partial<Letter>, settings: { keys: readonly DkimKey[]; fallback: DkimKey | null }) => {
    const mail = mailTo("ada@example.com", letter);
    const ready = createComposer(settings)(mail.letter);
    return async (at: Date) => Buffer.concat(await (await ready).messageOf(mail, at)).toString("latin1");
  };
  const signedBy = async (from: string, at = today, settings: Parameters<typeof composed>[1] = { keys, fallback }) => {
    const verdicts = verifyDkim(await composed({ from }, settings)(at), records);
    for (const { isBodyIntact, isHeaderIntact } of verdicts)
      expect([isBodyIntact, isHeaderIntact]).to.deep.equal([true, true]);
    return verdicts.map(({ selector, algorithm }) => `${selector} ${algorithm}`);
  };

  it("sign with RSA and Ed25519 side by side, and both signatures verify", async () => {
    expect(await signedBy("Ada <ada@example.org>")).to.deep.equal(["old rsa-sha256", "edwards ed25519-sha256"]);
  });

  it("switch by date, in a letter that was composed before", async () => {
    const messageAt = composed({ from: "ada@example.org" }, { keys, fallback });
    const selectorsAt = async (at: string) =>
      verifyDkim(await messageAt(new Date(at)), records).map((one) => one.selector);
    expect(await selectorsAt("2026-11-23T11:59:59.999Z")).to.deep.equal(["old"]);
    expect(await selectorsAt("2026-11-30T23:59:59.999Z")).to.deep.equal(["old", "edwards"]);
    expect(await selectorsAt("2026-12-01T00:00:00Z")).to.deep.equal(["new", "edwards"]);
    expect(await selectorsAt("2026-11-23T11:00:00Z")).to.deep.equal(["old"]);
  });

  it("sign for the domains below, where none nearer is in force", async () => {
    expect(await signedBy("ada@news.example.org")).to.deep.equal(["old rsa-sha256", "edwards ed25519-sha256"]);
    expect(await signedBy("ada@EU.Shop.example.org")).to.deep.equal(["shop ed25519-sha256"]);
    expect(await signedBy("ada@later.example.org")).to.deep.equal(["old rsa-sha256", "edwards ed25519-sha256"]);
    expect(await signedBy("ada@later.example.org", new Date("2030-01-01T00:00:00Z"))).to.deep.equal([
      "later rsa-sha256",
    ]);
  });

  it("sign for an internationalised domain by its ASCII name", async () => {
    expect(await signedBy("ada@büro.example")).to.deep.equal(["umlaut ed25519-sha256"]);
  });

  it("leave other senders to the key of DKIM_KEY, and unsigned without one", async () => {
    expect(await signedBy("ada@notexample.org")).to.deep.equal(["relay rsa-sha256"]);
    expect(await signedBy("ada@notexample.org", today, { keys, fallback: null })).to.deep.equal([]);
    const later = keys.filter(({ selector }) => selector === "new");
    expect(await signedBy("ada@example.org", today, { keys: later, fallback: null })).to.deep.equal([]);
  });

  it("no longer verify once the mail was changed", async () => {
    const message = await composed(
      { from: "ada@example.org", text: "All  is well \r\n\r\n" },
      { keys, fallback },
    )(today);
    const states = (changed: string) =>
      verifyDkim(changed, records).map((one) => [one.isBodyIntact, one.isHeaderIntact]);
    const twice = (state: readonly boolean[]) => [state, state];
    expect(states(message)).to.deep.equal(twice([true, true]));
    expect(states(message.replace("is well", "is bad"))).to.deep.equal(twice([false, true]));
    expect(states(message.replace("\r\nTo: ", "\r\nTo: x"))).to.deep.equal(twice([true, false]));
  });
});

describe("the verifier of these tests", () => {
  const example = [
    "DKIM-Signature: v=1; a=ed25519-sha256; c=relaxed/relaxed;",
    " d=football.example.com; i=@football.example.com;",
    " q=dns/txt; s=brisbane; t=1528637909; h=from : to :",
    " subject : date : message-id : from : subject : date;",
    " bh=2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=;",
    " b=/gCrinpcQOoIfuHNQIbq4pgh9kyIK3AQUdt9OdqQehSwhEIug4D11Bus",
    " Fa3bT3FY5OsU7ZbnKELq+eXdp1Q1Dw==",
    "From: Joe SixPack <joe@football.example.com>",
    "To: Suzie Q <suzie@shopping.example.net>",
    "Subject: Is dinner ready?",
    "Date: Fri, 11 Jul 2003 21:00:37 -0700 (PDT)",
    "Message-ID: <20030712040037.46341.5F8J@football.example.com>",
    "",
    "Hi.",
    "",
    "We lost the game.  Are you hungry yet?",
    "",
    "Joe.",
    "",
  ].join("\r\n");
  const published = {
    "brisbane._domainkey.football.example.com": "v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=",
  };

  it("accepts the example of RFC 8463, A.3", () => {
    expect(verifyDkim(example, published)).to.deep.equal([
      {
        domain: "football.example.com",
        selector: "brisbane",
        algorithm: "ed25519-sha256",
        isBodyIntact: true,
        isHeaderIntact: true,
      },
    ]);
  });

  it("refuses it with another subject", () => {
    expect(verifyDkim(example.replace("dinner", "lunch"), published)[0]?.isHeaderIntact).to.equal(false);
  });
});
