import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import { expect } from "chai";
import { pino } from "pino";
import { createLifecycle } from "../../src/process/lifecycle.ts";
import { openListeners } from "../../src/roles/api-role.ts";
import { type CompleteConfig, readConfig } from "../../src/settings/config.ts";
import { failureOf } from "../support/failure-of.ts";

describe("A process whose port another program has", () => {
  let other: Server;
  let taken: string;

  before(async () => {
    other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    taken = String((other.address() as AddressInfo).port);
  });
  after(() => other.close());

  const open = (env: Record<string, string>) =>
    openListeners(
      readConfig({ HOST: "127.0.0.1", ...env }) as CompleteConfig,
      pino({ enabled: false }),
      lifecycle(),
      [],
    );
  const lifecycle = () => createLifecycle(() => {});

  for (const setting of ["PORT", "HEALTH_PORT"]) {
    it(`cannot start, and names ${setting}`, async () => {
      const { name, message } = await failureOf(open({ PORT: "0", [setting]: taken }));
      expect({ name, message }).to.deep.equal({
        name: "CannotStart",
        message: `Port ${taken} of 127.0.0.1 is in use by another program. End it first, or set ${setting} to another port`,
      });
    });
  }
});
