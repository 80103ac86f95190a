import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import ajv7 from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect } from "chai";
import { asyncApiDocument } from "../../src/http/asyncapi-document.ts";
import { events, eventTypes } from "../../src/schemas/events.ts";
import { releasedVersions } from "../../src/schemas/upcast.ts";

type Schema = {
  readonly title: string;
  readonly properties: { readonly dataschema: { readonly const: string } };
  readonly examples?: readonly unknown[];
};
type Message = { readonly payload: { readonly items: { readonly anyOf: readonly { readonly $ref: string }[] } } };
type Channel = { readonly address: string; readonly messages: Readonly<Record<string, { readonly $ref: string }>> };
type Document = {
  readonly channels: Readonly<Record<string, Channel>>;
  readonly components: {
    readonly messages: Readonly<Record<string, Message>>;
    readonly schemas: Readonly<Record<string, Schema>>;
  };
};

const specification = createRequire(import.meta.url)("@asyncapi/specs/schemas/3.1.0-without-$id.json") as object;
const golden = new URL("../golden/", import.meta.url);

/** A recorded message of every version of every type, with the schema that the document has for its version. */
const recorded = readdirSync(golden).flatMap((type) => {
  const folder = new URL(`${type}/`, golden);
  return readdirSync(folder).map((file) => JSON.parse(readFileSync(new URL(file, folder), "utf8")));
});

describe("The AsyncAPI document", () => {
  const document = asyncApiDocument("") as Document;
  const schemas = Object.values(document.components.schemas);

  it("is valid AsyncAPI 3.1", () => {
    const check = new ajv7.Ajv({ strict: false, allErrors: true, validateFormats: false }).compile(specification);
    check(JSON.parse(JSON.stringify(document)));
    expect(check.errors ?? []).to.deep.equal([]);
  });

  it("describes every version of every type that the log may hold", () => {
    const described = schemas.map(({ properties }) => properties.dataschema.const);
    expect(described.sort()).to.deep.equal([...releasedVersions.byDataschema.keys()].sort());
  });

  it("says on which subject an event stands", () => {
    expect(document.channels["job"]?.address).to.equal("jobs.{tenant}.{jobId}");
    for (const type of eventTypes) {
      const { channel } = events[type];
      const those = document.components.messages[channel]?.payload.items.anyOf;
      expect(those).to.deep.include({ $ref: `#/components/schemas/${type}` });
      expect(document.channels[channel]?.messages[channel]?.$ref).to.equal(`#/components/messages/${channel}`);
    }
    const prefixed = asyncApiDocument("staging") as Document;
    expect(prefixed.channels["facts"]?.address).to.equal("staging.jobs.{tenant}.{jobId}.facts");
  });

  it("shows an example of every type, which its own schema lets through", () => {
    const ajv = new Ajv2020({ strict: false });
    for (const type of eventTypes) {
      const { examples: shown = [], ...schema } = document.components.schemas[type] as Schema;
      expect(shown).to.have.length(1);
      const check = ajv.compile(schema);
      check(shown[0]);
      expect(check.errors ?? [], type).to.deep.equal([]);
    }
  });

  it("shows what was recorded when the version was released", () => {
    const data = (type: string) =>
      recorded.find(({ dataschema }) => dataschema === releasedVersions.newest.get(type)?.dataschema)?.data;
    for (const type of eventTypes) expect(events[type].example, type).to.deep.equal(data(type));
  });

  it("has a schema for every message that was ever recorded", () => {
    const ajv = new Ajv2020({ strict: false });
    for (const message of recorded) {
      const described = schemas.find(({ properties }) => properties.dataschema.const === message.dataschema);
      const check = ajv.compile(described ?? false);
      check(message);
      expect(check.errors ?? [], message.dataschema).to.deep.equal([]);
    }
  });
});
