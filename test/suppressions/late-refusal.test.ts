import { expect } from "chai";
import { createSuppressedDigests } from "../../src/suppressions/suppressed-digests.ts";
import { createSuppressionGuard } from "../../src/suppressions/suppression-guard.ts";
import { createSuppressionList } from "../../src/suppressions/suppression-list.ts";
import { createKeyed } from "../../src/suppressions/unsubscribe-links.ts";
import { now } from "../support/examples.ts";
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

describe("An unsubscription", () => {
  it("that is repeated leaves no address where the content was erased while its answer was lost", async () => {
    const store = createMemorySuppressionStore();
    const list = createSuppressionList(store);
    const [job, email] = [newJob(), "ada@example.com"];
    const { digest } = await createKeyed(store)();
    const link = { job, recipient: 0, digest: digest(job.tenant, email) };
    const find = () => list.find(job.tenant, email);
    await list.unsubscribe(link, async () => email, now);
    expect(await find()).to.include({ email });
    await list.unsubscribe({ ...link, job: newJob() }, async () => null, now);
    expect(await find(), "of another job").to.include({ email });
    await list.unsubscribe(link, async () => null, now);
    expect(await find()).to.include({ email: null, reason: "unsubscribe" });
  });
});
