import { expect } from "chai";
import { encodeEntry } from "../../src/event-log/encode-entry.ts";
import { newJob } from "../support/happen.ts";
import { historyOfEndedJob } from "./ended-job.ts";

describe("the history of an ended job that the benchmark writes", () => {
  const job = newJob();
  const history = [...historyOfEndedJob(job, 25, "a".repeat(64))];
  const events = history.flat().map(({ event }) => event);

  it("begins with its creation and ends with its completion", () => {
    expect([events.at(0)?.type, events.at(-1)?.type]).to.deep.equal(["JobCreated", "JobCompleted"]);
  });

  it("claims each recipient before it is sent, and sends each once", () => {
    const claimed = new Set<number>();
    const sent: number[] = [];
    for (const { type, data } of events) {
      if (type === "RecipientsClaimed") for (const recipient of data.recipients) claimed.add(recipient);
      if (type !== "RecipientSent") continue;
      expect(claimed.has(data.recipient)).to.equal(true);
      sent.push(data.recipient);
    }
    expect(sent).to.deep.equal(Array.from({ length: 25 }, (_, index) => index));
  });

  it("is what the log would take, each event with an id of its own", () => {
    for (const entry of history) encodeEntry(job, entry);
    expect(new Set(history.flat().map(({ id }) => id)).size).to.equal(events.length);
  });
});
