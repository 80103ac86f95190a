import process from "node:process";

/** What came of an order, and what it took the process that obeyed it. */
export type Answered<Result> = { readonly result: Result; readonly seconds: number; readonly cpuMicros: number };

export type Reply<Result> = Answered<Result> | { readonly failure: string };

/** For a process of its own that the benchmark started: obeys one order after the other, and ends with its parent. */
export function answerOrders<Order, Result>(obey: (order: Order) => Promise<Result>): void {
  process.on("message", (order: Order) => void reply(obey, order));
  process.once("disconnect", () => process.exit());
}

async function reply<Order, Result>(obey: (order: Order) => Promise<Result>, order: Order): Promise<void> {
  const startedAt = performance.now();
  const cpuBefore = process.cpuUsage();
  let answer: Reply<Result>;
  try {
    const result = await obey(order);
    const { user, system } = process.cpuUsage(cpuBefore);
    answer = { result, seconds: (performance.now() - startedAt) / 1000, cpuMicros: user + system };
  } catch (failure) {
    answer = { failure: failure instanceof Error ? (failure.stack ?? failure.message) : String(failure) };
  }
  process.send?.(answer);
}
