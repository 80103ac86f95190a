import { expect } from "chai";
import type { RowResult, TakenRow } from "../../src/outbox/outbox.ts";
import { createRelay } from "../../src/outbox/relay.ts";
import { eventually } from "../support/eventually.ts";
import { createMemoryContentStore } from "../support/memory/memory-content-store.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";
import { createMemoryTemplateStore } from "../support/memory/memory-template-store.ts";

const requestOf = (from: string): string =>
  JSON.stringify({ subject: "Your invoice", body: "Hello", recipients: ["ada@example.com"], from });

describe("A relay of the outbox that stood still while its tenant got other senders", () => {
  /** What becomes of a row, of a relay that knows the senders of before until it asks. */
  async function resultOf(from: string): Promise<RowResult["outcome"] | undefined> {
    let senders = ["old.example"];
    const request = requestOf(from);
    const row = { id: "018f3a5e-7c1d-7000-8000-000000000001", tenant: "acme", attempts: 1 };
    let waiting: TakenRow[] = [{ ...row, request, bytes: request.length }];
    const results: RowResult[] = [];
    const relay = createRelay(
      {
        outbox: {
          waiting: async () => waiting.map(({ tenant }) => tenant),
          take: async () => {
            const rows = waiting;
            waiting = [];
            return { rows, hasMore: false };
          },
          settle: async (settled) => void results.push(...settled),
        },
        log: createMemoryEventLog(),
        room: { isLeftForJobs: async () => true },
        quota: { take: async () => ({ granted: true }) },
        contentStore: createMemoryContentStore(),
        templates: createMemoryTemplateStore(),
        limitsOf: () => ({ senders, dailyRecipients: null, approvalAbove: null }),
        refreshRules: async () => {
          senders = ["new.example"];
        },
        allowed: [],
        publicUrl: null,
        routesFor: () => ["default"],
        attemptsOfJob: 4,
        now: () => new Date().toISOString(),
      },
      { waits: () => {}, rowBroke: () => {} },
    );
    relay.start();
    try {
      await eventually(() => expect(results).to.have.length(1));
    } finally {
      await relay.stop();
    }
    return results[0]?.outcome;
  }

  it("makes the job of a row with one of them, which would have failed for good", async () => {
    expect(await resultOf("bills@new.example")).to.equal("processed");
  });

  it("makes none with a sender that was taken away", async () => {
    expect(await resultOf("bills@old.example")).to.equal("failed");
  });
});
