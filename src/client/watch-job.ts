import type { Json, Service } from "./service.ts";

/** Calls back with the job whenever it changes, and answers it as it has ended. `path` is that of the job. */
export async function watchJob(service: Service, path: string, onChange: (job: Json) => void): Promise<Json> {
  for await (const line of service.lines(`${path}/stream`, "text/event-stream")) {
    if (!line.startsWith("data: ")) continue;
    const job = JSON.parse(line.slice("data: ".length));
    onChange(job);
    if (job.completedAt !== null) return job;
  }
  // It ended before anybody watched, or the service let go of the stream.
  return (await service.ask(path)).body;
}
