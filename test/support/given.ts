import { expect } from "chai";
import type { JobCommand } from "../../src/domain/job/commands.ts";
import { jobDecider } from "../../src/domain/job/decider.ts";
import type { JobEvent } from "../../src/domain/job/events.ts";
import type { JobRejection } from "../../src/domain/job/state.ts";

type Story = { readonly when: (command: JobCommand) => Ending };

type Ending = {
  readonly records: (...events: readonly JobEvent[]) => void;
  /** Said again: a success without an event. */
  readonly recordsNothing: () => void;
  readonly isRefused: (rejection: JobRejection) => void;
};

/** A story about one job: what was decided before, what is asked now, what comes of it. */
export function given(...history: readonly JobEvent[]): Story {
  const state = history.reduce(jobDecider.evolve, jobDecider.initialState);
  return {
    when: (command) => {
      const decision = jobDecider.decide(command, state);
      return {
        records: (...events) => expect(decision).to.deep.equal({ outcome: "accepted", events }),
        recordsNothing: () => expect(decision).to.deep.equal({ outcome: "accepted", events: [] }),
        isRefused: (rejection) => expect(decision).to.deep.equal({ outcome: "rejected", rejection }),
      };
    },
  };
}
