import { readFile } from "node:fs/promises";
import { Agent, request } from "node:http";
import { expect } from "chai";
import { parseAllDocuments } from "yaml";
import { eventually } from "../support/eventually.ts";
import { type Stage, setStage } from "../support/stage.ts";
import { spawnWaybill, type WaybillProcess } from "../support/waybill.ts";

const manifest = new URL("../../ops/kubernetes/api.yaml", import.meta.url);

/** Of the container in the manifest, in MiB. */
async function memoryLimit(): Promise<number> {
  const documents = parseAllDocuments(await readFile(manifest, "utf8")).map((document) => document.toJS());
  const deployment = documents.find(({ kind }) => kind === "Deployment");
  return Number.parseInt(deployment.spec.template.spec.containers[0].resources.limits.memory, 10);
}

/** The most that a process ever had resident, in MiB. */
async function mostResident(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

describe("A process of the API that is sent many large bodies at once", function () {
  this.timeout(120_000);

  let stage: Stage;
  let api: WaybillProcess;

  before(async () => {
    stage = await setStage();
    api = await spawnWaybill(stage.surroundings, "api");
  });
  after(async () => {
    await api.terminate();
    await stage.cleanUp();
  });

  it("stays within the memory that its manifest allows, tells those that it does not take when to come again, and takes more afterwards", async () => {
    const file = { filename: "a.bin", contentType: "application/octet-stream", content: "A".repeat(6_900_000) };
    const mailing = { subject: "Invoice", body: "t".repeat(900_000), recipients: ["ada@example.com"] };
    const body = Buffer.from(JSON.stringify({ ...mailing, attachments: [file] }));
    expect(body.length).to.be.within(7_800_000, 7_900_000);
    const answers = await postAtOnce(`${api.url}/api/jobs`, body, 150);
    // On a busy machine it may take none of them in time.
    for (const { status, retryAfter } of answers) {
      expect(status).to.be.oneOf([201, 503, null]);
      if (status === 503) expect(retryAfter).to.equal("2");
    }
    expect(answers.map(({ status }) => status)).to.include(503);
    expect(await mostResident(api.pid)).to.be.lessThan(await memoryLimit());
    const post = async () => (await postAtOnce(`${api.url}/api/jobs`, body, 1))[0]?.status;
    await eventually(async () => expect(await post()).to.equal(201), 30_000);
  });
});

/** Without a status where the server hung up on a client that was still sending: one on a busy machine sends for long. */
type Answer = { readonly status: number | null; readonly retryAfter: string | undefined };

async function postAtOnce(url: string, body: Buffer, count: number): Promise<readonly Answer[]> {
  const agent = new Agent({ maxSockets: count });
  const headers = { "Content-Type": "application/json", "Content-Length": body.length };
  const post = (): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const hungUp = ({ code = "", message }: NodeJS.ErrnoException): void => {
        if (["EPIPE", "ECONNRESET"].includes(code)) resolve({ status: null, retryAfter: undefined });
        else reject(new Error(message));
      };
      const asked = request(url, { method: "POST", agent, headers }, (answer) => {
        const { statusCode: status = 0 } = answer;
        answer.on("error", hungUp).resume();
        answer.once("end", () => resolve({ status, retryAfter: answer.headers["retry-after"] }));
      });
      asked.on("error", hungUp);
      asked.end(body);
    });
  try {
    return await Promise.all(Array.from({ length: count }, post));
  } finally {
    agent.destroy();
  }
}
