import { type Json, type Service, ServiceAway } from "./service.ts";

/**
 * Calls back with the job whenever it changes, and answers it as it has ended. Once the service has told of it, a
 * restart of the service is waited for. `path` is that of the job.
 */
export async function watchJob(
  service: Service,
  path: string,
  onChange: (job: Json) => void,
  onWaiting: (reason: string) => void,
): Promise<Json> {
  let last: Json = null;
  const onJob = (job: Json): void => {
    last = job;
    onChange(job);
  };
  for (;;) {
    await followStream(service, path, onJob).catch((failure: unknown) => {
      if (!(failure instanceof ServiceAway && last !== null)) throw failure;
    });
    // It ended before anybody watched, or the service let go of the stream.
    if (last === null || last.completedAt === null) {
      onJob((await service.askPatiently(path, { method: "GET" }, onWaiting)).body);
    }
    if (last.completedAt !== null) return last;
  }
}

async function followStream(service: Service, path: string, onJob: (job: Json) => void): Promise<void> {
  for await (const line of service.lines(`${path}/stream`, "text/event-stream")) {
    if (line.startsWith("data: ")) onJob(JSON.parse(line.slice("data: ".length)));
  }
}
