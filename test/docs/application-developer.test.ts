import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect } from "chai";
import { failureOf } from "../support/failure-of.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { type Block, readBlocks } from "./blocks.ts";
import { describeDocument } from "./document.ts";

const guide = "ops/guides/application-developer.md";

describeDocument(guide, { startsItself: true, atMostNotRun: 0 });

type CreateJob = (key: string, request: object, attemptsLeft?: number, delayMs?: number) => Promise<unknown>;
type Scripted = { readonly status: number; readonly body?: object; readonly retryAfter?: string } | "breaks off";

describe("the client in the guide for application developers", () => {
  let folder: string;
  let service: Receiver;
  let createJob: CreateJob;

  before(async () => {
    const markdown = await readFile(fileURLToPath(new URL(`../../${guide}`, import.meta.url)), "utf8");
    const isClient = ({ directive }: Block) => directive?.kind === "save" && directive.file === "waybill-client.mjs";
    folder = await temporaryFolder();
    await writeFile(join(folder, "client.mjs"), readBlocks(markdown).find(isClient)?.text ?? "");
    service = await startReceiver();
    process.env["WAYBILL_URL"] = service.url;
    ({ createJob } = await import(pathToFileURL(join(folder, "client.mjs")).href));
    delete process.env["WAYBILL_URL"];
  });
  after(async () => {
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** The last answer stays. */
  const serviceAnswers = (...answers: readonly Scripted[]): void => {
    const left = [...answers];
    service.answers((response) => {
      const answer = left.length > 1 ? left.shift() : left[0];
      if (answer === undefined || answer === "breaks off") return void response.destroy();
      response
        .writeHead(answer.status, { "Retry-After": answer.retryAfter ?? "0" })
        .end(JSON.stringify(answer.body ?? {}));
    });
  };
  const keysSeen = (): readonly unknown[] => service.received.map(({ headers }) => headers["idempotency-key"]);

  it("asks again under the same key until there is an answer", async () => {
    serviceAnswers("breaks off", { status: 503 }, { status: 429 }, { status: 201, body: { jobId: "one" } });
    expect(await createJob("invoice-17", {}, 8, 1)).to.deep.equal({ jobId: "one" });
    expect(keysSeen()).to.deep.equal(Array(4).fill("invoice-17"));
  });

  it("does not repeat what was refused, and says why", async () => {
    serviceAnswers({
      status: 422,
      body: { detail: "It came with another body before.", code: "idempotency-key-reused" },
    });
    const asked = service.received.length;
    const failure = await failureOf(createJob("invoice-17", {}));
    expect(failure.message).to.equal("It came with another body before.");
    expect(failure.cause).to.include({ code: "idempotency-key-reused" });
    expect(service.received.length - asked).to.equal(1);
  });

  it("does not wait for tomorrow", async () => {
    serviceAnswers({ status: 429, body: { detail: "The tenant's recipients are used up." }, retryAfter: "3600" });
    expect((await failureOf(createJob("invoice-17", {}))).message).to.equal("The tenant's recipients are used up.");
  });

  it("gives up after the attempts that it was given", async () => {
    serviceAnswers({ status: 503, body: { detail: "The event log cannot be reached." } });
    const asked = service.received.length;
    expect((await failureOf(createJob("invoice-17", {}, 3, 1))).message).to.equal("The event log cannot be reached.");
    expect(service.received.length - asked).to.equal(3);
  });
});
