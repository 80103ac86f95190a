import { expect } from "chai";
import { Type } from "typebox";
import { SchemaBroken } from "../../src/schemas/checked-by.ts";
import { eventVersions } from "../../src/schemas/upcast.ts";

describe("an event of a type that was changed twice", () => {
  const versions = eventVersions(
    { TeaPoured: Type.Object({ millilitres: Type.Integer(), guest: Type.Union([Type.String(), Type.Null()]) }) },
    {
      TeaPoured: [
        {
          schema: Type.Object({ cups: Type.Integer() }),
          lift: (data) => ({ millilitres: (data as { cups: number }).cups * 150 }),
        },
        {
          schema: Type.Object({ millilitres: Type.Integer() }),
          lift: (data) => ({ ...(data as object), guest: null }),
        },
      ],
    },
  );
  const read = (version: number, data: unknown) =>
    versions.byDataschema.get(`urn:waybill:event:TeaPoured:${version}`)?.read(data);

  it("is lifted through every version from its first", () => {
    expect(read(1, { cups: 2 })).to.deep.equal({ millilitres: 300, guest: null });
  });

  it("is lifted from the version in the middle", () => {
    expect(read(2, { millilitres: 250 })).to.deep.equal({ millilitres: 250, guest: null });
  });

  it("is read as it stands in its newest version", () => {
    expect(read(3, { millilitres: 250, guest: "Ada" })).to.deep.equal({ millilitres: 250, guest: "Ada" });
  });

  it("is refused where its data breaks the version that it claims to be", () => {
    expect(() => read(1, { millilitres: 300 })).to.throw(SchemaBroken, "must have required property 'cups'");
    expect(() => read(3, { millilitres: 300 })).to.throw(SchemaBroken, "must have required property 'guest'");
  });

  it("is written in its newest version", () => {
    expect(versions.newest.get("TeaPoured")?.dataschema).to.equal("urn:waybill:event:TeaPoured:3");
  });

  it("is not read in a version that was never released", () => {
    expect([...versions.byDataschema.keys()]).to.deep.equal([
      "urn:waybill:event:TeaPoured:1",
      "urn:waybill:event:TeaPoured:2",
      "urn:waybill:event:TeaPoured:3",
    ]);
  });
});
