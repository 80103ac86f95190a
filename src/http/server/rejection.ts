import type { JobRejection } from "../../domain/job/state.ts";
import { problemOfRejection } from "../../problems/problem-of-rejection.ts";
import type { Answer } from "./answer.ts";
import { answerProblem } from "./problem.ts";

export const refuseRejection = (rejection: JobRejection): Answer => answerProblem(problemOfRejection(rejection));
