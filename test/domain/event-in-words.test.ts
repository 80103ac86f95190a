import { readdir, readFile } from "node:fs/promises";
import { expect } from "chai";
import { eventInWords } from "../../src/domain/event-in-words.ts";

const golden = new URL("../golden/", import.meta.url);
/** The alerts have words of their own; the others are the service's own book-keeping, for auditors. */
const withoutWords = ["AlertCleared", "AlertRaised", "LogArchived", "LogSealed", "MessagePassed"];

const wordsOf = async (type: string): Promise<string | null> =>
  eventInWords({ type, ...JSON.parse(await readFile(new URL(`${type}/v1.json`, golden), "utf8")) });

describe("An event in words", () => {
  it("is a whole sentence for each type", async () => {
    const silent: string[] = [];
    for (const type of await readdir(golden)) {
      const words = await wordsOf(type);
      if (words === null) silent.push(type);
      else expect(words, type).to.match(/^\S(?!.*(undefined|null|NaN|\[object)).{10,}/);
    }
    expect(silent.sort()).to.deep.equal(withoutWords);
  });

  it("says what happened, with the figures and the words of the mail server", async () => {
    expect(await wordsOf("RecipientFailed")).to.equal("Recipient 0 failed: 550 5.1.1 <…> mailbox unavailable");
    expect(await wordsOf("MailingCompleted")).to.equal(
      "The mailing ended as completed-with-failures: 2097 of 2400 recipients sent, 302 failed, 1 suppressed.",
    );
    expect(await wordsOf("JobRetryScheduled")).to.match(
      /^The next attempt is at 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC: ./,
    );
    expect(await wordsOf("MailingPaused")).to.equal("The mailing stopped by itself: 120 of 1000 recipients failed.");
    expect(await wordsOf("ReceiverReleased")).to.equal(
      "example.org takes mails of the route default as fast as before, after 14 min.",
    );
  });

  it("is not there for a type that this release does not know", () => {
    expect(eventInWords({ type: "toString", data: {} })).to.equal(null);
  });
});
