/** The command line is wrong: exit code 2. */
export class WrongUsage extends Error {
  override readonly name = "WrongUsage";
}

/** The command is valid but cannot be carried out; the message contains the reason: exit code 1. */
export class CommandFailed extends Error {
  override readonly name = "CommandFailed";
}
