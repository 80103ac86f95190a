import type { CompleteConfig } from "../settings/config.ts";

/** How long a part of a process may take to stop, of SHUTDOWN_TIMEOUT: after that it breaks off what it waits for. */
export const graceMsOf = ({ shutdownTimeoutMs }: Pick<CompleteConfig, "shutdownTimeoutMs">): number =>
  shutdownTimeoutMs / 2;
