import { Argument, type Command } from "commander";
import type { CommandContext } from "./command-context.ts";
import { bashCompletion, fishCompletion, type Word, zshCompletion } from "./completion-scripts.ts";
import { asksOf, explain } from "./explain.ts";

const scripts = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const;

/** `completion bash|zsh|fish`. Describes the commands that the program has, so it needs all of them loaded. */
export function addCompletionCommand(program: Command, context: CommandContext): void {
  const command = program
    .command("completion")
    .description("print a script that lets a shell complete commands and options")
    .addArgument(new Argument("<shell>", "the shell").choices(Object.keys(scripts)))
    .action((shell: keyof typeof scripts) => context.print(scripts[shell](wordsOf(program)).trimEnd()));
  explain(command, {
    examples: [
      "waybill completion bash > ~/.local/share/bash-completion/completions/waybill",
      'waybill completion zsh > "$HOME/.zsh/_waybill"',
      "waybill completion fish > ~/.config/fish/completions/waybill.fish",
    ],
    notes: "For the current shell alone: source <(waybill completion bash).",
  });
}

/** Every word that may follow a command, from the tree of the program. */
function wordsOf(program: Command): readonly Word[] {
  const below = (command: Command, path: string): readonly Word[] => {
    const commands = command.commands.map((child) => ({
      after: path,
      word: child.name(),
      meaning: child.description(),
      kind: "command" as const,
    }));
    const options = [
      ...command.options,
      ...(asksOf(command) === "service" && command !== program ? program.options : []),
    ].flatMap((option) =>
      option.long === undefined || option.long === null
        ? []
        : [
            {
              after: path,
              word: option.long,
              meaning: option.description,
              kind: option.required ? ("option-with-value" as const) : ("option" as const),
            },
          ],
    );
    const values = command.registeredArguments.flatMap(({ argChoices = [], description }) =>
      argChoices.map((word) => ({ after: path, word, meaning: description, kind: "value" as const })),
    );
    const help = { after: path, word: "--help", meaning: "show the help of this command", kind: "option" as const };
    // No command of its own here, so that the words after it are completed as those of the program.
    const helpFor = { after: path, word: "help", meaning: "show the help of a command", kind: "value" as const };
    const own = [...commands, ...(command === program ? [helpFor] : []), ...values, ...options, help];
    return [...own, ...command.commands.flatMap((child) => below(child, `${path} ${child.name()}`.trim()))];
  };
  return below(program, "");
}
