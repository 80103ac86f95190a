import { cp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { connectJetStream } from "../../src/nats/connection.ts";
import { trustNothing } from "../../src/seals/check.ts";
import { createJetStreamSealedLog } from "../../src/seals/jetstream-sealed-log.ts";
import { verifyLog } from "../../src/seals/verify-log.ts";
import { startNatsServer } from "../../src/standalone/own-nats-server.ts";
import { findNatsSource } from "../support/server-sources.ts";
import { type OwnNats, startOwnNats } from "../support/services.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { openSealingSide, type SealingSide } from "./sealing.ts";

describe("A bit that flips in a copy of the folder of NATS", function () {
  this.timeout(120_000);
  let nats: OwnNats;
  let side: SealingSide;
  let folder: string;

  before(async () => {
    folder = await temporaryFolder();
    nats = await startOwnNats(folder);
    side = await openSealingSide(nats);
    for (let job = 0; job < 6; job += 1) await side.jobHappens();
    await side.newSealer().sealWhatIsDue();
  });
  after(async () => {
    await side.close();
    await nats.cleanUp();
  });

  const blocksIn = async (root: string): Promise<readonly string[]> =>
    (await readdir(root, { recursive: true })).filter(
      (name) => name.endsWith(".blk") && name.includes(`${side.prefix}_JOBS`),
    );

  it("is found and named, though the server counts the message that it hands out no more", async () => {
    const source = await findNatsSource();
    // How a foreign server stores its files is unknown here: altered exports stand for it.
    if (source.kind !== "binary") return;
    await nats.stop();
    const copy = await temporaryFolder();
    await cp(folder, copy, { recursive: true });
    await nats.start();
    const [block] = await blocksIn(copy);
    const path = join(copy, block ?? "");
    const bytes = await readFile(path);
    const place = bytes.indexOf('"type":"RecipientSent"') + 10;
    expect(place).to.be.greaterThan(10);
    bytes[place] = (bytes[place] ?? 0) ^ 1;
    await writeFile(path, bytes);
    const { user, password } = nats.config;
    const credentials = { user: user ?? "", password: password ?? "" };
    const server = await startNatsServer({ dataDir: copy, binary: source.binary, credentials });
    try {
      const config = { ...nats.config, servers: [`127.0.0.1:${server.port}`] };
      const connection = await connectJetStream(config, "test", () => {});
      try {
        const sealedLog = await createJetStreamSealedLog(connection, side.prefix);
        const { findings } = await verifyLog(sealedLog, trustNothing);
        expect(findings).to.have.length(1);
        expect(findings[0]).to.deep.include({ kind: "missing", from: 1, to: 10, sequences: [4] });
      } finally {
        await connection.close();
      }
    } finally {
      await server.stop();
      await rm(copy, { recursive: true, force: true });
    }
  });
});
