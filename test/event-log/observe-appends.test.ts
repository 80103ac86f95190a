import { expect } from "chai";
import { observeContents } from "../../src/content/stored-content.ts";
import { Unavailable } from "../../src/domain/unavailable.ts";
import { LogFull } from "../../src/event-log/log-failures.ts";
import { type Append, observeAppends } from "../../src/event-log/observe-appends.ts";
import { caused, job, jobCreated, recipientSent } from "../support/examples.ts";
import { failureOf } from "../support/failure-of.ts";
import { createMemoryContentStore } from "../support/memory/memory-content-store.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";

describe("A log that is observed", () => {
  let heard: Append[];
  const outcomes = () => heard.map(({ entry, outcome }) => [entry[0].event.type, outcome]);
  beforeEach(() => {
    heard = [];
  });

  it("stores as before, and tells of each event when it is stored", async () => {
    const log = observeAppends(createMemoryEventLog(), (append) => heard.push(append));
    expect(await log.append(job, [caused("one", jobCreated())], 0)).to.equal(1);
    expect(await log.record(job, [caused("two", recipientSent())])).to.equal(2);
    expect(await log.lastDecision(job)).to.equal(1);
    expect(outcomes()).to.deep.equal([
      ["JobCreated", "stored"],
      ["RecipientSent", "stored"],
    ]);
  });

  it("tells why an event was not stored, and fails as before", async () => {
    const log = createMemoryEventLog();
    const failing = (failure: Error) => ({ ...log, record: () => Promise.reject(failure) });
    const failures = [new Unavailable("away"), new LogFull("full"), new Error("broken")];
    for (const failure of failures) {
      const observed = observeAppends(failing(failure), (append) => heard.push(append));
      expect(await failureOf(observed.record(job, [caused("one", recipientSent())]))).to.equal(failure);
    }
    const observed = observeAppends(log, (append) => heard.push(append));
    await failureOf(observed.append(job, [caused("two", jobCreated())], 7));
    expect(outcomes().map(([, outcome]) => outcome)).to.deep.equal(["unavailable", "full", "failed", "conflict"]);
  });

  it("has a store of contents beside it, whose limit goes on following the server", async () => {
    let maxBytes = 10;
    const memory = createMemoryContentStore();
    const changing = {
      ...memory,
      get maxBytes() {
        return maxBytes;
      },
    };
    const told: string[] = [];
    const store = observeContents(changing, (outcome) => told.push(outcome));
    maxBytes = 20;
    expect(store.maxBytes).to.equal(20);
    expect(await store.put(job, new Uint8Array([1]))).to.equal(true);
    expect(await store.get(job)).to.deep.equal(new Uint8Array([1]));
    expect(told).to.deep.equal(["stored"]);
  });
});
