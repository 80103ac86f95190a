import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { v7 as uuid } from "uuid";
import type { ResultChunk, ResultRef, ResultStore } from "../../src/content/result-store.ts";
import { eraseResult } from "../../src/content/stored-content.ts";

export const newResult = (tenant = "default"): ResultRef => ({ tenant, jobId: uuid(), run: 1 });

export const chunkOf = (text: string | Uint8Array, change: Partial<ResultChunk> = {}): ResultChunk => ({
  bytes: Buffer.from(text),
  rows: 1,
  cursor: "2026-11-21T09:30:00.000Z 17",
  isLast: false,
  ...change,
});

const textOf = (chunk: ResultChunk | null): string | null => chunk && Buffer.from(chunk.bytes).toString();

/** What every store of results promises. Each test makes a job of its own, so they may share one store. */
export function resultStoreContract(open: () => ResultStore): void {
  describe("the file of a job", () => {
    it("comes back piece by piece, byte for byte, with what is said of each", async () => {
      const [store, result] = [open(), newResult()];
      const chunks = [chunkOf("a\n\r\nb\0"), chunkOf("", { rows: 0, cursor: null }), chunkOf("end", { isLast: true })];
      for (const [index, chunk] of chunks.entries()) expect(await store.put(result, index, chunk)).to.equal(true);
      for (const [index, chunk] of chunks.entries()) {
        const { bytes, ...description } = (await store.get(result, index)) ?? chunkOf("nothing");
        expect(Buffer.compare(bytes, chunk.bytes)).to.equal(0);
        expect(description).to.deep.equal({ rows: chunk.rows, cursor: chunk.cursor, isLast: chunk.isLast });
      }
    });

    it("has nothing where nothing was stored: another piece, run, job or tenant", async () => {
      const [store, result] = [open(), newResult()];
      await store.put(result, 0, chunkOf("mine"));
      expect(await store.get(result, 1)).to.equal(null);
      for (const other of [
        { ...result, run: 2 },
        { ...result, jobId: uuid() },
        { ...result, tenant: "acme" },
      ]) {
        expect(await store.get(other, 0)).to.equal(null);
      }
    });

    it("is not changed: a piece that is there stays, also when two store it at the same moment", async () => {
      const [store, result] = [open(), newResult()];
      const texts = ["one", "two", "three"];
      const stored = await Promise.all(texts.map((text) => store.put(result, 0, chunkOf(text))));
      const winner = texts.filter((_, index) => stored[index]);
      expect(winner).to.have.length(1);
      expect(await store.put(result, 0, chunkOf("four"))).to.equal(false);
      expect(textOf(await store.get(result, 0))).to.equal(winner[0]);
    });

    it("may have pieces as large as the store says", async () => {
      const [store, result] = [open(), newResult()];
      const bytes = randomBytes(store.maxBytes);
      expect(await store.put(result, 0, chunkOf(bytes, { cursor: "c".repeat(500) }))).to.equal(true);
      expect(Buffer.compare((await store.get(result, 0))?.bytes ?? bytes.subarray(1), bytes)).to.equal(0);
    });

    it("is among those of its tenant, each run of it once, until it is erased", async () => {
      const [store, tenant] = [open(), `tenant-${uuid()}`];
      const [one, other] = [newResult(tenant), newResult(tenant)];
      expect(await store.ofTenant(tenant)).to.deep.equal([]);
      for (const index of [0, 1]) await store.put(one, index, chunkOf("one"));
      await store.put({ ...one, run: 2 }, 0, chunkOf("again"));
      await store.put(other, 0, chunkOf("other"));
      await store.put({ ...other, tenant: `${tenant}x` }, 0, chunkOf("another tenant's"));
      expect(await store.ofTenant(tenant)).to.have.deep.members([one, { ...one, run: 2 }, other]);
      await store.erase(other, 0);
      expect(await store.ofTenant(tenant)).to.have.deep.members([one, { ...one, run: 2 }]);
    });

    it("is gone once it is erased, once or twice, in all its runs, and no other job's is", async () => {
      const [store, result, other] = [open(), newResult(), newResult()];
      await store.put(other, 0, chunkOf("other"));
      for (const run of [1, 2]) {
        for (const index of [0, 1, 2]) await store.put({ ...result, run }, index, chunkOf(`${run}.${index}`));
      }
      // As after a crash in the middle: the end is gone already.
      await store.erase(result, 2);
      await eraseResult(store, result);
      await eraseResult(store, result);
      for (const run of [1, 2]) {
        for (const index of [0, 1, 2]) expect(await store.get({ ...result, run }, index)).to.equal(null);
      }
      expect(textOf(await store.get(other, 0))).to.equal("other");
    });

    it("is gone, too, where its end alone was stored again after it was erased", async () => {
      const [store, result] = [open(), newResult()];
      for (const index of [0, 1, 10]) await store.put(result, index, chunkOf(`${index}`));
      for (const index of [0, 1]) await store.erase(result, index);
      expect(await store.piecesOf(result)).to.deep.equal([{ run: 1, index: 10 }]);
      await eraseResult(store, result);
      expect(await store.piecesOf(result)).to.deep.equal([]);
      expect(await store.get(result, 10)).to.equal(null);
    });
  });
}
