import { expect } from "chai";
import type { SendOutcome } from "../../src/domain/recipients/events.ts";
import { createReceiverPatience, type ReceiverPatience } from "../../src/mail/receiver-patience.ts";

const ofMail = { code: "deferred", message: "421 4.7.0 slow down", replyCode: 421, statusCode: "4.7.0" };
const away: SendOutcome = {
  kind: "unavailable",
  error: { code: "smtp-unavailable", message: "421 4.7.0 slow down" },
  ofMail,
};
const sent: SendOutcome = { kind: "sent", response: "250 OK" };
const domainOf = (address: string): string => address.slice(address.indexOf("@") + 1);

describe("a mail that is answered with 421", () => {
  let at: number;
  let turnsAway: (domain: string) => boolean;
  let patience: ReceiverPatience;

  beforeEach(() => {
    at = 0;
    turnsAway = (domain) => domain.startsWith("slow");
    patience = createReceiverPatience(domainOf, () => at);
  });

  const send = (domain: string): string => patience(`ada@${domain}`, turnsAway(domain) ? away : sent).kind;

  it("is deferred where the server has taken a mail for another receiver a moment ago", () => {
    send("fast.example");
    expect(send("slow.example")).to.equal("deferred");
    expect(send("slow.example")).to.equal("deferred");
  });

  it("finds the server away where nothing was taken before, or not for another receiver", () => {
    expect(send("slow.example")).to.equal("unavailable");
    turnsAway = () => false;
    send("slow.example");
    turnsAway = () => true;
    expect(send("slow.example")).to.equal("unavailable");
  });

  it("finds the server away where that was long ago", () => {
    send("fast.example");
    at = 60_000;
    expect(send("slow.example")).to.equal("unavailable");
  });

  it("finds the server away where it turns away one receiver after the other", () => {
    send("fast.example");
    const kinds: string[] = [];
    for (const one of [1, 2, 3, 4]) kinds.push(send(`slow${one}.example`));
    expect(kinds).to.deep.equal(["deferred", "deferred", "unavailable", "unavailable"]);
  });
});

describe("a mail in the middle of which the connection ends", () => {
  const hungUp: SendOutcome = { ...away, ofMail: { ...ofMail, message: "closed", replyCode: null, statusCode: null } };
  let at: number;
  let patience: ReceiverPatience;

  beforeEach(() => {
    at = 0;
    patience = createReceiverPatience(domainOf, () => at);
  });

  const breaks = (name: string): string => patience(`${name}@example.com`, hungUp).kind;
  const isTaken = (name: string): string => patience(`${name}@example.com`, sent).kind;

  it("is deferred where the server has answered for another address a moment ago, of the same receiver too", () => {
    isTaken("ada");
    for (let mails = 0; mails < 5; mails += 1) expect(breaks("broken")).to.equal("deferred");
    isTaken("broken");
    expect(breaks("broken")).to.equal("deferred");
  });

  it("finds the server away where it has answered for no other address, or long ago", () => {
    expect(breaks("broken")).to.equal("unavailable");
    isTaken("broken");
    expect(breaks("broken")).to.equal("unavailable");
    isTaken("ada");
    at = 60_000;
    expect(breaks("broken")).to.equal("unavailable");
  });

  it("finds the server away where it has said nothing of another mail either", () => {
    const error = { code: "timed-out", message: "", replyCode: null, statusCode: null };
    patience("ada@example.com", { kind: "deferred", error });
    patience("bob@example.com", { kind: "failed", error: { ...error, code: "unsendable" } });
    expect(breaks("broken")).to.equal("unavailable");
  });

  it("finds the server away where one after the other is broken off, until it takes one", () => {
    isTaken("ada");
    expect(["r1", "r2", "r3", "r1"].map(breaks)).to.deep.equal(["deferred", "deferred", "unavailable", "unavailable"]);
    isTaken("bob");
    expect(breaks("r1")).to.equal("deferred");
  });

  it("is judged where receivers are not told apart, too, unlike one that is answered with 421", () => {
    patience = createReceiverPatience(null, () => at);
    isTaken("ada");
    patience("eve@fast.example", sent);
    expect(breaks("broken")).to.equal("deferred");
    expect(patience("broken@example.com", away).kind).to.equal("unavailable");
  });
});
