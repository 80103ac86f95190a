import { expect } from "chai";
import { v7 as uuid } from "uuid";
import type { CheckpointStore } from "../../../src/event-log/following/checkpoint-store.ts";

export function checkpointStoreContract(open: () => CheckpointStore): void {
  describe("a checkpoint", () => {
    it("is not there before it is written", async () => {
      expect(await open().read(uuid())).to.equal(null);
    });

    it("is read as it was written last, and each by its name", async () => {
      const store = open();
      const [name, other] = [uuid(), uuid()];
      const first = await store.write(name, "one", 0);
      const second = await store.write(name, "two", first ?? -1);
      await store.write(other, "another", 0);
      expect(await store.read(name)).to.deep.equal({ revision: second, text: "two" });
      expect(second).not.to.equal(first);
    });

    it("is not written by one who does not know what is there", async () => {
      const store = open();
      const name = uuid();
      const first = (await store.write(name, "one", 0)) ?? -1;
      expect(await store.write(name, "two", 0)).to.equal(null);
      await store.write(name, "two", first);
      expect(await store.write(name, "three", first)).to.equal(null);
      expect(await store.read(name)).to.have.property("text", "two");
    });

    it("is written by one of several at the same moment", async () => {
      const store = open();
      const name = uuid();
      const written = await Promise.all(["a", "b", "c", "d"].map((text) => store.write(name, text, 0)));
      expect(written.filter((revision) => revision !== null)).to.have.lengthOf(1);
    });
  });
}
