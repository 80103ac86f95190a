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
  this.timeout(300_000);

  let dataDir: string;
  let child: ChildProcess;
  let output: string;
  const origin = (): string => new URL(/on its way: (\S+)/.exec(output)?.[1] ?? "").origin;
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
    output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (chunk: Buffer) => {
        output += chunk.toString();
      });
    }
    return await eventually(() => {
      const [, url] = /A demo mailing is on its way: (\S+)/.exec(output) ?? [];
      if (url === undefined) throw new Error(`No demo mailing: ${output}`);
      return url;
    }, 120_000);
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
    await watched.page
      .getByRole("link", { name: /^(Hello|News for) / })
      .first()
      .waitFor();
    await watched.close();
    expect(watched.sins).to.deep.equal([]);
    await stop();
    const again = await start();
    expect(new URL(again).hash).to.equal(new URL(url).hash);
    // On a busy machine the first answer of a service that has just started is a 503.
    await eventually(async () => expect(await greetings(again)).to.have.length(1), 30_000);
  });

  /** The jobs of the first mailing. */
  const greetings = async (url: string): Promise<readonly object[]> => {
    const { data } = (await (await fetch(`${new URL(url).origin}/api/jobs?q=Hello`)).json()) as {
      readonly data: readonly object[];
    };
    return data;
  };

  it("shows refusals, a receiver that is slowed down, and a dead letter within two minutes", async () => {
    const ask = async (path: string) => (await (await fetch(`${origin()}${path}`)).json()) as Answer;
    await eventually(async () => {
      const [mailing] = (await ask("/api/mailings")).data;
      expect(mailing?.progress).to.include({ total: 220 });
      expect(mailing?.progress["failed"]).to.be.greaterThan(0);
      expect((await ask("/api/admin/throttles")).data).not.to.have.length(0);
      expect((await ask("/api/dead-letters")).data).to.have.length(1);
    }, 120_000);
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

type Answer = {
  readonly data: readonly { readonly progress: Readonly<Record<string, number>> }[];
};
