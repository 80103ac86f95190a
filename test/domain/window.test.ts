import { expect } from "chai";
import { isTimeZone, nextInWindow, type SendingWindow, weekdays } from "../../src/domain/mailing/window.ts";

const office: SendingWindow = {
  days: ["mon", "tue", "wed", "thu", "fri"],
  from: "08:00",
  to: "18:00",
  timeZone: "Europe/Berlin",
};

describe("The window of a mailing", () => {
  const opens = (from: string, window: SendingWindow = office): string => nextInWindow(window, from);

  it("is open from its first minute until before its last", () => {
    expect(opens("2026-11-23T07:00:00.000Z")).to.equal("2026-11-23T07:00:00.000Z");
    expect(opens("2026-11-23T16:59:59.999Z")).to.equal("2026-11-23T16:59:59.999Z");
    expect(opens("2026-11-23T17:00:00.000Z")).to.equal("2026-11-24T07:00:00.000Z");
    expect(opens("2026-11-23T06:59:59.999Z")).to.equal("2026-11-23T07:00:00.000Z");
  });

  it("waits over the days on which nothing goes out", () => {
    expect(opens("2026-11-27T20:00:00.000Z")).to.equal("2026-11-30T07:00:00.000Z");
    expect(opens("2026-11-23T12:00:00.000Z", { ...office, days: ["mon"], to: "12:00" })).to.equal(
      "2026-11-30T07:00:00.000Z",
    );
  });

  it("opens by the clocks of its zone, on the days of its zone", () => {
    const kiritimati = { ...office, days: ["tue"], timeZone: "Pacific/Kiritimati" } as const;
    expect(opens("2026-11-23T12:00:00.000Z", kiritimati)).to.equal("2026-11-23T18:00:00.000Z");
    const kathmandu = { ...office, timeZone: "Asia/Kathmandu" };
    expect(opens("2026-11-23T00:00:00.000Z", kathmandu)).to.equal("2026-11-23T02:15:00.000Z");
  });

  it("keeps its hours when the clocks change", () => {
    expect(opens("2026-10-24T20:00:00.000Z", { ...office, days: weekdays })).to.equal("2026-10-25T07:00:00.000Z");
    expect(opens("2026-03-28T20:00:00.000Z", { ...office, days: weekdays })).to.equal("2026-03-29T06:00:00.000Z");
  });

  it("opens an hour later where the clocks skip its opening, and the first time where they show it twice", () => {
    const night = { ...office, days: weekdays, from: "02:30", to: "04:00" };
    expect(opens("2026-03-28T20:00:00.000Z", night)).to.equal("2026-03-29T01:30:00.000Z");
    expect(opens("2026-10-24T20:00:00.000Z", night)).to.equal("2026-10-25T00:30:00.000Z");
  });

  it("opens a week later where the clocks skip all of it on its only day", () => {
    const night = { days: ["sat"], from: "23:30", to: "24:00", timeZone: "America/Nuuk" } as const;
    expect(opens("2026-03-22T12:00:00.000Z", night)).to.equal("2026-04-05T00:30:00.000Z");
  });

  it("never opens after the last moment of the calendar, as no instant is written with five digits of a year", () => {
    expect(opens("9999-12-31T18:00:00.000Z")).to.equal("9999-12-31T23:59:59.999Z");
  });

  it("of a whole day is never shut", () => {
    const always = { ...office, days: weekdays, from: "00:00", to: "24:00" };
    for (let hour = 0; hour < 24 * 8; hour += 1) {
      const at = new Date(Date.UTC(2026, 9, 20) + hour * 3_600_000).toISOString();
      expect(opens(at, always)).to.equal(at);
    }
  });

  it("always opens within eight days, and is open when it does", () => {
    for (const timeZone of ["America/St_Johns", "Australia/Lord_Howe", "Africa/Casablanca", "UTC"]) {
      for (let day = 0; day < 400; day += 9) {
        const at = new Date(Date.UTC(2026, 0, 1, 3, 7) + day * 86_400_000).toISOString();
        const window = { days: ["sun"], from: "02:15", to: "03:45", timeZone } as const;
        const opening = opens(at, window);
        expect(Date.parse(opening) - Date.parse(at)).to.be.within(0, 8 * 86_400_000);
        expect(opens(opening, window), `${timeZone} ${at}`).to.equal(opening);
      }
    }
  });

  it("keeps one format of a time zone, however its name is spelled", () => {
    const { DateTimeFormat } = Intl;
    let made = 0;
    Intl.DateTimeFormat = class extends DateTimeFormat {
      constructor(...given: ConstructorParameters<typeof DateTimeFormat>) {
        super(...given);
        made += 1;
      }
    } as typeof DateTimeFormat;
    try {
      for (const name of ["Asia/Tokyo", "asia/tokyo", "ASIA/TOKYO", "Asia/toKYO"]) {
        expect(isTimeZone(name), name).to.equal(true);
      }
    } finally {
      Intl.DateTimeFormat = DateTimeFormat;
    }
    expect(made).to.equal(1);
    const kelvinSign = "\u212a";
    expect(isTimeZone(`Asia/To${kelvinSign}yo`)).to.equal(false);
  });
});
