import type { MailingCommand } from "../../domain/mailing/commands.ts";
import { hasMailingEnded, isNotStarted, type MailingState } from "../../domain/mailing/state.ts";
import { type Answer, refuse } from "../server/answer.ts";
import { askReadModel } from "./ask-read-model.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

/**
 * Of each tenant, and of all together, counted when one is to be started: the process that makes the parts remembers all open
 * mailings, and its checkpoint names them, which is one message of NATS. It has room for some 40,000. Schedules start
 * mailings uncounted, as there are 10,000 schedules at most, with one open mailing each.
 */
const maxOpen = 5_000;
const maxOpenOfAll = 25_000;

const opening: ReadonlySet<MailingCommand["type"]> = new Set(["StartMailing", "ApproveMailing", "RetryMailing"]);

/** Null where the decision opens no mailing, or one more may be open. Without its database nothing is counted. */
export async function refuseTooManyOpen(
  { mailings }: Pick<RouteDependencies, "mailings">,
  tenant: string,
  command: MailingCommand,
  state: MailingState,
  patienceMs: number,
): Promise<Answer | null> {
  if (!opening.has(command.type) || state.status === "absent") return null;
  if (!isNotStarted(state) && !hasMailingEnded(state)) return null;
  const open = await askReadModel(() => mailings.countOpen(tenant), patienceMs).catch(() => null);
  if (open === null) return null;
  const { ofTenant, ofAll } = open;
  if (ofTenant >= maxOpen) return refuseFor(`${ofTenant} mailings are open; expected at most ${maxOpen}.`);
  if (ofAll < maxOpenOfAll) return null;
  return refuseFor(`${ofAll} mailings of all tenants are open; expected at most ${maxOpenOfAll}.`);
}

const refuseFor = (counted: string): Answer =>
  refuse("too-many-open-mailings", `${counted} One is open from its start until all of its recipients are done.`);
