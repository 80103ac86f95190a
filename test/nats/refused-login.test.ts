import { rm } from "node:fs/promises";
import { expect } from "chai";
import { connectJetStream } from "../../src/nats/connection.ts";
import { startNatsServer } from "../../src/standalone/own-nats-server.ts";
import { eventually } from "../support/eventually.ts";
import { locateOwnBinaries } from "../support/own-binaries.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

describe("A client whose password was changed at the server", function () {
  this.timeout(60_000);

  it("says once that the login is refused, and goes on with the password that it has", async () => {
    const { nats: binary } = await locateOwnBinaries();
    const dataDir = await temporaryFolder();
    const before = await startNatsServer({ dataDir, binary });
    const { servers, user, password, port } = before;
    const startAgain = (changed: string) =>
      startNatsServer({ dataDir, binary, port, credentials: { user, password: changed } });
    const notices: string[] = [];
    const settings = { servers, user, password, credsFile: null, caFile: null };
    const connection = await connectJetStream(settings, "test", (notice) => notices.push(notice));
    const refusals = () => notices.filter((notice) => notice.includes("NATS_PASSWORD"));

    await before.stop();
    const other = await startAgain("another");
    await eventually(() => expect(refusals()).to.have.lengthOf(1), 20_000);
    await other.stop();
    const restored = await startAgain(password);
    await eventually(() => expect(connection.isUp()).to.equal(true), 20_000);
    expect(refusals()).to.have.lengthOf(1);

    await connection.close();
    await restored.stop();
    await rm(dataDir, { recursive: true, force: true });
  });
});
