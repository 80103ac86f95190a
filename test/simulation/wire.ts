import { Unavailable } from "../../src/domain/unavailable.ts";
import type { SimulatedProcess, World } from "./world.ts";

/**
 * A process asks the log, and the world decides: it is answered, or the question is lost, or the answer, or what was
 * asked for happens when no caller waits for it any more.
 */
export function ask<Answer>(
  world: World,
  process: SimulatedProcess,
  what: string,
  effect: () => Promise<Answer>,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const takesEffect = (answered: boolean): void => {
      const answer = (run: () => void): void => {
        if (answered) world.tell(process, world.latency(), run);
      };
      effect().then(
        (result) => answer(() => resolve(result)),
        (failure) => answer(() => reject(failure)),
      );
    };
    const givesUp = (text: string): number => {
      const afterMs = world.chance.between(500, 1500);
      world.note(`${process.name}: ${text} of "${what}"`);
      world.tell(process, afterMs, () => reject(new Unavailable(`No answer to ${what}`)));
      return afterMs;
    };
    world.leave(process, () => {
      if (world.isLogAway() || world.strikes(world.faults.lostQuestions)) givesUp("the question is lost");
      else if (world.strikes(world.faults.lostAnswers)) {
        givesUp("the answer is lost");
        world.schedule(world.latency(), () => takesEffect(false));
      } else if (world.strikes(world.faults.lateEffects)) {
        const afterMs = givesUp("the answer is lost, and late is the effect");
        world.schedule(afterMs + world.chance.between(0, 4000), () => takesEffect(false));
      } else world.schedule(world.latency(), () => takesEffect(true));
    });
  });
}

/** A message without an answer, which may be lost. */
export function say(world: World, process: SimulatedProcess, effect: () => void): void {
  world.leave(process, () => {
    if (world.isLogAway() || world.strikes(world.faults.lostMessages)) return;
    world.schedule(world.latency(), effect);
  });
}
