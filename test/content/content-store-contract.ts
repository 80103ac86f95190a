import { expect } from "chai";
import { v7 as uuid } from "uuid";
import type { ContentStore, JobContent } from "../../src/content/content-store.ts";
import { decodeContent, digestOf, encodeContent } from "../../src/content/encode-content.ts";
import { eraseContent } from "../../src/content/stored-content.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";

const newJob = (): JobRef => ({ tenant: "default", jobId: uuid() });
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const asText = (bytes: Uint8Array | null): string | null => bytes && new TextDecoder().decode(bytes);

const invoice: JobContent = {
  name: "november",
  metadata: { campaign: "7" },
  subject: "Ihre Rechnung für November, 世界 \u{1f4e8}",
  html: "<p>Grüße</p>",
  text: null,
  from: null,
  replyTo: "billing@example.com",
  headers: { "X-Campaign": "7" },
  recipients: [{ email: "ada@example.com" }, { email: "bob@example.com", variables: { name: "Bob" } }],
};

const attachment = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 251));
const sha256 = digestOf(attachment);

/** What every content store promises of the attachments of a job. */
export function attachmentStoreContract(open: () => ContentStore): void {
  describe("the attachments of a job", () => {
    it("come back byte for byte, large ones and empty ones", async () => {
      const [{ attachments }, job] = [open(), newJob()];
      for (const bytes of [attachment, Buffer.alloc(0), Buffer.from("hi")]) {
        await attachments.put(job, digestOf(bytes), bytes);
        expect((await attachments.get(job, digestOf(bytes)))?.equals(bytes)).to.equal(true);
      }
    });

    it("may be stored again, also by several at the same moment", async () => {
      const [{ attachments }, job] = [open(), newJob()];
      await Promise.all([1, 2, 3, 4].map(() => attachments.put(job, sha256, attachment)));
      await attachments.put(job, sha256, attachment);
      expect(digestOf((await attachments.get(job, sha256)) ?? "")).to.equal(sha256);
    });

    it("are nothing where none was stored, or another job's or tenant's was", async () => {
      const [{ attachments }, job] = [open(), newJob()];
      await attachments.put(job, sha256, attachment);
      expect(await attachments.get(newJob(), sha256)).to.equal(null);
      expect(await attachments.get({ ...job, tenant: "acme" }, sha256)).to.equal(null);
      expect(await attachments.get(job, digestOf("another"))).to.equal(null);
    });

    it("are gone once they are erased, twice or not, and can be stored anew", async () => {
      const [store, job] = [open(), newJob()];
      const named = { filename: "a", contentType: "a/b", contentId: null, size: attachment.length, sha256 };
      await store.put(job, encodeContent({ ...invoice, attachments: [named] }));
      await store.attachments.put(job, sha256, attachment);
      await eraseContent(store, job);
      await eraseContent(store, job);
      expect(await store.attachments.get(job, sha256)).to.equal(null);
      await store.attachments.put(job, sha256, attachment);
      expect(digestOf((await store.attachments.get(job, sha256)) ?? "")).to.equal(sha256);
    });
  });
}

/** What every content store promises. Each test makes a job of its own, so they may share one store. */
export function contentStoreContract(open: () => ContentStore): void {
  describe("the content of a job", () => {
    it("comes back byte for byte, so that its digest still fits", async () => {
      const [store, job] = [open(), newJob()];
      const bytes = encodeContent(invoice);
      expect(await store.put(job, bytes)).to.equal(true);
      const stored = (await store.get(job)) ?? new Uint8Array();
      expect(digestOf(stored)).to.equal(digestOf(bytes));
      expect(decodeContent(stored)).to.deep.equal(invoice);
    });

    it("is stored once: what is there already stays", async () => {
      const [store, job] = [open(), newJob()];
      expect(await store.put(job, bytesOf("first"))).to.equal(true);
      expect(await store.put(job, bytesOf("second"))).to.equal(false);
      expect(await store.put(job, bytesOf("first"))).to.equal(false);
      expect(asText(await store.get(job))).to.equal("first");
    });

    it("is stored once also when two store it at the same moment", async () => {
      const [store, job] = [open(), newJob()];
      const texts = ["one", "two", "three"];
      const stored = await Promise.all(texts.map((text) => store.put(job, bytesOf(text))));
      const winner = texts.filter((_, index) => stored[index]);
      expect(winner).to.have.length(1);
      expect(asText(await store.get(job))).to.equal(winner[0]);
    });

    it("is nothing where none was stored", async () => {
      expect(await open().get(newJob())).to.equal(null);
    });

    it("is a tenant's own, though another has a job of the same id", async () => {
      const [store, jobId] = [open(), uuid()];
      await store.put({ tenant: "acme", jobId }, bytesOf("of acme"));
      expect(await store.get({ tenant: "globex", jobId })).to.equal(null);
      expect(await store.put({ tenant: "globex", jobId }, bytesOf("of globex"))).to.equal(true);
      expect(asText(await store.get({ tenant: "acme", jobId }))).to.equal("of acme");
    });

    it("may be as large as the store says, and of any bytes", async () => {
      const [store, job] = [open(), newJob()];
      const bytes = Uint8Array.from({ length: store.maxBytes }, (_, index) => index % 256);
      expect(await store.put(job, bytes)).to.equal(true);
      expect(digestOf((await store.get(job)) ?? "")).to.equal(digestOf(bytes));
    });

    it("is not changed by what becomes of the bytes that it was given", async () => {
      const [store, job] = [open(), newJob()];
      const bytes = bytesOf("as it was");
      await store.put(job, bytes);
      bytes.fill(0);
      expect(asText(await store.get(job))).to.equal("as it was");
    });

    it("is rewritten in its place, and nothing where there is none", async () => {
      const [store, job] = [open(), newJob()];
      await store.rewrite(job, () => bytesOf("nothing to rewrite"));
      expect(await store.get(job)).to.equal(null);
      await store.put(job, bytesOf("ada and bob"));
      await store.rewrite(job, (content) => bytesOf(asText(content)?.replace("ada", "***") ?? ""));
      await store.rewrite(job, (content) => content);
      expect(asText(await store.get(job))).to.equal("*** and bob");
      expect(await store.put(job, bytesOf("another"))).to.equal(false);
    });

    it("is rewritten by several at once, each of what the other has left", async () => {
      const [store, job] = [open(), newJob()];
      await store.put(job, bytesOf("abcdef"));
      const without = (letter: string) =>
        store.rewrite(job, (content) => bytesOf(asText(content)?.replace(letter, "-") ?? ""));
      await Promise.all(["a", "b", "c", "d", "e"].map(without));
      expect(asText(await store.get(job))).to.equal("-----f");
    });

    it("is gone once it was erased, twice or not, rewritten or not", async () => {
      const [store, job] = [open(), newJob()];
      await store.put(job, bytesOf("once"));
      await store.rewrite(job, () => bytesOf("twice"));
      await Promise.all([store.erase(job), store.erase(job)]);
      await store.erase(job);
      expect(await store.get(job)).to.equal(null);
      await store.rewrite(job, () => bytesOf("back again"));
      expect(await store.get(job)).to.equal(null);
    });
  });
}
