import { expect } from "chai";
import { type MailingVersion, newMailing, readMailing } from "../../src/commands/read-version.ts";
import type { MailingPart } from "../../src/domain/mailing/events.ts";
import { createAddressSet } from "../../src/mailings/address-set.ts";
import { createKnownAddresses, knownOf } from "../../src/mailings/known-addresses.ts";
import { draftMailing, importInto, people, type Stored } from "../support/mailings.ts";
import { createMemoryContentStore } from "../support/memory/memory-content-store.ts";
import { createMemoryEventLog } from "../support/memory/memory-event-log.ts";

const mailing = (jobId: string) => ({ tenant: "default", jobId });
const knownAt = (version: MailingVersion = newMailing) => {
  const addresses = createAddressSet("m");
  addresses.add("ada@example.com");
  return { version, addresses };
};

describe("the addresses that are known of a mailing", () => {
  it("are taken out once, and by its tenant", () => {
    const known = createKnownAddresses();
    const kept = knownAt();
    known.keep(mailing("m"), kept);
    expect(known.take({ tenant: "acme", jobId: "m" })).to.equal(null);
    expect(known.take(mailing("m"))).to.include(kept);
    expect(known.take(mailing("m"))).to.equal(null);
  });

  it("are those of its first parts, and none where the log has others", async () => {
    const stored: Stored = { log: createMemoryEventLog(), contentStore: createMemoryContentStore() };
    const draft = await draftMailing(stored);
    const partsAfter = async (first: number): Promise<readonly MailingPart[]> => {
      await importInto(stored, draft, people(10, first));
      const { state } = await readMailing(stored.log, draft);
      return state.status === "absent" ? [] : state.parts;
    };
    const before = await partsAfter(0);
    const known = knownAt(await readMailing(stored.log, draft));
    const after = await partsAfter(10);
    const other = { ...(before[0] as MailingPart), jobId: "another" };
    expect([before, after, [], [other, ...after.slice(1)]].map((parts) => knownOf(known, parts))).to.deep.equal([
      1, 1, 0, 0,
    ]);
    expect([knownOf(null, after), knownOf(knownAt(), after)]).to.deep.equal([0, 0]);
  });

  it("take no more memory than they may: the mailing that was imported into longest ago is forgotten", () => {
    const known = createKnownAddresses(2 * knownAt().addresses.bytes);
    for (const id of ["1", "2", "3"]) known.keep(mailing(id), knownAt());
    expect(["1", "2", "3"].filter((id) => known.take(mailing(id)) !== null)).to.deep.equal(["2", "3"]);
    const many = createKnownAddresses();
    for (let id = 0; id < 101; id += 1) many.keep(mailing(String(id)), knownAt());
    expect([many.take(mailing("0")), many.take(mailing("1"))].map((found) => found !== null)).to.deep.equal([
      false,
      true,
    ]);
    const none = createKnownAddresses(1);
    none.keep(mailing("m"), knownAt());
    expect(none.take(mailing("m"))).to.equal(null);
  });
});
