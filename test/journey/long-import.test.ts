import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { readMailing } from "../../src/commands/read-version.ts";
import { decodeContent } from "../../src/content/encode-content.ts";
import { createJetStreamContentStore } from "../../src/content/jetstream-content-store.ts";
import { createApiClient } from "../support/api-client.ts";
import { atEndOfRun } from "../support/end-of-run.ts";
import { eventually } from "../support/eventually.ts";
import { openJetStreamLog } from "../support/jetstream-log.ts";
import type { OwnNats } from "../support/services.ts";
import { type Stage, setStageOnOwnNats } from "../support/stage.ts";
import { spawnWaybill, type WaybillProcess } from "../support/waybill.ts";

/** By hand, a million: the test then prints what it took. */
const lines = Number(process.env["IMPORT_LINES"] ?? 20_000);
const mostMb = 300;
/** A short file is sent slowly, so that there is a middle to be killed in. */
const pauseMs = lines < 200_000 ? 100 : 0;
const withinMs = 600_000;

const isFaulty = (line: number): boolean => line % 100 === 7;
const isRepeated = (line: number): boolean => line % 20 === 11;
const isValid = (line: number): boolean => !isFaulty(line) && !isRepeated(line);
const valid = lines - lines / 100 - lines / 20;

/** Every hundredth line is faulty, every twentieth repeats an earlier address, in another spelling. */
function lineOf(line: number): string {
  if (isFaulty(line)) return `nobody${line}@`;
  return isRepeated(line) ? `PERSON${line - 3}@example.com` : `person${line}@example.com`;
}

/** A client of its own, which prints the status and the answer. */
const client = `
  import { createReadStream } from "node:fs";
  const [url, file, pauseMs] = process.argv.slice(1);
  async function* slowly() {
    for await (const chunk of createReadStream(file, { highWaterMark: pauseMs > 0 ? 12_000 : 256_000 })) {
      yield chunk;
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
  const init = { method: "PUT", headers: { "Content-Type": "text/csv" }, body: slowly(), duplex: "half" };
  const answer = await fetch(url, init);
  console.log(JSON.stringify({ status: answer.status, counts: await answer.json() }));
`;

type Answer = { readonly status: number; readonly counts: Readonly<Record<string, number>> };
type Importing = { readonly child: ChildProcess; readonly answer: Promise<Answer | null> };

/** The most memory that a process has ever taken; 0 where the system does not tell. */
async function peakMbOf({ pid }: { readonly pid: number }): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Math.round(Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024);
}

