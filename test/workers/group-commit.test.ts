import { expect } from "chai";
import type { RecipientEvent } from "../../src/domain/recipients/events.ts";
import type { NewEvent } from "../../src/event-log/event-log.ts";
import { createGroupCommit } from "../../src/workers/group-commit.ts";
import { eventually } from "../support/eventually.ts";
import { caused, recipientSent } from "../support/examples.ts";
import { failureOf } from "../support/failure-of.ts";

const sent = (recipient: number): NewEvent<RecipientEvent> => caused(`sent-${recipient}`, recipientSent({ recipient }));

/** A log whose answers are given by hand. */
function createSlowLog() {
  const entries: string[][] = [];
  const answers: { readonly stored: () => void; readonly failed: (failure: Error) => void }[] = [];
  return {
    entries,
    answers,
    store: (entry: readonly NewEvent[]) => {
      entries.push(entry.map(({ id }) => id));
      return new Promise<void>((stored, failed) => answers.push({ stored, failed }));
    },
  };
}

describe("A group commit", () => {
  it("stores what becomes known while an entry is on its way in the next one, in order", async () => {
    const log = createSlowLog();
    const group = createGroupCommit(log.store, 2);
    for (let recipient = 0; recipient < 7; recipient += 1) group.add(sent(recipient));
    expect(log.entries).to.deep.equal([["sent-0", "sent-1"]]);
    log.answers[0]?.stored();
    await eventually(() => expect(log.entries).to.have.length(2));
    expect(log.entries[1]).to.deep.equal(["sent-2", "sent-3", "sent-4", "sent-5", "sent-6"]);
  });

  it("lets an entry that is not full leave a moment later, and at once in a hurry", async () => {
    const log = createSlowLog();
    const group = createGroupCommit(log.store, 10);
    group.add(sent(0));
    expect(log.entries).to.deep.equal([]);
    await eventually(() => expect(log.entries).to.deep.equal([["sent-0"]]));
    log.answers[0]?.stored();
    await eventually(async () => {
      group.add(sent(1));
      group.hurry();
      expect(log.entries.length).to.be.greaterThan(1);
    });
  });

  it("says when an event is on its way, and when it is stored", async () => {
    const log = createSlowLog();
    const group = createGroupCommit(log.store, 1);
    const [first, second] = [group.add(sent(0)), group.add(sent(1))];
    await first.written;
    const order: string[] = [];
    const all = [
      first.stored.then(() => order.push("first stored")),
      second.written.then(() => order.push("second written")),
      second.stored.then(() => order.push("second stored")),
    ];
    log.answers[0]?.stored();
    await eventually(() => expect(log.answers).to.have.length(2));
    log.answers[1]?.stored();
    await Promise.all(all);
    expect(order).to.deep.equal(["first stored", "second written", "second stored"]);
  });

  it("holds no more than 64 events in an entry", async () => {
    const log = createSlowLog();
    const group = createGroupCommit(log.store, 1000);
    for (let recipient = 0; recipient < 130; recipient += 1) group.add(sent(recipient));
    for (let entry = 0; entry < 3; entry += 1) {
      await eventually(() => expect(log.answers).to.have.length(entry + 1));
      log.answers[entry]?.stored();
    }
    expect(log.entries.map(({ length }) => length)).to.deep.equal([64, 64, 2]);
  });

  it("hands over the rest once nothing is on its way, for the caller to store", async () => {
    const log = createSlowLog();
    const group = createGroupCommit(log.store, 2);
    const events = [0, 1, 2].map((recipient) => group.add(sent(recipient)));
    const taking = group.takeRest(63);
    log.answers[0]?.stored();
    const rest = await taking;
    expect(rest.events.map(({ id }) => id)).to.deep.equal(["sent-2"]);
    rest.settle();
    await Promise.all(events.map(({ stored }) => stored));
    expect(log.entries).to.have.length(1);
  });

  it("still stores what waits behind an entry that could not be stored, though there is no rest to take", async () => {
    const log = createSlowLog();
    const group = createGroupCommit(log.store, 2);
    const events = [0, 1, 2].map((recipient) => group.add(sent(recipient)));
    const taking = group.takeRest(63);
    log.answers[0]?.failed(new Error("full"));
    expect(String(await failureOf(taking))).to.include("full");
    group.hurry();
    await eventually(() => expect(log.entries).to.deep.equal([["sent-0", "sent-1"], ["sent-2"]]));
    log.answers[1]?.stored();
    await events[2]?.stored;
  });

  it("fails for the events of an entry that could not be stored, and hands over no rest after that", async () => {
    const log = createSlowLog();
    const group = createGroupCommit(log.store, 1);
    const { stored } = group.add(sent(0));
    log.answers[0]?.failed(new Error("full"));
    expect(String(await failureOf(stored))).to.include("full");
    group.add(sent(1));
    const taking = group.takeRest(63);
    await eventually(() => expect(log.answers).to.have.length(2));
    log.answers[1]?.stored();
    expect(String(await failureOf(taking))).to.include("full");
  });
});
