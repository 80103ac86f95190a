import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { atEndOfRun } from "../support/end-of-run.ts";
import { type Stage, setStage } from "../support/stage.ts";
import { startWaybill, type Waybill } from "../support/waybill.ts";

const main = fileURLToPath(new URL("../../dist/src/main.js", import.meta.url));
const recipients = 4200;

describe("waybill send, ended in the middle", () => {
  let stage: Stage;
  let service: Waybill;

  before(async () => {
    stage = await setStage();
    service = await startWaybill(stage.surroundings);
    const rows = Array.from({ length: recipients }, (_, index) => `reader${index}@example.com,R${index}`);
    await writeFile(join(stage.folder, "readers.csv"), ["email,name", ...rows].join("\n"));
    await writeFile(join(stage.folder, "news.txt"), "Hello {{ name }}");
  });
  after(async () => {
    await service?.stop();
    await stage?.cleanUp();
  });

  const send = (): ChildProcess => {
    const args = ["send", "--subject", "News", "--text", "news.txt", "--csv", "readers.csv", "--wait", "--json"];
    const env = { PATH: process.env["PATH"], WAYBILL_URL: service.url };
    const child = spawn(process.execPath, [main, ...args], {
      cwd: stage.folder,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    atEndOfRun(async () => void child.kill("SIGKILL"));
    return child;
  };
  /** Ends it once the first job is accepted, with more on their way. */
  const endedBy = async (signal: NodeJS.Signals) => {
    const child = send();
    const exited = once(child, "close");
    let told = "";
    child.stderr?.on("data", (chunk: Buffer) => {
      if (told === "") child.kill(signal);
      told += chunk.toString();
    });
    const [code, by] = await exited;
    return { code, by, told };
  };

  it("by SIGKILL and by SIGINT, goes on when it is repeated, and mails nobody twice", async function () {
    this.timeout(300_000);
    const killed = await endedBy("SIGKILL");
    expect([killed.by, killed.told]).to.satisfy(
      ([by, told]: string[]) => by === "SIGKILL" && /^1,000 of 4,200/.test(told ?? ""),
    );
    const interrupted = await endedBy("SIGINT");
    expect(interrupted.code).to.equal(1);
    expect(interrupted.told)
      .to.match(/Interrupted: \d,000 of 4,200 recipients accepted\. Run the same command again to continue\./)
      .and.not.include("\n    at ");

    const child = send();
    const chunks: Buffer[] = [];
    child.stdout?.on("data", (chunk: Buffer) => chunks.push(chunk));
    expect((await once(child, "close"))[0]).to.equal(0);
    const sent = JSON.parse(Buffer.concat(chunks).toString());
    expect(sent.progress).to.include({ total: recipients, sent: recipients });
    expect(sent.repeated).to.be.at.least(1);
    const addresses = stage.mailServer.mails.flatMap(({ to }) => to);
    expect([addresses.length, new Set(addresses).size]).to.deep.equal([recipients, recipients]);
    const jobs = (await (await fetch(`${service.url}/api/jobs?pageSize=100`)).json()) as { data: { id: string }[] };
    expect(jobs.data.map(({ id }) => id)).to.have.members(sent.jobs);
  });
});
