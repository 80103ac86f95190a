import { expect } from "chai";
import { eraseContent } from "../../src/content/stored-content.ts";
import { newJob } from "../support/happen.ts";
import { createMemoryContentStore } from "../support/memory/memory-content-store.ts";

describe("The erasure of a content", () => {
  it("erases also what cannot be decoded", async () => {
    const contentStore = createMemoryContentStore();
    const job = newJob();
    await contentStore.put(job, Buffer.from('{"recipients":[{"email":"ada@exam'));
    await eraseContent(contentStore, job);
    expect(await contentStore.get(job)).to.equal(null);
  });
});
