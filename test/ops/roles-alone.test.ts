import { expect } from "chai";
import { roles } from "../../src/settings/config.ts";
import { createApiClient } from "../support/api-client.ts";
import { eventually } from "../support/eventually.ts";
import { type Stage, setStage } from "../support/stage.ts";
import { type LaunchedWaybill, launchWaybill } from "../support/waybill.ts";
import { type Secret, secrets, secretsOf } from "./role-secrets.ts";

describe("A process for each role, with the secrets of that role alone", function () {
  this.timeout(180_000);

  let stage: Stage;
  const processes = new Map<string, LaunchedWaybill>();

  before(async () => {
    stage = await setStage();
    for (const role of roles) {
      const isKept = (name: Secret): boolean =>
        secretsOf[role].includes(name) && !(role === "webhooks" && name === "SMTP_URL");
      const withheld = secrets.filter((name) => !isKept(name)).map((name) => [name, ""]);
      const own = role === "bounces" ? { MAIL_RETURN_PATH: "bounces@b.example.org", BOUNCES_PORT: "0" } : {};
      const env = { ...Object.fromEntries(withheld), ...own, HEALTH_PORT: "0", LOG_LEVEL: "warn" };
      processes.set(role, launchWaybill(stage.surroundings, role, env));
    }
  });
  after(async () => {
    await Promise.all([...processes.values()].map((one) => one.terminate()));
    await stage?.cleanUp();
  });

  const outputOf = (role: string): string => processes.get(role)?.output() ?? "";

  it("becomes ready, and mails what it is asked for", async () => {
    for (const role of roles) {
      await eventually(async () => {
        const [, health] = /"health":"([^"]+)"/.exec(outputOf(role)) ?? [];
        if (health === undefined) throw new Error(`${role} has not started: ${outputOf(role)}`);
        const answer = await (await fetch(health)).text();
        expect(JSON.parse(answer), `${role}: ${answer}`).to.include({ ready: true });
      }, 90_000);
    }
    const [, url = ""] = /"api":"(\S+?)\/api\/jobs"/.exec(outputOf("api")) ?? [];
    const client = createApiClient(url);
    const job = await client.ended(
      await client.create({ subject: "News", body: "text", recipients: ["ada@example.com"] }),
    );
    expect(job).to.include({ status: "completed" });
    expect(stage.mailServer.mails.flatMap(({ to }) => to)).to.deep.equal(["ada@example.com"]);
  });

  it("has no mailbox of its own beside the API: no mail of the workers would come to it", () => {
    expect(outputOf("api")).to.include('"mailbox":null');
  });
});
