import type { CompletedCommand, CompletedOption } from './command-model.ts';
import type { Suggestion } from './suggestions.ts';

/** Returns a completion script for fish 3 or newer. */
export function fishScript(commands: readonly CompletedCommand[]): string {
  const paths = commands.map(({ path }) => path).filter((path) => path !== '');
  return `# fish completion of patchboard. Written by: patchboard completion fish
set -g __patchboard_paths ${paths.map(quoted).join(' ')}

# Succeeds if the words before the cursor name exactly this command.
function __patchboard_at
    set -l path ''
    for word in (commandline -opc)[2..-1]
        set -l longer (string trim -- "$path $word")
        if contains -- "$longer" $__patchboard_paths
            set path $longer
        end
    end
    test "$path" = "$argv[1]"
end

function __patchboard_dynamic
    command patchboard completion values $argv[1] -- (commandline -opc) 2>/dev/null
end

complete -c patchboard -f
${commands.flatMap(linesOf).join('\n')}
`;
}

function linesOf({ path, subcommands, options, args }: CompletedCommand): string[] {
  const at = `complete -c patchboard -n ${quoted(`__patchboard_at ${quoted(path)}`)}`;
  return [
    ...subcommands.map(({ name, description }) => `${at} -a ${quoted(name)} -d ${quoted(description)}`),
    ...options.map((option) => `${at} ${namesOf(option)}${valueOf(option)} -d ${quoted(option.description)}`),
    ...[...new Set(args.map(offer))].filter((text) => text !== '').map((text) => `${at} ${text}`),
  ];
}

function namesOf({ names }: CompletedOption): string {
  return names
    .map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`))
    .join(' ');
}

function valueOf({ value }: CompletedOption): string {
  if (value === null) return '';
  const text = offer(value);
  return text === '' ? ' -x' : ` ${text.startsWith('-F') ? '-r' : '-x'} ${text}`;
}

function offer(value: Suggestion): string {
  switch (value) {
    case 'files':
      return '-F';
    case 'folders':
      return `-a ${quoted('(__fish_complete_directories)')}`;
    default:
      if (value.length === 0) return '';
      return `-a ${quoted(typeof value === 'string' ? `(__patchboard_dynamic ${value})` : value.join(' '))}`;
  }
}

/** In single quotes fish only knows \\' and \\\\. */
function quoted(text: string): string {
  return `'${text.replaceAll('\\', String.raw`\\`).replaceAll("'", String.raw`\'`)}'`;
}
