import type { Context } from "koa";
import type { Answer } from "./answer.ts";
import { type BodyAccount, NoRoomForBody } from "./body-budget.ts";
import { refuse, refuseForNow } from "./problem.ts";
import { drain } from "./read-body.ts";

/** Answers to a body that are smaller are not counted. */
const smallAnswerBytes = 64 * 1024;
/** For a client to take a larger one. */
const takeMs = 60_000;

/** The answer to a request, refused where there is no room for its body; what is to be waited for is without it. */
export async function whileInHand(ctx: Context, account: BodyAccount, ask: () => Promise<Answer>): Promise<Answer> {
  const answer = await ask().catch(async (failure: unknown) => {
    account.close();
    if (!(failure instanceof NoRoomForBody)) throw failure;
    return await refuseForMemory(ctx, failure);
  });
  if (answer.later === undefined) return answer;
  account.close();
  return await answer.later();
}

async function refuseForMemory(ctx: Context, { isForGood }: NoRoomForBody): Promise<Answer> {
  // What was not begun to be read the platform throws away by itself while the answer is on its way.
  if (ctx.req.readableDidRead) await drain(ctx);
  return isForGood
    ? refuse("body-too-large", "The body takes more memory than one request may have.")
    : refuseForNow("no-room-for-body", "Too many bodies are in hand here. Nothing was done. Try again.", 2);
}

/**
 * Gives the body back, once the answer is there. A large one, as that of a dry run with attachments, takes the place of
 * its body until the client has it, which it has to within a minute.
 */
export function keepUntilTaken({ length = 0, req, res }: Context, account: BodyAccount): void {
  account.keep(length < smallAnswerBytes || res.closed ? 0 : length);
  if (account.held() === 0) return;
  const giveUp = setTimeout(() => req.destroy(), takeMs).unref();
  res.once("close", () => {
    clearTimeout(giveUp);
    account.close();
  });
}
