import { examineDatabase } from "../health/examine-database.ts";
import type { Finding } from "../health/finding.ts";
import { CommandFailed } from "./command-failed.ts";

/** Throws CommandFailed where there is no database, with what to do about it. */
export async function expectDatabase(url: string): Promise<void> {
  const findings = await examineDatabase(url);
  refuse(findings.find(({ part, level }) => part === "mysql" && level === "serious") ?? null);
}

function refuse(finding: Finding | null): void {
  if (finding !== null) throw new CommandFailed(`${finding.what}\n${finding.advice ?? ""}`.trimEnd());
}
