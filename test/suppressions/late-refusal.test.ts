import { expect } from "chai";
import { createSuppressedDigests } from "../../src/suppressions/suppressed-digests.ts";
import { createSuppressionGuard } from "../../src/suppressions/suppression-guard.ts";
import { newJob } from "../support/happen.ts";
import { createMemorySuppressionStore } from "../support/memory/memory-suppression-store.ts";

const refusal = { code: "rejected", message: "no such user", statusCode: "5.1.1", replyCode: 550 } as const;

describe("A refusal that a worker tells late", () => {
  for (const wasErased of [false, true]) {
    it(`leaves ${wasErased ? "no address on the list where its job was erased meanwhile" : "the address of a job that was not erased"}`, async () => {
      const store = createMemorySuppressionStore();
      const digests = createSuppressedDigests({
        state: async () => ({ createdAt: "", lastSequence: 0 }),
        readAfter: async () => {},
        onEntry: () => () => {},
      });
      const guard = createSuppressionGuard(
        store,
        digests,
        async () => wasErased,
        (failure) => {
          throw failure;
        },
      );
      const turn = { job: newJob(), cause: { correlationId: null, traceparent: null } };
      await guard.refused(turn, "ada@example.com", refusal);
      const { suppressions } = await store.page(turn.job.tenant, { after: 0, limit: 10 });
      expect(suppressions.map(({ email }) => email)).to.deep.equal([wasErased ? null : "ada@example.com"]);
    });
  }
});
