import { createService, type Service, ServiceAway, ServiceRefused } from "../client/service.ts";
import type { CommandContext } from "./command-context.ts";
import { CommandFailed, WrongUsage } from "./command-failed.ts";

/** Does something with the running service, and says in words why it could not. */
export async function onService<Result>(
  context: CommandContext,
  work: (service: Service) => Promise<Result>,
): Promise<Result> {
  const { serviceUrl, serviceKey } = context.readConfig();
  const service = createService({ url: serviceUrl, key: serviceKey }, context.interrupted);
  try {
    return await work(service);
  } catch (failure) {
    if (failure instanceof CommandFailed) throw failure;
    if (context.interrupted.aborted) throw new CommandFailed("Interrupted.");
    if (failure instanceof ServiceAway) throw new CommandFailed(failure.message);
    if (!(failure instanceof ServiceRefused)) throw failure;
    // What no option of the command could tell: a word that is no status, say.
    if (failure.status === 400) throw new WrongUsage(failure.message);
    const hint = failure.status === 401 ? " Put a key into WAYBILL_KEY: see keys create." : "";
    throw new CommandFailed(`${failure.message}${hint}`);
  }
}
