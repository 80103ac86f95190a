import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { openPage } from "../support/browser.ts";
import { runProgram } from "../support/command-tree.ts";
import { eventually } from "../support/eventually.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const project = fileURLToPath(new URL("../..", import.meta.url));

describe("npm start -- --demo", function () {
  this.timeout(120_000);

  let dataDir: string;
  let child: ChildProcess;
  before(async () => {
    dataDir = await temporaryFolder();
  });
  after(async () => {
    await stop();
    await rm(dataDir, { recursive: true, force: true });
  });

  /** Answers where it says that the demo mailing is to be seen. */
  const start = async (): Promise<string> => {
    const { PATH, HOME } = process.env;
    const env = { PATH, HOME, DATA_DIR: dataDir, PORT: "0", LOG_LEVEL: "warn" };
    // A process group of its own: npm does not hand every signal on to what it runs.
    child = spawn("npm", ["start", "--", "--demo"], {
      cwd: project,
      detached: true,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (chunk: Buffer) => {
        output += chunk.toString();
      });
    }
    return await eventually(() => {
      const [, url] = /A demo mailing is on its way: (\S+)/.exec(output) ?? [];
      if (url === undefined) throw new Error(`No demo mailing: ${output}`);
      return url;
    }, 60_000);
  };
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const group = -(child.pid ?? 0);
    process.kill(group, "SIGTERM");
    await once(child, "exit");
    // npm may be gone before what it ran, and the data are in use until then.
    await eventually(() => expect(() => process.kill(group, 0)).to.throw("ESRCH"), 30_000);
  };

  it("delivers a mailing that the dashboard shows, once however often it is started", async () => {
    const url = await start();
    const watched = await openPage(url);
    await watched.page.getByText("completed").first().waitFor();
    await watched.page.goto(`${new URL(url).origin}/#/mailbox`);
    await watched.page.getByRole("link", { name: "Hello Ada" }).waitFor();
    await watched.close();
    expect(watched.sins).to.deep.equal([]);
    await stop();
    const again = await start();
    expect(new URL(again).hash).to.equal(new URL(url).hash);
    const jobs = (await (await fetch(`${new URL(again).origin}/api/jobs`)).json()) as {
      readonly data: readonly object[];
    };
    expect(jobs.data).to.have.length(1);
  });

  it("is refused where mails would leave this machine", async () => {
    const { code, err } = await runProgram(["start", "--demo"], {
      SMTP_URL: "smtp://mail.example.com",
      DATA_DIR: dataDir,
    });
    expect({ code, err }).to.deep.equal({
      code: 2,
      err: "--demo is for the built-in mailbox: SMTP_URL names a mail server, which would deliver it",
    });
  });
});
