import { writeFile } from "node:fs/promises";
import { expect } from "chai";
import type { WaybillEvent } from "../../src/event-log/event-log.ts";
import { channelOf } from "../../src/event-log/subjects.ts";
import { type EventType, eventTypes } from "../../src/schemas/events.ts";
import { checkout, readPage } from "./read-page.ts";

const page = "ops/guides/subscriber.md";

const channelOfType = (type: EventType): string => channelOf({ type } as WaybillEvent);

const typesOn = (channel: string): string =>
  eventTypes
    .filter((type) => channelOfType(type) === channel)
    .map((type) => `\`${type}\``)
    .join(", ");

describe("the subjects in the guide for subscribers", () => {
  it("are those that events are stored under, each with its events (WRITE_DOCS=1 writes them)", async () => {
    const shown: string[] = [];
    const wanted = (await readPage(page)).replaceAll(
      /^\| (`jobs\.[^`]+?(?:\.([a-z]+))?`[^|]*) \| [^|]*\| (.+) \|$/gm,
      (_row, subjects: string, channel = "job", meaning: string) => {
        shown.push(channel);
        return `| ${subjects} | ${typesOn(channel)} | ${meaning} |`;
      },
    );
    if (process.env["WRITE_DOCS"] === "1") await writeFile(`${checkout}${page}`, wanted);
    expect(await readPage(page)).to.equal(wanted);
    expect(shown.sort()).to.deep.equal([...new Set(eventTypes.map(channelOfType))].sort());
  });
});
