import { expect } from "chai";
import type { WaybillEvent } from "../../src/event-log/event-log.ts";
import { channelOf } from "../../src/event-log/subjects.ts";
import { eventTypes } from "../../src/schemas/events.ts";
import { readPage } from "./read-page.ts";

describe("the subjects in the guide for subscribers", () => {
  it("are those that events are stored under, each event beside its own", async () => {
    const markdown = await readPage("ops/guides/subscriber.md");
    const shown = [...markdown.matchAll(/^\| (`jobs\..+?) \| (.+) \|$/gm)].flatMap(([, subjects = "", events = ""]) => {
      const channels = [...subjects.matchAll(/`jobs\.[^`]*?\.([a-z]+)(?:\.<priority>)?`/g)].map(
        ([, channel]) => channel,
      );
      const types = events.split(";").map((some) => [...some.matchAll(/`([A-Z][A-Za-z]+)`/g)].map(([, type]) => type));
      return channels.flatMap((channel, index) => (types[index] ?? []).map((type) => `${type}: ${channel}`));
    });
    const stored = eventTypes.map((type) => {
      // Only a turn in the queue has a subject that its data decide.
      const channel = type === "JobQueued" ? "queue" : channelOf({ type } as WaybillEvent);
      return `${type}: ${channel}`;
    });
    expect(shown.sort()).to.deep.equal(stored.sort());
  });
});
