import { expect } from "chai";
import { createLookAgain, type Tended, until } from "../../../src/event-log/following/look-again.ts";
import { createSerially } from "../../../src/event-log/following/serially.ts";
import { eventually } from "../../support/eventually.ts";

const first = "2026-01-01T00:00:00.000Z";
const later = "2026-01-02T00:00:00.000Z";
const ending = { stopping: new AbortController().signal, givenUp: new AbortController().signal };

describe("What is looked at again when its time has come", () => {
  let arrive: Map<string, () => void>;
  let tended: number;
  let reported: unknown[];
  let isOpen: boolean;
  let failures: number;
  let thing: Tended;
  let isAwaited: () => boolean;
  const lookAt = (at: string): void =>
    createLookAgain<Tended>({
      until: (wanted, _, asked) => {
        isAwaited = asked ?? isAwaited;
        return new Promise((resolve) => arrive.set(wanted, resolve));
      },
      serially: createSerially(),
      isOpen: () => isOpen,
      tend: async () => {
        if (failures > 0) {
          failures -= 1;
          throw new Error("NATS is away");
        }
        tended += 1;
      },
      report: (failure) => reported.push(failure),
    })(thing, at, ending);
  const comes = async (at: string): Promise<void> => {
    arrive.get(at)?.();
    await new Promise((resolve) => setTimeout(resolve, 20));
  };

  beforeEach(() => {
    arrive = new Map();
    tended = 0;
    reported = [];
    isOpen = true;
    failures = 0;
    thing = { ref: { tenant: "acme", jobId: "one" }, looksAt: null };
  });

  it("is tended once at that time, however often it was asked for, and is awaited no more", async () => {
    lookAt(first);
    lookAt(first);
    expect(tended).to.equal(0);
    await comes(first);
    expect(tended).to.equal(1);
    expect(thing.looksAt).to.equal(null);
  });

  it("is not tended at a time that is another one by now, nor once it is over", async () => {
    lookAt(first);
    lookAt(later);
    await comes(first);
    expect(tended).to.equal(0);
    isOpen = false;
    await comes(later);
    expect(tended).to.equal(0);
  });

  it("is not held any longer once it is over, or has another time, however far its time is", async () => {
    lookAt(first);
    expect(isAwaited()).to.equal(true);
    thing.looksAt = later;
    expect(isAwaited()).to.equal(false);
    thing.looksAt = first;
    isOpen = false;
    expect(isAwaited()).to.equal(false);
    await until("9999-12-31T23:59:59.999Z", ending.stopping, isAwaited);
  });

  it("is tended where it is opened again for the same time", async () => {
    lookAt(later);
    isOpen = false;
    await comes(later);
    isOpen = true;
    lookAt(later);
    await comes(later);
    expect(tended).to.equal(1);
  });

  it("is tended again after a failure, which is reported", async () => {
    failures = 2;
    lookAt(first);
    await comes(first);
    await eventually(() => expect(tended).to.equal(1));
    expect(reported).to.have.length(2);
    expect(thing.looksAt).to.equal(null);
  });

  it("waits for the clock, or for the end of the process", async () => {
    const begun = Date.now();
    await until(new Date(begun + 50).toISOString(), ending.stopping);
    expect(Date.now()).to.be.at.least(begun + 50);
    await until(later.replace("2026", "2100"), AbortSignal.abort());
  });
});
