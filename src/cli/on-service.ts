import { createService, type Service, ServiceAway, ServiceRefused } from "./client/service.ts";
import type { CommandContext } from "./command-context.ts";
import { CommandFailed, WrongUsage } from "./command-failed.ts";
import { serviceAddress } from "./service-address.ts";

/** Does work with the running service, and turns its failures into messages for the user. */
export async function onService<Result>(
  context: CommandContext,
  work: (service: Service) => Promise<Result>,
): Promise<Result> {
  const { url, key, profile } = serviceAddress(context);
  if (profile !== null && context.isTerminal) context.tell(`Profile ${profile}: ${url}`);
  const service = createService({ url, key }, context.interrupted);
  try {
    return await work(service);
  } catch (failure) {
    if (failure instanceof CommandFailed) throw failure;
    if (context.interrupted.aborted) throw new CommandFailed("Interrupted.");
    if (failure instanceof ServiceAway) throw new CommandFailed(failure.message);
    if (!(failure instanceof ServiceRefused)) throw failure;
    // Only the service can find these faults in an option, for instance an unknown status.
    if (failure.status === 400) throw new WrongUsage(failure.message);
    throw new CommandFailed(`${failure.message}${hintFor(failure)}`);
  }
}

function hintFor({ status, code }: ServiceRefused): string {
  if (status === 401) return " Name a key with --key, WAYBILL_KEY or a profile: see keys create.";
  return code === "scope-missing" ? " Scopes of a key are given when it is made: keys create --scopes." : "";
}
