import { expect } from "chai";
import type { JobEvent } from "../../src/domain/job/events.ts";
import type { StoredEvent } from "../../src/event-log/event-log.ts";
import { createPublisher } from "../../src/webhooks/publisher.ts";
import type { Receivers } from "../../src/webhooks/receivers.ts";
import { caused, job, jobCompleted, jobCreated } from "../support/examples.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";

describe("A job that has ended", () => {
  const never = new AbortController().signal;
  const ending = { stopping: never, givenUp: never };
  /** Notes of each job that ended whether it may name a URL of its own. */
  const startPublisher = () => {
    const lookups: boolean[] = [];
    const receivers: Receivers = {
      endpointsFor: async (_job, _type, _at, mayNameUrl) => {
        lookups.push(mayNameUrl);
        return [];
      },
      find: async () => null,
    };
    return {
      lookups,
      ...createPublisher(createMemoryEventLog(), receivers, { send: async () => true, putOff: async () => {} }),
    };
  };
  const stored = (event: JobEvent, sequence: number): StoredEvent<JobEvent> => ({
    ...caused(`${event.type}/${sequence}`, event),
    ...job,
    sequence,
    index: 0,
  });

  for (const [said, hasWebhookUrl, isLookedUp] of [
    ["to name no URL", false, false],
    ["to name one", true, true],
    ["nothing of a URL", undefined, true],
  ] as const) {
    it(`is${isLookedUp ? "" : " not"} looked up for a URL if its creation was followed and said ${said}`, async () => {
      const { lookups, act } = startPublisher();
      const created = jobCreated(hasWebhookUrl === undefined ? {} : { hasWebhookUrl });
      expect(act(stored(created, 1), ending)).to.equal(null);
      await act(stored(jobCompleted(), 2), ending);
      expect(lookups).to.deep.equal([isLookedUp]);
    });
  }

  it("is looked up if its creation was before the publisher followed the log", async () => {
    const { lookups, act } = startPublisher();
    await act(stored(jobCompleted(), 2), ending);
    expect(lookups).to.deep.equal([true]);
  });
});
