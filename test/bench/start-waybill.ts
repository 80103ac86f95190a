import { type Deployment, deploy, type Settings, surroundingsOn } from "./deployment.ts";
import { watchEndedJobs } from "./ended-jobs.ts";
import type { Program } from "./program.ts";
import { type Progress, watchProgress } from "./read-models.ts";
import type { Stage } from "./row.ts";
import type { Sink } from "./sink/start-sink.ts";

export type RunningWaybill = Program & { readonly deployment: Deployment; readonly progress: Progress };

/** Waybill in these processes, and what it is watched with. */
export async function startWaybill(
  stage: Stage,
  sink: Sink,
  processes: readonly string[],
  settings: Settings = {},
): Promise<RunningWaybill> {
  const deployment = await deploy(stage, await surroundingsOn(stage.ground, sink.url), processes, settings);
  const progress = await watchProgress(stage, deployment.surroundings);
  return {
    deployment,
    progress,
    port: deployment.port,
    path: "/api/jobs",
    pids: deployment.pids,
    ended: await watchEndedJobs(stage, deployment),
    settled: progress.caughtUp,
  };
}
