import { expect } from "chai";
import { openBucket, readEntries } from "../../src/nats/bucket.ts";
import { nameWith } from "../../src/nats/names.ts";
import { bucketSettings, connectTo } from "../support/access.ts";
import { startNats } from "../support/services.ts";

describe("The entries of a bucket", () => {
  it("are those that were stored last, though NATS keeps one from before, as while it is backed up", async () => {
    const nats = await startNats();
    const connection = await connectTo(nats);
    try {
      const bucket = await openBucket(connection, "ROUTES", bucketSettings(nats), { history: 2 });
      for (const text of ["first", "second"]) await bucket.put("changed", text);
      await bucket.put("other", "only");
      await bucket.put("changed", "third");
      expect(await readEntries(connection, nameWith(nats.prefix, "ROUTES"))).to.deep.equal([
        { name: "other", text: "only" },
        { name: "changed", text: "third" },
      ]);
    } finally {
      await connection.close();
      await nats.cleanUp();
    }
  });
});
