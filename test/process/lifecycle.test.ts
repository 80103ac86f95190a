import { expect } from "chai";
import { createLifecycle } from "../../src/process/lifecycle.ts";

describe("The parts of a process that stops", () => {
  let stopped: string[];
  let reported: string[];
  const begin = (mostMs?: number) =>
    createLifecycle((failure, name) => reported.push(`${name}: ${(failure as Error).message}`), mostMs);
  const stops = (name: string) => async () => void stopped.push(name);

  beforeEach(() => {
    [stopped, reported] = [[], []];
  });

  it("stop in the reverse of the order in which they were started, whichever of them fails", async () => {
    const lifecycle = begin();
    lifecycle.started("first", stops("first"));
    lifecycle.started("second", () => Promise.reject(new Error("broken")));
    lifecycle.started("third", stops("third"));
    await Promise.all([lifecycle.stop(), lifecycle.stop()]);
    expect(stopped).to.deep.equal(["third", "first"]);
    expect(reported).to.deep.equal(["second: broken"]);
  });

  it("do not wait for one that hangs, unless it has a time of its own", async () => {
    const lifecycle = begin(10);
    const hangs = () => new Promise<void>(() => {});
    const slow = () => new Promise<void>((resolve) => setTimeout(resolve, 50)).then(stops("slow"));
    lifecycle.started("first", stops("first"));
    lifecycle.started("slow", slow, 10_000);
    lifecycle.started("hanging", hangs);
    await lifecycle.stop();
    expect(stopped).to.deep.equal(["slow", "first"]);
    expect(reported).to.deep.equal(["hanging: It did not stop within 10 ms."]);
  });
});
