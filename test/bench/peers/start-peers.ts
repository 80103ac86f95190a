import type { Lifecycle } from "../../../src/process/lifecycle.ts";
import { type AskedProcess, startAskedProcess } from "../asked-process.ts";
import type { BareKoaOrder, BareKoaState } from "./bare-koa.ts";
import type { BareLoopOrder } from "./bare-loop.ts";

export const startBareLoop = (lifecycle: Lifecycle): AskedProcess<BareLoopOrder, null> =>
  startAskedProcess(lifecycle, new URL("bare-loop.ts", import.meta.url));

/** Answers its port. */
export async function startBareKoa(lifecycle: Lifecycle, mysqlUrl: string): Promise<number> {
  const koa = startAskedProcess<BareKoaOrder, BareKoaState>(lifecycle, new URL("bare-koa.ts", import.meta.url));
  return (await koa.ask({ mysqlUrl })).result.port;
}
