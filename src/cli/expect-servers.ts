import type { NatsConfig } from "../config.ts";
import { examineDatabase } from "../doctor/examine-database.ts";
import type { Finding } from "../doctor/finding.ts";
import { findNats } from "../doctor/jetstream-checkup.ts";
import { CommandFailed } from "./command-failed.ts";

/** The service waits for NATS as long as it takes. Who has typed a command wants to know now: throws CommandFailed. */
export const expectNats = async (settings: NatsConfig): Promise<void> => refuse(await findNats(settings));

/** Throws CommandFailed where there is no database, with what to do about it. */
export async function expectDatabase(url: string): Promise<void> {
  const findings = await examineDatabase(url);
  refuse(findings.find(({ part, level }) => part === "mysql" && level === "serious") ?? null);
}

function refuse(finding: Finding | null): void {
  if (finding !== null) throw new CommandFailed(`${finding.what}\n${finding.advice ?? ""}`.trimEnd());
}
