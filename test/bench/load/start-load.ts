import type { Lifecycle } from "../../../src/process/lifecycle.ts";
import { type AskedProcess, startAskedProcess } from "../asked-process.ts";
import type { HttpLoadOrder, HttpLoadResult } from "./http-load.ts";

export type HttpLoad = AskedProcess<HttpLoadOrder, HttpLoadResult>;

export const startLoad = (lifecycle: Lifecycle): HttpLoad =>
  startAskedProcess<HttpLoadOrder, HttpLoadResult>(lifecycle, new URL("http-load.ts", import.meta.url));

/** What a client asks of Waybill and of its peer alike; where the jobs are is for each of them to say. */
export const toPosting = (
  port: number,
  path: string,
  body: object,
  requests: number,
  connections: number,
  atMostMs = 600_000,
): HttpLoadOrder => ({
  port,
  method: "POST",
  paths: [path],
  body: JSON.stringify(body),
  requests,
  atMostMs,
  connections,
  expectedStatus: 201,
});
