import { expect } from "chai";
import { nextAfter, nextTimes, timesOf, whyNoCron } from "../../../src/mailings/schedules/due-times.ts";

const berlin = (cron: string) => ({ cron, timeZone: "Europe/Berlin" });
const settings = (cron: string, timeZone = "UTC") =>
  ({ makes: "job", cron, timeZone, overlap: "skip", catchUp: "none" }) as const;
const march = "2026-03-28T12:00:00.000Z";
const october = "2026-10-24T12:00:00.000Z";

describe("The times of a cron expression", () => {
  it("fire once on the day that has no such time, at the first moment after the gap", () => {
    expect(nextTimes(berlin("30 2 * * *"), march, 2)).to.deep.equal([
      "2026-03-29T01:00:00.000Z",
      "2026-03-30T00:30:00.000Z",
    ]);
  });

  it("fire once on the day that has such a time twice, the first time", () => {
    expect(nextTimes(berlin("30 2 * * *"), october, 2)).to.deep.equal([
      "2026-10-25T00:30:00.000Z",
      "2026-10-26T01:30:00.000Z",
    ]);
  });

  it("do the same where several hours are named", () => {
    expect(nextTimes(berlin("30 2,14 * * *"), march, 2)).to.deep.equal([
      "2026-03-28T13:30:00.000Z",
      "2026-03-29T01:00:00.000Z",
    ]);
    expect(nextTimes(berlin("30 2,14 * * *"), october, 3)).to.deep.equal([
      "2026-10-24T12:30:00.000Z",
      "2026-10-25T00:30:00.000Z",
      "2026-10-25T13:30:00.000Z",
    ]);
  });

  it("come every half hour through both changes, where the hour is a wildcard", () => {
    for (const from of ["2026-03-29T00:00:00.000Z", "2026-10-25T00:00:00.000Z"]) {
      const times = nextTimes(berlin("*/30 * * * *"), from, 10).map((time) => Date.parse(time));
      for (const [index, time] of times.entries()) expect(time).to.equal(Date.parse(from) + (index + 1) * 1_800_000);
    }
  });

  it("are those that names, steps, ranges, the last day and the n-th weekday say", () => {
    const days = (cron: string, count: number): readonly string[] =>
      nextTimes(settings(cron), "2026-03-02T10:00:00.000Z", count).map((time) => time.slice(5, 16));
    expect(days("30 8 * * mon-wed", 3)).to.deep.equal(["03-03T08:30", "03-04T08:30", "03-09T08:30"]);
    expect(days("*/15 * * * *", 3)).to.deep.equal(["03-02T10:15", "03-02T10:30", "03-02T10:45"]);
    expect(days("0 9 L * *", 2)).to.deep.equal(["03-31T09:00", "04-30T09:00"]);
    expect(days("0 9 * * 5#2", 2)).to.deep.equal(["03-13T09:00", "04-10T09:00"]);
  });

  it("come on a day that fits either the day of the month or that of the week", () => {
    const times = nextTimes(settings("0 9 15 * fri"), "2026-03-02T10:00:00.000Z", 3);
    expect(times.map((time) => time.slice(5, 10))).to.deep.equal(["03-06", "03-13", "03-15"]);
  });

  it("do the same through both changes where the hours are a range", () => {
    expect(nextTimes(berlin("30 2-3 * * *"), "2026-03-29T00:00:00.000Z", 3)).to.deep.equal([
      "2026-03-29T01:00:00.000Z",
      "2026-03-29T01:30:00.000Z",
      "2026-03-30T00:30:00.000Z",
    ]);
    expect(nextTimes(berlin("30 2-3 * * *"), "2026-10-25T00:00:00.000Z", 3)).to.deep.equal([
      "2026-10-25T00:30:00.000Z",
      "2026-10-25T02:30:00.000Z",
      "2026-10-26T01:30:00.000Z",
    ]);
  });

  it("are the same, wherever one begins to look for them", () => {
    for (const cron of ["30 2 * * *", "*/20 2 * * *", "0 2,3 * * *"]) {
      for (const from of [march, october]) {
        const times = nextTimes(berlin(cron), from, 12);
        for (const [index, time] of times.slice(1).entries()) {
          expect(nextAfter(berlin(cron), times[index] as string)).to.equal(time);
        }
      }
    }
  });

  it("are after the instant that is given, and up to the other one", () => {
    const quarter = settings("*/15 * * * *");
    expect(timesOf(quarter, "2026-03-02T10:00:00.000Z", "2026-03-02T10:14:59.999Z")).to.equal(null);
    expect(timesOf(quarter, "2026-03-02T10:00:00.000Z", "2026-03-02T10:45:00.000Z")).to.deep.equal({
      count: 3,
      first: "2026-03-02T10:15:00.000Z",
      last: "2026-03-02T10:45:00.000Z",
      beforeLast: "2026-03-02T10:30:00.000Z",
    });
    expect(timesOf(quarter, "2026-03-02T10:00:00.000Z", "2026-03-02T09:00:00.000Z")).to.equal(null);
  });

  it("are counted to a thousand, and the last ones found all the same", () => {
    expect(timesOf(settings("* * * * *"), "2026-03-02T10:00:00.000Z", "2026-04-02T10:00:30.000Z")).to.deep.equal({
      count: 1000,
      first: "2026-03-02T10:01:00.000Z",
      last: "2026-04-02T10:00:00.000Z",
      beforeLast: "2026-04-02T09:59:00.000Z",
    });
  });

  it("need one format of a time zone, however its name is spelled", () => {
    const { DateTimeFormat } = Intl;
    let made = 0;
    Intl.DateTimeFormat = class extends DateTimeFormat {
      constructor(...given: ConstructorParameters<typeof DateTimeFormat>) {
        super(...given);
        made += 1;
      }
    } as typeof DateTimeFormat;
    try {
      for (const timeZone of ["Asia/Tokyo", "asia/tokyo", "ASIA/TOKYO", "Asia/toKYO"]) {
        expect(nextAfter({ cron: "0 9 * * *", timeZone }, march)).to.equal("2026-03-29T00:00:00.000Z");
      }
    } finally {
      Intl.DateTimeFormat = DateTimeFormat;
    }
    expect(made).to.equal(1);
  });

  it("need five fields, and one time that comes", () => {
    const why = (cron: string): string | null => whyNoCron(cron, "UTC", march);
    expect(why("30 8 * * mon-fri")).to.equal(null);
    expect(why("0 9 29 2 *")).to.equal(null);
    for (const cron of ["0 30 8 * * mon", "30 8 * *", "@daily", "2027-01-01T00:00:00Z"]) {
      expect(why(cron), cron).to.include("five fields");
    }
    for (const cron of ["0 9 30 2 *", "0 9 31 4,6,9,11 *"]) expect(why(cron), cron).to.include("never does");
    for (const cron of ["61 8 * * *", "a b c d e", "* * * 13 *"]) expect(why(cron), cron).to.include("such as");
  });

  it("are none of an expression that is longer than people write them", () => {
    expect(whyNoCron(`${"0,".repeat(98)}0 * * *`, "UTC", march)).to.match(/^expected five fields/);
    expect(whyNoCron(`${"0,".repeat(96)}0 0 * * *`, "UTC", march)).to.match(/^expected five fields/);
    expect(whyNoCron(`${"0,".repeat(95)}0 0 * * *`, "UTC", march)).to.equal(null);
  });

  it("take the same memory however the zone is spelled", () => {
    const { DateTimeFormat } = Intl;
    const made: unknown[] = [];
    Intl.DateTimeFormat = new Proxy(DateTimeFormat, {
      construct: (target, given) => {
        made.push(given);
        return Reflect.construct(target, given);
      },
    });
    try {
      for (const zone of ["Asia/Tokyo", "asia/tokyo", "ASIA/TOKYO", "aSiA/tOkYo"])
        expect(nextAfter({ cron: "0 9 * * *", timeZone: zone }, march)).to.equal("2026-03-29T00:00:00.000Z");
    } finally {
      Intl.DateTimeFormat = DateTimeFormat;
    }
    expect(made).to.have.lengthOf.at.most(1);
  });
});
