import { expect } from "chai";
import { inZone } from "../../../src/dashboard/ui/reading/in-zone.ts";

describe("A time by the clocks of a time zone", () => {
  it("has the day of the week there", () => {
    expect(inZone("2026-11-23T07:30:00.000Z", "Europe/Berlin")).to.equal("Mon, 2026-11-23 08:30");
    expect(inZone("2026-11-23T23:30:00.000Z", "Asia/Tokyo")).to.equal("Tue, 2026-11-24 08:30");
    expect(inZone("2026-07-23T07:30:00.000Z", "Europe/Berlin")).to.equal("Thu, 2026-07-23 09:30");
  });

  it("is not known in a zone that the browser does not know", () => {
    expect(inZone("2026-11-23T07:30:00.000Z", "Europe/Atlantis")).to.equal(null);
  });
});
