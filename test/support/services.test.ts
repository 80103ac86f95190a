import { expect } from "chai";
import mysql from "mysql2/promise";
import { connect, type NatsConnection } from "nats";
import { eventually } from "./eventually.ts";
import { failureOf } from "./failure-of.ts";
import {
  freshDatabase,
  type OwnNats,
  startNats,
  startOwnMysql,
  startOwnNats,
  type TestMysql,
  type TestNats,
} from "./services.ts";

const open = ({ config }: TestNats): Promise<NatsConnection> =>
  connect({
    servers: [...config.servers],
    ...(config.user === null ? {} : { user: config.user, pass: config.password ?? "" }),
    timeout: 5000,
  });

async function ask(url: string, statement: string): Promise<unknown> {
  const connection = await mysql.createConnection({ uri: url, connectTimeout: 5000 });
  try {
    return (await connection.query(statement))[0];
  } finally {
    await connection.end();
  }
}

describe("the NATS server of a test that stops it", () => {
  let nats: OwnNats;

  beforeEach(async () => {
    nats = await startOwnNats();
  });
  afterEach(() => nats.cleanUp());

  it("cannot be reached while it is stopped or killed, and is back with its data at the same address", async () => {
    const name = `${nats.prefix}_KEPT`;
    const before = await open(nats);
    await (await before.jetstreamManager()).streams.add({ name, subjects: [`${nats.prefix}.>`] });
    await before.close();
    for (const end of ["stop", "kill"] as const) {
      await nats[end]();
      expect((await failureOf(open(nats))).message).to.match(/CONNECTION_REFUSED|ECONNREFUSED/);
      await nats.start();
      const after = await open(nats);
      expect((await (await after.jetstreamManager()).streams.info(name)).config.name).to.equal(name);
      await after.close();
    }
  });

  it("does not answer while it is suspended, and goes on afterwards on the same connections", async () => {
    const connection = await open(nats);
    nats.suspend();
    // On a busy machine it may answer once more before the signal reaches it.
    await eventually(async () => {
      expect((await failureOf(connection.request("$JS.API.INFO", "", { timeout: 300 }))).message).to.match(/TIMEOUT/);
    });
    await nats.resume();
    expect((await connection.request("$JS.API.INFO", "", { timeout: 5000 })).string()).to.match(
      /account_info_response/,
    );
    await connection.close();
  });
});

describe("the NATS server that test files share", () => {
  it("holds streams of each file apart, and none of a file that has cleaned up", async () => {
    const [mine, other] = await Promise.all([startNats(), startNats()]);
    expect(mine.config.servers).to.deep.equal(other.config.servers);
    const connection = await open(mine);
    const { streams } = await connection.jetstreamManager();
    for (const { prefix } of [mine, other]) await streams.add({ name: `${prefix}_KEPT`, subjects: [`${prefix}.>`] });
    await mine.cleanUp();
    const kept: string[] = [];
    for await (const name of streams.names()) kept.push(name);
    expect(kept).to.include(`${other.prefix}_KEPT`).and.not.include(`${mine.prefix}_KEPT`);
    await connection.close();
    await other.cleanUp();
  });
});

describe("the database server of a test that stops it", () => {
  let server: TestMysql;

  before(async () => {
    server = await startOwnMysql();
  });
  after(() => server.cleanUp());

  it("cannot be reached while it is stopped or killed, and is back with its data at the same address", async () => {
    const { url, drop } = await server.freshDatabase();
    await ask(url, "CREATE TABLE kept (word VARCHAR(20))");
    for (const end of ["stop", "kill"] as const) {
      await server[end]();
      expect(await failureOf(ask(url, "SELECT 1"))).to.include({ code: "ECONNREFUSED" });
      await server.start();
      await eventually(() => ask(url, "SELECT * FROM kept"));
    }
    await drop();
  });
});

describe("the database of a test file", () => {
  it("is empty, not shared, and gone when it is dropped", async () => {
    const [mine, other] = await Promise.all([freshDatabase(), freshDatabase()]);
    await ask(mine.url, "CREATE TABLE mine (word VARCHAR(20))");
    expect(await ask(other.url, "SHOW TABLES")).to.deep.equal([]);
    await Promise.all([mine.drop(), other.drop()]);
    expect((await failureOf(ask(mine.url, "SELECT 1"))).message).to.match(/unknown database|access denied/i);
  });
});
