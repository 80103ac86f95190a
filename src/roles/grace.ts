import type { CompleteConfig } from "../settings/config.ts";

type Timeout = Pick<CompleteConfig, "shutdownTimeoutMs">;

/** How long a part of a process may take to stop, of SHUTDOWN_TIMEOUT: after that it breaks off what it waits for. */
export const graceMsOf = ({ shutdownTimeoutMs }: Timeout): number => shutdownTimeoutMs / 2;

/** When the other parts wait no longer for one that should have broken off. */
export const mostMsOf = ({ shutdownTimeoutMs }: Timeout): number => 0.6 * shutdownTimeoutMs;
