export type Decision<Event, Rejection> =
  | { readonly outcome: "accepted"; readonly events: readonly Event[] }
  | { readonly outcome: "rejected"; readonly rejection: Rejection };

/** The rules of one kind of stream. Both functions are pure and synchronous. */
export type Decider<Command, State, Event, Rejection> = {
  readonly initialState: State;
  readonly decide: (command: Command, state: State) => Decision<Event, Rejection>;
  readonly evolve: (state: State, event: Event) => State;
};

export const accepted = <Event>(...events: readonly Event[]): Decision<Event, never> => ({
  outcome: "accepted",
  events,
});

export const rejected = <Rejection>(rejection: Rejection): Decision<never, Rejection> => ({
  outcome: "rejected",
  rejection,
});
