/** A word that a shell may offer. */
export type Word = {
  /** The commands before it: "jobs list"; empty at the beginning. */
  readonly after: string;
  readonly word: string;
  readonly meaning: string;
  readonly kind: "command" | "option" | "option-with-value" | "value";
};

function byPath(words: readonly Word[]): ReadonlyMap<string, readonly Word[]> {
  const paths = new Map<string, Word[]>();
  for (const word of words) paths.set(word.after, [...(paths.get(word.after) ?? []), word]);
  return paths;
}

/** Patterns of `case` for the command lines that name a command: "jobs list". */
const commandsIn = (words: readonly Word[]): string =>
  words
    .filter(({ kind }) => kind === "command")
    .map(({ after, word }) => `"${`${after} ${word}`.trim()}"`)
    .join("|");

const optionsWithValue = (words: readonly Word[]): readonly string[] => [
  ...new Set(words.filter(({ kind }) => kind === "option-with-value").map(({ word }) => word)),
];

/** A value of an option, and an argument without known values, are completed as the name of a file. */
export function bashCompletion(words: readonly Word[]): string {
  const cases = [...byPath(words)].map(
    ([path, offered]) => `    "${path}") words="${offered.map(({ word }) => word).join(" ")}" ;;`,
  );
  return `# waybill completion bash
_waybill() {
  local cur=\${COMP_WORDS[COMP_CWORD]} path= words= skip= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    [ -n "$skip" ] && { skip=; continue; }
    case "\${COMP_WORDS[i]}" in
      ${optionsWithValue(words).join("|")}) skip=yes; continue ;;
    esac
    case "\${path:+$path }\${COMP_WORDS[i]}" in
      ${commandsIn(words)}) path="\${path:+$path }\${COMP_WORDS[i]}" ;;
    esac
  done
  COMPREPLY=()
  [ -n "$skip" ] && return
  case "$path" in
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _waybill waybill
`;
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

export function zshCompletion(words: readonly Word[]): string {
  const cases = [...byPath(words)].map(([path, offered]) => {
    const lines = offered.map(({ word, meaning }) => quoted(`${word.replaceAll(":", "\\:")}:${meaning}`));
    return `    "${path}") offered=(\n      ${lines.join("\n      ")}\n    ) ;;`;
  });
  return `#compdef waybill
# waybill completion zsh
_waybill() {
  local place= skip= word
  local -a offered options
  for word in "\${(@)words[2,CURRENT-1]}"; do
    [[ -n $skip ]] && { skip=; continue }
    case "$word" in
      ${optionsWithValue(words).join("|")}) skip=yes; continue ;;
    esac
    case "\${place:+$place }$word" in
      ${commandsIn(words)}) place="\${place:+$place }$word" ;;
    esac
  done
  [[ -n $skip ]] && { _files; return }
  case "$place" in
${cases.join("\n")}
  esac
  options=("\${(@M)offered:#--*}") offered=("\${(@)offered:#--*}")
  _describe -o option options || _describe command offered || _files
}
if [ "$funcstack[1]" = "_waybill" ]; then _waybill "$@"; else compdef _waybill waybill; fi
`;
}

export function fishCompletion(words: readonly Word[]): string {
  const lines = words.map(({ after, word, meaning, kind }) => {
    const isOption = kind === "option" || kind === "option-with-value";
    const offered = isOption ? `-l ${word.slice(2)}${kind === "option" ? "" : " -r"}` : `-f -a ${word}`;
    return `complete -c waybill -n '__waybill_is_at "${after}"' ${offered} -d ${fishQuoted(meaning)}`;
  });
  const known = words.filter(({ kind }) => kind === "command").map(({ after, word }) => `${after} ${word}`.trim());
  return `# waybill completion fish
function __waybill_is_at
  set -l place ""
  set -l skip ""
  for word in (commandline -opc)[2..]
    if test -n "$skip"
      set skip ""
      continue
    end
    switch $word
      case ${optionsWithValue(words).join(" ")}
        set skip yes
        continue
    end
    set -l next (string trim "$place $word")
    if contains -- $next ${known.map((path) => `"${path}"`).join(" ")}
      set place $next
    end
  end
  test "$place" = "$argv[1]"
end
${lines.join("\n")}
`;
}

const fishQuoted = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