describe(`An import of ${lines} lines during which the API, the client and NATS are killed`, function () {
  this.timeout(3 * withinMs);

  let stage: Stage<OwnNats>;
  let api: WaybillProcess;
  let others: WaybillProcess;
  let file: string;
  let mailingId: string;
  let peakMb = 0;

  before(async () => {
    stage = await setStageOnOwnNats();
    file = join(stage.folder, "readers.csv");
    await writeFile(file, `email\n${Array.from({ length: lines }, (_, line) => `${lineOf(line)}\n`).join("")}`);
    [api, others] = await Promise.all([
      spawnWaybill(stage.surroundings, "api"),
      spawnWaybill(stage.surroundings, "scheduler,projector"),
    ]);
  });
  after(async () => {
    await Promise.all([api?.kill(), others?.kill()]);
    await stage?.cleanUp();
  });

  /** The whole file, by another process; the answer is null where it got none. */
  function importFile(): Importing {
    const url = `${api.url}/api/mailings/${mailingId}/recipients`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", client, url, file, String(pauseMs)], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    atEndOfRun(async () => void child.kill("SIGKILL"));
    let output = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
    const answer = once(child, "close").then(() => (output === "" ? null : (JSON.parse(output) as Answer)));
    return { child, answer };
  }
  const imported = async (): Promise<number> => {
    const { body } = await createApiClient(api.url).get(`/api/mailings/${mailingId}`);
    return (body as { readonly progress: { readonly total: number } }).progress.total;
  };
  const untilImported = (share: number): Promise<number> =>
    eventually(async () => {
      const count = await imported();
      expect(count).to.be.greaterThan(share * valid);
      return count;
    }, withinMs);
  const look = async (): Promise<void> => {
    peakMb = Math.max(peakMb, await peakMbOf(api), await peakMbOf(others));
  };
  /** An import whose client is gone ends a moment later. */
  const importToTheEnd = (): Promise<Answer> =>
    eventually(async () => {
      const answer = await importFile().answer;
      if (answer?.status !== 200) throw new Error(`The import was answered ${JSON.stringify(answer)}`);
      return answer;
    }, withinMs);

  it("ends with exactly the valid, distinct recipients, in little memory", async () => {
    const startedAt = performance.now();
    mailingId = await createApiClient(api.url).createMailing({ subject: "Hello", body: "Dear all" });
    const struck: number[] = [];

    const first = importFile();
    struck.push(await untilImported(0.15));
    await look();
    await api.kill();
    expect(await first.answer).to.equal(null);
    api = await spawnWaybill(stage.surroundings, "api");

    const second = importFile();
    struck.push(await untilImported(0.4));
    second.child.kill("SIGKILL");
    expect(await second.answer).to.equal(null);

    let isOver = false;
    const third = importToTheEnd().finally(() => {
      isOver = true;
    });
    struck.push(await untilImported(0.6));
    await stage.nats.kill();
    expect(isOver, "the import ended before NATS was killed").to.equal(false);
    await stage.nats.start();
    // It waits for NATS, and goes on; or it is repeated.
    await third;
    await look();
    const seconds = (performance.now() - startedAt) / 1000;

    const again = await importToTheEnd();
    expect(again.counts).to.include({ lines, added: 0, faulty: lines / 100, duplicates: lines - lines / 100 });
    expect(await imported()).to.equal(valid);
    expect(await recipientsOf(stage, mailingId)).to.deep.equal({ distinct: valid, doubled: 0, strange: [] });
    await look();
    expect(peakMb).to.be.lessThan(mostMb);
    if (process.env["IMPORT_LINES"] === undefined) return;
    const repeatedSeconds = (performance.now() - startedAt) / 1000 - seconds;
    process.stdout.write(
      `${lines} lines, killed at ${struck.join(", ")} of ${valid} recipients: ${seconds.toFixed(1)} s; ` +
        `the same again and all read back: ${repeatedSeconds.toFixed(1)} s; peak of a process ${peakMb} MB\n`,
    );
  });
});

type Found = { readonly distinct: number; readonly doubled: number; readonly strange: readonly string[] };

/** As they are stored, in the parts that the history of the mailing names. */
async function recipientsOf({ nats }: Stage<OwnNats>, mailingId: string): Promise<Found> {
  const { log, connection, close } = await openJetStreamLog(nats.config, nats.prefix);
  try {
    const contentStore = await createJetStreamContentStore(connection, nats.prefix);
    const { state } = await readMailing(log, { tenant: "default", jobId: mailingId });
    const seen = new Uint8Array(lines);
    const strange: string[] = [];
    let doubled = 0;
    for (const { jobId } of state.status === "absent" ? [] : state.parts) {
      const content = await contentStore.get({ tenant: "default", jobId });
      const recipients = content === null ? [] : decodeContent(content).recipients;
      for (const email of recipients.map((one) => one?.email ?? "nobody")) {
        const line = Number(/^person(\d+)@example\.com$/i.exec(email)?.[1] ?? -1);
        if (!(line < lines && line >= 0 && isValid(line))) strange.push(email);
        else if (seen[line] === 1) doubled += 1;
        else seen[line] = 1;
      }
    }
    return { distinct: seen.reduce((sum, one) => sum + one, 0), doubled, strange };
  } finally {
    await close();
  }
}
