import { createService, type Service, ServiceAway, ServiceRefused } from "../client/service.ts";
import type { CommandContext } from "./command-context.ts";
import { CommandFailed, WrongUsage } from "./command-failed.ts";

/** Does work with the running service, and turns its failures into messages for the user. */
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
    // Only the service can find these faults in an option, for instance an unknown status.
    if (failure.status === 400) throw new WrongUsage(failure.message);
    const hint = failure.status === 401 ? " Set WAYBILL_KEY to a key: see keys create." : "";
    throw new CommandFailed(`${failure.message}${hint}`);
  }
}
