import { expect } from "chai";
import { type ScheduleCommand, type ScheduleState, scheduleDecider } from "../../src/domain/schedule/decider.ts";
import type { Schedule, ScheduleEvent } from "../../src/domain/schedule/events.ts";
import { nextLook, type Previous, type TimesOf } from "../../src/domain/schedule/tend.ts";

const at = (time: string): string => `2026-03-02T${time}:00.000Z`;
const settings = { makes: "job", cron: "0 * * * *", timeZone: "UTC", overlap: "skip", catchUp: "none" } as const;
const content = { contentId: "one", contentSha256: "a".repeat(64) };
const asked = { settings, content, by: "key:one" };
const creation: ScheduleCommand = { type: "CreateSchedule", at: at("10:30"), ...asked, requestSha256: "b".repeat(64) };
const hourMs = 3_600_000;

/** Every full hour. */
const timesOf: TimesOf = (_, after, upTo) => {
  const found: string[] = [];
  for (let time = Math.floor(Date.parse(after) / hourMs + 1) * hourMs; time <= Date.parse(upTo); time += hourMs) {
    found.push(new Date(time).toISOString());
  }
  const [first, last] = [found[0], found.at(-1)];
  if (first === undefined || last === undefined) return null;
  return { count: found.length, first, last, beforeLast: found.at(-2) ?? null };
};
const nextAfter = (_: unknown, after: string): string =>
  new Date(Math.floor(Date.parse(after) / hourMs + 1) * hourMs).toISOString();
const over = (endedAt: string | null = null): Previous => ({ isOpen: false, endedAt });
const open: Previous = { isOpen: true };
const tend = (time: string, previous: Previous = over()): ScheduleCommand => ({
  type: "TendSchedule",
  at: at(time),
  timesOf,
  previous,
  idOf: (dueAt) => `of ${dueAt}`,
});

type Told = { readonly state: ScheduleState; readonly said: readonly string[] };

/** What a story of commands records, in short, and the schedule at its end. */
function told(...commands: readonly ScheduleCommand[]): Told {
  let state = scheduleDecider.initialState;
  const said: string[] = [];
  for (const command of commands) {
    const decision = scheduleDecider.decide(command, state);
    if (decision.outcome === "rejected") said.push(decision.rejection.code);
    else {
      state = decision.events.reduce(scheduleDecider.evolve, state);
      said.push(decision.events.map(inShort).join(" "));
    }
  }
  return { state, said: said.slice(1) };
}

function inShort({ type, data }: ScheduleEvent): string {
  const time = "dueAt" in data ? ` ${data.dueAt.slice(11, 16)}` : "";
  const why = "count" in data ? ` ${data.count} ${data.reason}` : "";
  return `${type.replace("Schedule", "")}${time}${why}`;
}

const created = (more: Partial<typeof settings> | object = {}): ScheduleCommand =>
  ({ ...creation, settings: { ...settings, ...more } }) as ScheduleCommand;

