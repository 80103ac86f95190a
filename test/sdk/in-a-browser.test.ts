import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { type BuildResult, build } from "esbuild";
import { digestOf } from "../../src/content/encode-content.ts";
import { signed } from "../../src/seals/evidence.ts";
import { newSealKey } from "../../src/seals/seal-key.ts";
import { openPage } from "../support/browser.ts";
import { mailing, type RunningApi, startApi } from "../support/running-api.ts";

/** As the script `build:client` bundles it. */
const bundle = (): Promise<BuildResult<{ write: false; metafile: true }>> =>
  build({
    entryPoints: [fileURLToPath(new URL("../../src/sdk/client.ts", import.meta.url))],
    ...{ bundle: true, format: "esm", target: "es2022", write: false, metafile: true, logLevel: "silent" },
  }) as Promise<BuildResult<{ write: false; metafile: true }>>;

const key = newSealKey();
const content = JSON.stringify({ subject: "News", body: "Hi", recipients: [{ email: "ada@example.com" }] });

/** Evidence that no seal covers yet: its signature is what the page checks. */
const evidence = signed(
  {
    ...{
      format: "waybill-evidence/1",
      tenant: "acme",
      jobId: "one",
      madeAt: "2026-11-21T10:00:00.000Z",
      logSequence: 1,
    },
    entries: [
      {
        ...{ sequence: 1, storedAt: "1763716183123456789", subject: "jobs.acme.one.job" },
        body: JSON.stringify([
          {
            ...{ subject: "one", type: "JobCreated", time: "2026-11-21T09:30:00.000Z", actor: "anonymous" },
            data: { contentSha256: digestOf(content) },
          },
        ]),
        proof: null,
      },
    ],
    seals: [],
    content,
  },
  key,
);

/** What an application in a page does, in the page. */
const program = `(async () => {
  const { Waybill, RequestRefused, verifyWebhook, verifyEvidence, WebhookRefused } = await import("/client.js");
  const waybill = new Waybill({ url: location.origin });
  const { jobId } = await waybill.jobs.create(${JSON.stringify(mailing)});
  const refusal = await waybill.jobs.create({ ...${JSON.stringify(mailing)}, recipients: ["ada"] }).catch((one) => one);
  const { mailingId } = await waybill.mailings.create({ subject: "News", text: "Hi" });
  async function* people() {
    for (let number = 0; number < 1200; number += 1) yield { email: "p" + number + "@example.com", name: "P" };
  }
  const { added } = await waybill.mailings.addRecipients(mailingId, people());
  let first = null;
  for await (const event of waybill.events.follow({ types: ["JobCreated"] })) {
    first = event.jobId;
    break;
  }
  const body = JSON.stringify({ type: "job.completed" });
  const headers = { "webhook-id": "1", "webhook-timestamp": String(Math.floor(Date.now() / 1000)), "webhook-signature": "v1,AAAA" };
  const webhook = await verifyWebhook({ headers, body, secret: "whsec_" + btoa("secret") }).catch((one) => one);
  const keys = [${JSON.stringify(key.publicKey)}];
  const proven = await verifyEvidence(${JSON.stringify(evidence)}, { keys });
  const altered = ${JSON.stringify(evidence.replace("anonymous", "anonymouz"))};
  const evidence = await verifyEvidence(altered, { keys }).catch((one) => one);
  return {
    isSame: first === jobId,
    added,
    refused: refusal instanceof RequestRefused && refusal.code,
    webhook: webhook instanceof WebhookRefused,
    proven: proven.jobId,
    evidence: evidence.code,
  };
})()`;

describe("The client for applications, in a browser", function () {
  this.timeout(60_000);

  let api: RunningApi;
  let server: Server;
  let script: string;

  before(async () => {
    api = await startApi();
    script = (await bundle()).outputFiles[0]?.text ?? "";
    server = createServer((request, response) => {
      if (request.url === "/client.js") {
        response.writeHead(200, { "Content-Type": "text/javascript" }).end(script);
      } else if (request.url === "/") {
        response.writeHead(200, { "Content-Type": "text/html" }).end("<!doctype html><title>Application</title>");
      } else {
        void passOn(request.url ?? "", request, response, api.url);
      }
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
  });
  after(async () => {
    server.closeAllConnections();
    server.close();
    await api.close();
  });

  it("creates jobs, imports recipients, follows events and tells failures apart", async () => {
    const { port } = server.address() as AddressInfo;
    const { page, sins, close } = await openPage(`http://127.0.0.1:${port}/`);
    try {
      expect(await page.evaluate(program)).to.deep.equal({
        isSame: true,
        added: 1200,
        refused: "validation-failed",
        webhook: true,
        proven: "one",
        evidence: "evidence-refused",
      });
      expect(sins).to.deep.equal([]);
    } finally {
      await close();
    }
  });

  it("is made of its own files alone, and needs nothing of Node", async () => {
    const { metafile } = await bundle();
    const foreign = Object.keys(metafile.inputs).filter((path) => !/^(?:.*\/)?src\/sdk\/[a-z-]+\.ts$/.test(path));
    expect(foreign).to.deep.equal([]);
    const imported = Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path));
    expect(imported).to.deep.equal([]);
    expect(script).not.to.match(/\b(?:Buffer|process)\b/);
  });
});

/** The service and the application have one origin, as behind a proxy. */
async function passOn(
  path: string,
  request: import("node:http").IncomingMessage,
  response: import("node:http").ServerResponse,
  url: string,
): Promise<void> {
  const body = Buffer.concat(await request.toArray());
  const { "content-type": type = "application/json", "idempotency-key": key } = request.headers;
  const headers = { "Content-Type": type, ...(typeof key === "string" ? { "Idempotency-Key": key } : {}) };
  const asked = { method: request.method ?? "GET", headers, ...(body.length === 0 ? {} : { body }) };
  const answer = await fetch(url + path, asked);
  response.writeHead(answer.status, { "Content-Type": answer.headers.get("Content-Type") ?? "text/plain" });
  response.end(Buffer.from(await answer.arrayBuffer()));
}
