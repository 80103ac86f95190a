/** A process that dies at one of its steps: a call of a port that it waits for. */
export type Mortal = {
  /** The same ports: each call is a step, and after the death none is answered. */
  readonly live: <Ports extends object>(ports: Ports) => Ports;
  /** True once the work is done, false where the process has died meanwhile: then nothing of the work goes on. */
  readonly finishes: (work: () => Promise<unknown>) => Promise<boolean>;
};

/** When: at the step of this number, from 1, before or after it took effect; null never dies. */
export type Death = { readonly step: number; readonly isDone: boolean };

type Call = (...given: readonly unknown[]) => unknown;

/** They return at once. */
const noSteps = new Set(["follow", "onDecision", "now", "report", "remember"]);

export function createMortal(death: Death | null): Mortal {
  let steps = 0;
  let isDead = false;
  let die = (): void => {};
  const died = new Promise<boolean>((resolve) => {
    die = () => resolve(false);
  });
  const silence = new Promise<never>(() => {});

  const step =
    (call: Call): Call =>
    async (...given) => {
      if (isDead) return await silence;
      steps += 1;
      if (steps === death?.step) {
        isDead = true;
        // An answer that is a refusal is lost, too.
        if (death.isDone) await Promise.resolve(call(...given)).catch(() => {});
        die();
        return await silence;
      }
      const answer = await call(...given);
      return isDead ? await silence : answer;
    };
  const live = <Ports extends object>(ports: Ports): Ports =>
    Object.fromEntries(
      Object.entries(ports).map(([name, port]: [string, unknown]) => {
        if (typeof port === "function") return [name, noSteps.has(name) ? port : step(port as Call)];
        return [name, typeof port === "object" && port !== null ? live(port) : port];
      }),
    ) as Ports;
  return { live, finishes: (work) => Promise.race([work().then(() => true), died]) };
}

const attemptsAtOnce = 8;

/** Tries every step, before and after its effect, until there is none of this number; answers how many there are. */
export async function atEveryStep(attempt: (death: Death) => Promise<boolean>): Promise<number> {
  for (let before = 0; ; before += attemptsAtOnce / 2) {
    const deaths = Array.from({ length: attemptsAtOnce }, (_, index) => ({
      step: before + 1 + Math.floor(index / 2),
      isDone: index % 2 === 1,
    }));
    const ends = await Promise.all(deaths.map(attempt));
    const end = deaths.find((_, index) => ends[index]);
    if (end !== undefined) return end.step - 1;
  }
}
