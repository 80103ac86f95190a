import { expect } from "chai";
import { createAddressSet } from "../../src/mailings/address-set.ts";
import { createKnownAddresses } from "../../src/mailings/known-addresses.ts";

const partOf = (jobId: string) => ({ jobId, recipients: 1, contentSha256: "0".repeat(64) });
const mailing = (jobId: string) => ({ tenant: "default", jobId });
const setOf = (...addresses: readonly string[]) => {
  const set = createAddressSet("m");
  for (const address of addresses) set.add(address);
  return set;
};

describe("the addresses that are known of a mailing", () => {
  it("are those of its first parts, and are taken out once", () => {
    const known = createKnownAddresses();
    const addresses = setOf("ada@example.com");
    known.keep(mailing("m"), [partOf("a"), partOf("b")], addresses);
    const taken = known.take(mailing("m"), [partOf("a"), partOf("b"), partOf("c")]);
    expect(taken).to.include({ addresses, parts: 2 });
    expect(known.take(mailing("m"), [partOf("a"), partOf("b")])).to.equal(null);
  });

  it("are none where the mailing has other parts, or fewer, or is another tenant's", () => {
    const known = createKnownAddresses();
    const parts = [partOf("a"), partOf("b")];
    for (const others of [[partOf("a"), partOf("x")], [partOf("a")], []]) {
      known.keep(mailing("m"), parts, setOf("ada@example.com"));
      expect(known.take(mailing("m"), others)).to.equal(null);
    }
    known.keep(mailing("m"), parts, setOf("ada@example.com"));
    expect(known.take({ tenant: "acme", jobId: "m" }, parts)).to.equal(null);
  });

  it("take no more memory than they may: the mailing that was imported into longest ago is forgotten", () => {
    const known = createKnownAddresses(2 * setOf("ada@example.com").bytes);
    for (const id of ["1", "2", "3"]) known.keep(mailing(id), [partOf(id)], setOf("ada@example.com"));
    const left = ["1", "2", "3"].filter((id) => known.take(mailing(id), [partOf(id)]) !== null);
    expect(left).to.deep.equal(["2", "3"]);
    const none = createKnownAddresses(1);
    none.keep(mailing("m"), [partOf("a")], setOf("ada@example.com"));
    expect(none.take(mailing("m"), [partOf("a")])).to.equal(null);
  });
});
