import { readSchedule } from "../../commands/read-version.ts";
import type { Instant } from "../../domain/message.ts";
import type { JobRef } from "../../event-log/event-log.ts";
import { newId } from "../../event-log/new-id.ts";
import { maxRequestBytes } from "../../intake/check-request.ts";
import { scheduleIdOfKey } from "../../intake/derived-job-id.ts";
import { digestOfRequest } from "../../intake/draft-job.ts";
import { type Saved, saveSchedule } from "../../mailings/schedules/save-schedule.ts";
import {
  readScheduleRequest,
  type ScheduleRequest,
  scheduleCreation,
} from "../../mailings/schedules/schedule-request.ts";
import { faultsIn } from "../../schemas/fault.ts";
import { schedulePath, schedule as scheduleSchema } from "../answers/schedule.ts";
import { type Answer, json, refuse, refuseFaults, refuseForNoRoom, refuseMailing } from "../server/answer.ts";
import { toCause, toJobRef } from "../server/request-context.ts";
import { type ApiRequest, needed, type Route, route } from "../server/route.ts";
import { askIncluding, askReadModel } from "./ask-read-model.ts";
import { answerDecision, changedSchedule } from "./change-schedule.ts";
import { readIdempotencyKey, refuseCreation } from "./create-job.ts";
import { type RouteDependencies, rulesOf } from "./route-dependencies.ts";
import { refuseSchedule, scheduleAnswerOf } from "./schedules.ts";

/** All of them are in the memory of the process that fires them. */
const maxSchedules = 100;
/** Of all tenants: the checkpoint of what fires them names each active one, and is one message of NATS. */
const maxSchedulesOfAll = 10_000;

/** Creates and replaces schedules. */
export const scheduleCreationRoutes = (dependencies: RouteDependencies): readonly Route[] => [
  route({
    method: "POST",
    path: "/schedules",
    describes: {
      operation: "createSchedule",
      summary: "Create a schedule that makes a job, or a mailing, at each of its times.",
      body: needed(scheduleCreation),
      headers: ["Idempotency-Key"],
      answers: {
        201: {
          is: "The schedule is stored in the log.",
          json: scheduleSchema,
          headers: ["Location", "Event-Sequence", "Idempotency-Replayed"],
        },
      },
      needs: ["log-writes", "read-model"],
      problems: [
        "too-many-schedules",
        "too-many-recipients",
        "content-too-large",
        "idempotency-key-reused",
        "approval-needs-keys",
      ],
    },
    takesBody: true,
    maxBodyBytes: maxRequestBytes,
    handle: (request) => create(dependencies, request),
  }),
  route({
    method: "PUT",
    path: "/schedules/:scheduleId",
    describes: {
      operation: "changeSchedule",
      summary: "Replace all of a schedule; its next times are counted from now.",
      body: needed(scheduleCreation),
      answers: changedSchedule,
      needs: ["log-writes"],
      problems: [
        "schedule-not-found",
        "schedule-deleted",
        "too-many-recipients",
        "content-too-large",
        "approval-needs-keys",
      ],
    },
    takesBody: true,
    maxBodyBytes: maxRequestBytes,
    handle: (request) => replace(dependencies, request),
  }),
];

