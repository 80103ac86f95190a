import type { TestMailServer } from "../support/mail-server.ts";
import type { LogReader } from "./log-reader.ts";

/** What the load and the checks need to know of a stage, whatever its processes and servers are. */
export type Observed = {
  /** Where clients find the service: each API process that is meant to be there. */
  readonly apiUrls: () => readonly string[];
  /** Of every request, where the service asks for keys. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly mailServer: TestMailServer;
  /** The database as it is, past every door. */
  readonly mysqlUrl: string;
  /** The log as it is, past every door. */
  readonly log: LogReader;
};
