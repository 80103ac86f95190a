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

describe("a mail that is answered with 421", () => {
  let at: number;
  let turnsAway: (domain: string) => boolean;
  let patience: ReceiverPatience;

  beforeEach(() => {
    at = 0;
    turnsAway = (domain) => domain.startsWith("slow");
    patience = createReceiverPatience(domainOf, () => at);
  });

  const domainOf = (address: string): string => address.slice(address.indexOf("@") + 1);
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