async function create(dependencies: RouteDependencies, request: ApiRequest): Promise<Answer> {
  const { context, body, header } = request;
  const { tenant } = context;
  const key = readIdempotencyKey(header("Idempotency-Key"));
  const isRepeatable = key.valid && key.value !== null;
  const ref = { tenant, jobId: isRepeatable ? scheduleIdOfKey(tenant, key.value) : newId() };
  const { log } = request.inTime(dependencies);
  if (body === undefined) return refuse("invalid-json", "The body is missing; expected a JSON object.");
  const requestSha256 = isRepeatable ? digestOfRequest(body) : null;
  const before = isRepeatable ? (await readSchedule(log, ref)).state : null;
  // A repetition gets its answer, though its template or its limits may be others by now.
  if (before !== null && before.status !== "absent") {
    if (before.requestSha256 !== requestSha256) return refuseSchedule({ code: "idempotency-key-reused" });
    return await created(dependencies, request, ref, true, null);
  }
  const asked = await readAsked(dependencies, request);
  if (!key.valid) return refuseFaults(faultsIn(key));
  if ("answer" in asked) return asked.answer;
  const { readPosition, ownWrites, schedules, now } = dependencies;
  const ask = () => schedules.all(tenant);
  const there = await askIncluding(readPosition, "schedules", ownWrites.ofTenant(tenant), ask);
  if (there.scheduleIds.length >= maxSchedules) {
    return refuse(
      "too-many-schedules",
      `There are ${there.scheduleIds.length} schedules; expected at most ${maxSchedules}.`,
    );
  }
  const ofAll = await askReadModel(() => schedules.countAll());
  if (ofAll >= maxSchedulesOfAll) {
    return refuse(
      "too-many-schedules",
      `There are ${ofAll} schedules of all tenants; expected at most ${maxSchedulesOfAll}.`,
    );
  }
  const saving = { as: "new", requestSha256, request: asked.request, cause: toCause(context), at: now() } as const;
  const ports = request.inTime(dependencies);
  if (!(await ports.room.isLeftForJobs())) return refuseForNoRoom();
  const saved = await saveSchedule(ports, ref, saving);
  const refused = refusalOf(saved, saving.at);
  if (refused !== null || saved.outcome !== "accepted") return refused ?? refuseForNoRoom();
  ownWrites.remember(ref, saved.sequence);
  return await created(dependencies, request, ref, saved.events.length === 0, saved.sequence);
}

async function created(
  dependencies: RouteDependencies,
  request: ApiRequest,
  ref: JobRef,
  isRepeat: boolean,
  sequence: number | null,
): Promise<Answer> {
  const answer = await scheduleAnswerOf(dependencies, request, ref);
  if (answer === null) return refuseSchedule({ code: "schedule-not-found" });
  const at = sequence ?? (await readSchedule(request.inTime(dependencies).log, ref)).sequence;
  const headers = { Location: schedulePath(request.base, ref.jobId), "Event-Sequence": String(at) };
  return json(answer, { ...headers, ...(isRepeat ? { "Idempotency-Replayed": "true" } : {}) }, 201);
}

async function replace(dependencies: RouteDependencies, request: ApiRequest): Promise<Answer> {
  const ref = toJobRef(request.context, request.part("scheduleId"));
  if (ref === null) return refuseSchedule({ code: "schedule-not-found" });
  const ports = request.inTime(dependencies);
  const { state } = await readSchedule(ports.log, ref);
  if (state.status === "absent") return refuseSchedule({ code: "schedule-not-found" });
  if (state.status === "deleted") return refuseSchedule({ code: "schedule-deleted" });
  const asked = await readAsked(dependencies, request);
  if ("answer" in asked) return asked.answer;
  const at = dependencies.now();
  const saving = { as: "change", request: asked.request, cause: toCause(request.context), at } as const;
  const saved = await saveSchedule(ports, ref, saving);
  const refused = refusalOf(saved, at);
  if (refused !== null || saved.outcome !== "accepted") return refused ?? refuseForNoRoom();
  return await answerDecision(dependencies, request, ref, saved.sequence);
}

const refusalOf = (saved: Saved, at: Instant): Answer | null => {
  if (saved.outcome === "refused") return refuseCreation(saved.refusal, at);
  return saved.outcome === "rejected" ? refuseSchedule(saved.rejection) : null;
};

type Asked = { readonly request: ScheduleRequest } | { readonly answer: Answer };

async function readAsked(dependencies: RouteDependencies, request: ApiRequest): Promise<Asked> {
  const { context, body, inTime } = request;
  if (body === undefined) return { answer: refuse("invalid-json", "The body is missing; expected a JSON object.") };
  const { now } = dependencies;
  const { log, contentStore, templates } = inTime(dependencies);
  const at = now();
  const found = await readScheduleRequest(body, {
    rules: rulesOf(dependencies, context),
    templates,
    log,
    tenant: context.tenant,
    actor: context.actor,
    maxContentBytes: contentStore.maxBytes,
    at,
  });
  switch (found.outcome) {
    case "read":
      return { request: found.request };
    case "refused":
      return { answer: refuseCreation(found.refusal, at) };
    case "approval-needs-keys":
      return { answer: refuseMailing({ code: "approval-needs-keys" }) };
  }
}