describe("A schedule", () => {
  it("fires at its time, and not again at the same time, whatever the clocks say", () => {
    const { said } = told(creation, tend("10:59"), tend("11:00"), tend("11:00"), tend("10:58"));
    expect(said).to.deep.equal(["", "Fired 11:00", "", ""]);
  });

  it("leaves a time out while what was made before has not ended, also where that is found later", () => {
    const { said } = told(
      creation,
      tend("11:00"),
      tend("12:00", open),
      tend("13:30", over(at("13:10"))),
      tend("14:00"),
    );
    expect(said).to.deep.equal(["Fired 11:00", "Skipped 12:00 1 overlap", "Skipped 13:00 1 overlap", "Fired 14:00"]);
  });

  it("lets one time wait, and the others not", () => {
    const { said } = told(
      created({ overlap: "queue" }),
      tend("11:00"),
      tend("14:00", open),
      tend("15:00", open),
      tend("15:01", over(at("15:01"))),
      tend("15:02", open),
    );
    expect(said).to.deep.equal([
      "Fired 11:00",
      "Queued 12:00 Skipped 14:00 2 overlap",
      "Skipped 15:00 1 overlap",
      "Fired 12:00",
      "",
    ]);
  });

  it("makes nothing up, or the latest time, or what is hardly late", () => {
    expect(told(creation, tend("14:30"), tend("14:30")).said).to.deep.equal(["Skipped 14:00 4 missed", ""]);
    const one = told(created({ catchUp: "one" }), tend("14:30"), tend("14:30"), tend("14:30"));
    expect(one.said).to.deep.equal(["Skipped 13:00 3 missed", "Fired 14:00", ""]);
    expect(told(creation, tend("14:01"), tend("14:01")).said).to.deep.equal(["Skipped 13:00 3 missed", "Fired 14:00"]);
  });

  it("counts its times from the present again once a person decides about it, where a clock was a day ahead", () => {
    const ahead = { ...tend("10:00"), at: "2026-03-03T11:00:30.000Z" } as ScheduleCommand;
    const change: ScheduleCommand = { type: "ChangeSchedule", at: at("11:30"), ...asked };
    const [pausing, resuming] = [
      { type: "PauseSchedule", at: at("11:30"), reason: null },
      { type: "ResumeSchedule", at: at("11:40"), reason: null },
    ] as const satisfies readonly ScheduleCommand[];
    for (const commands of [[change], [pausing, resuming]]) {
      const { said } = told(created(), ahead, ahead, tend("11:20"), ...commands, tend("12:00"));
      expect([said.slice(0, 3), said.at(-1)]).to.deep.equal([
        ["Skipped 10:00 24 missed", "Fired 11:00", ""],
        "Fired 12:00",
      ]);
    }
  });

  it("does not take the clock of another process for the end of all times", () => {
    expect(told(creation, tend("11:00"), tend("11:30", over(at("12:30"))), tend("12:00")).said).to.deep.equal([
      "Fired 11:00",
      "",
      "Fired 12:00",
    ]);
  });

  it("drops the time that waits when it is paused, changed or deleted, and says so", () => {
    const waiting = [created({ overlap: "queue" }), tend("11:00"), tend("12:00", open)];
    const reason = null;
    for (const [command, expected] of [
      [{ type: "PauseSchedule", at: at("12:01"), reason }, "Skipped 12:00 1 paused Paused"],
      [{ type: "ChangeSchedule", at: at("12:01"), ...asked }, "Skipped 12:00 1 changed Changed"],
      [{ type: "DeleteSchedule", at: at("12:01"), reason }, "Skipped 12:00 1 deleted Deleted"],
    ] as const) {
      expect(told(...waiting, command).said.at(-1)).to.equal(expected);
    }
  });

  it("counts from the moment it is resumed, or changed", () => {
    const [pause, resume] = [
      { type: "PauseSchedule", at: at("10:40"), reason: null },
      { type: "ResumeSchedule", at: at("12:30"), reason: null },
    ] as const;
    const { said } = told(creation, pause, pause, tend("11:00"), resume, tend("12:30"), tend("13:00"));
    expect(said).to.deep.equal(["Paused", "", "", "Resumed", "", "Fired 13:00"]);
    const change = { type: "ChangeSchedule", at: at("12:30"), ...asked } as const;
    expect(told(creation, change, tend("12:30")).said).to.deep.equal(["Changed", ""]);
    // By the clock of a process that is behind.
    expect(
      told(creation, tend("13:00"), tend("13:00"), { ...change, at: at("12:00") }, tend("13:00")).said.at(-1),
    ).to.equal("");
  });

  it("fails a firing once, and goes on", () => {
    const fail = {
      type: "FailFiring",
      at: at("11:00"),
      dueAt: at("11:00"),
      code: "quota-exceeded",
      places: [],
    } as const;
    const { said, state } = told(creation, tend("11:00"), fail, fail, tend("12:00"), fail);
    expect(said).to.deep.equal(["Fired 11:00", "Failed 11:00", "", "Fired 12:00", ""]);
    expect((state as Schedule).last).to.include({ isFailed: false });
  });

  it("pauses with nobody left, and stays active with somebody", () => {
    const erase = (recipients: number): ScheduleCommand => ({
      type: "EraseRecipients",
      at: at("10:40"),
      reason: "asked",
      content: { ...content, contentId: "two" },
      recipients,
    });
    expect(told(creation, erase(1), erase(0)).said).to.deep.equal(["RecipientsErased", "RecipientsErased Paused"]);
  });

  it("is created once for a request, and refuses what it cannot do", () => {
    const other = { ...creation, requestSha256: "c".repeat(64) } as ScheduleCommand;
    const resume = { type: "ResumeSchedule", at: at("10:40"), reason: null } as const;
    const remove = { type: "DeleteSchedule", at: at("10:40"), reason: null } as const;
    const { said } = told(creation, creation, other, resume, remove, remove, resume);
    expect(said).to.deep.equal([
      "",
      "idempotency-key-reused",
      "schedule-not-paused",
      "Deleted",
      "",
      "schedule-deleted",
    ]);
    const decision = scheduleDecider.decide(resume, scheduleDecider.initialState);
    expect(decision).to.deep.equal({ outcome: "rejected", rejection: { code: "schedule-not-found" } });
  });

  it("is looked at for its next time, and less often while one still runs", () => {
    const { state } = told(creation, tend("11:00"), tend("12:00", open));
    const schedule = state as Schedule;
    expect(nextLook(schedule, true, nextAfter)).to.equal(at("13:00"));
    const often = () => at("12:05");
    expect(nextLook(schedule, true, often)).to.equal(at("13:00"));
    expect(nextLook(schedule, false, often)).to.equal(at("12:05"));
    expect(nextLook({ ...schedule, status: "paused" }, false, often)).to.equal(null);
  });
});
