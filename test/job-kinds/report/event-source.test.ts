import { expect } from "chai";
import type { EventLog } from "../../../src/event-log/event-log.ts";
import { createEventSource } from "../../../src/job-kinds/report/event-source.ts";
import { jobCreated } from "../../support/examples.ts";
import { happen, newJob } from "../../support/happen.ts";
import { createMemoryEventLog } from "../../support/memory/memory-event-log.ts";

describe("A report of events", () => {
  it("reads no stretch of the log in which the tenant has none", async () => {
    const memory = createMemoryEventLog();
    for (let job = 0; job < 2000; job += 1) await happen(memory, newJob(), [jobCreated()]);
    const began = { sequence: await happen(memory, newJob(), [jobCreated()]), at: "2026-11-26T12:00:00.000Z" };
    const readFrom: number[] = [];
    const log: EventLog = {
      ...memory,
      follow: (options) => {
        readFrom.push(options.afterSequence);
        return memory.follow(options);
      },
    };
    const stretches = {
      next: async (_: string, after: number) =>
        after < 900 ? { first: 901, last: 950 } : { first: 1801, last: Number.POSITIVE_INFINITY },
    };
    const span = { tenant: "default", from: null, to: null, began };
    const sequences: number[] = [];
    const { signal } = new AbortController();
    for await (const rows of createEventSource(log, stretches).read(span, null, signal)) {
      sequences.push(...rows.map(({ row }) => row.sequence));
    }
    expect(readFrom).to.deep.equal([900, 1800]);
    const [first, last] = [sequences[0], sequences.at(-1)];
    expect([first, last]).to.deep.equal([901, 2000]);
    expect(sequences.filter((sequence) => sequence > 950 + 500 && sequence < 1801)).to.deep.equal([]);
  });
});
