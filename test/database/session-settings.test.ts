import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import type { Knex } from "knex";
import type { Connection } from "mysql2";
import mysql from "mysql2/promise";
import { abandonConnection, createDatabase, openConnection } from "../../src/database/database.ts";
import { ask } from "../../src/database/session.ts";
import { type OwnDatabaseServer, startDatabaseServer } from "../../src/standalone/own-database-server.ts";
import { atEndOfRun } from "../support/end-of-run.ts";
import { findDatabaseSource } from "../support/server-sources.ts";
import { copySystemTables } from "../support/system-tables.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/**
 * What each session begins with, where an administrator wants it so. It stands for `autocommit`,
 * `skip-character-set-client-handshake` and `max_statement_time` of the server, which end in the same session.
 */
const oddities =
  "SET SESSION autocommit = 0; SET NAMES latin1; SET @odd = 1 /*M!, SESSION max_statement_time = 0.5 */; SET SESSION time_zone = '+05:00'";

const word = "Grüße 😀 žluť";

describe("on a server that gives sessions odd settings", function () {
  this.timeout(120_000);

  let folder: string;
  let server: OwnDatabaseServer | null = null;
  let db: Knex;
  let own: Connection;

  before(async () => {
    const source = await findDatabaseSource();
    // A server that was named to the tests is not theirs to set up.
    if (source.kind === "running") return;
    folder = await temporaryFolder();
    await copySystemTables(folder);
    const path = join(folder, "odd-server");
    const script = await readFile(source.binary.path, "latin1");
    // A program that is a script itself is to begin as it does.
    const begin = script.startsWith("#!") ? script.trimEnd() : `#!/bin/sh\nexec "${source.binary.path}" "$@"`;
    await writeFile(path, `${begin} "--init-connect=${oddities}"\n`, { mode: 0o755 });
    server = await startDatabaseServer({ dataDir: folder, binary: { ...source.binary, path } });
    atEndOfRun(server.stop);
    db = createDatabase(server.url);
    own = await openConnection(db);
    await db.raw("CREATE TABLE words (id INT PRIMARY KEY, word VARCHAR(100)) DEFAULT CHARACTER SET utf8mb4");
  });
  after(async () => {
    if (server === null) return;
    abandonConnection(own);
    await db.destroy();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const both = {
    "a connection of the pool": async (sql: string, bindings: readonly (string | number)[] = []) =>
      (await db.raw(sql, bindings))[0],
    "a connection outside the pool": (sql: string, bindings: readonly (string | number)[] = []) =>
      ask<object>(own, sql, bindings),
  };
  for (const [id, [which, query]] of Object.entries(both).entries()) {
    it(`${which} keeps what is written, in all its characters, also outside a transaction`, async () => {
      if (server === null) return;
      await query("INSERT INTO words VALUES (?, ?)", [id, word]);
      expect(await query("SELECT word FROM words WHERE id = ?", [id])).to.deep.equal([{ word }]);
      const other = await mysql.createConnection({ uri: server.url, charset: "utf8mb4" });
      await other.query("SET NAMES utf8mb4");
      const [rows] = await other.query("SELECT word FROM words WHERE id = ?", [id]);
      expect(rows).to.deep.equal([{ word }]);
      await other.end();
    });

    it(`${which} has the collation that any server gives it, and the time of the service`, async () => {
      if (server === null) return;
      const sql = "SELECT @@collation_connection AS collation, @@character_set_results AS results, @@time_zone AS zone";
      const expected = { collation: "utf8mb4_general_ci", results: "utf8mb4", zone: "+00:00" };
      expect(await query(sql)).to.deep.equal([expected]);
    });

    it(`${which} gives each statement the time that it takes`, async () => {
      if (server === null) return;
      expect(await query("SELECT SLEEP(1) AS ended")).to.deep.equal([{ ended: 0 }]);
    });
  }
});
