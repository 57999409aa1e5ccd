import { shellQuoted } from '@patchboard/wire';
import { valueBranches, type CompletedCommand } from './command-model.ts';
import type { Suggestion } from './suggestions.ts';

/** Returns a completion script for bash 3.2 or newer, which needs no other package. */
export function bashScript(commands: readonly CompletedCommand[]): string {
  return `# bash completion of patchboard. Written by: patchboard completion bash
${pathFunction(commands)}
_patchboard_values() {
  case "$1" in
${valueBranches(commands, offer)}
    *) return 1 ;;
  esac
}

_patchboard_dynamic() {
  # Names of files may have spaces.
  local IFS=$'\\n' name
  case "$1" in
    files) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$2")) ;;
    folders) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$2")) ;;
    *)
      # Not compgen -W: it expands the words, and would run a command in a name.
      while read -r name; do
        if [[ $name == "$2"* ]]; then COMPREPLY+=("$name"); fi
      done < <(patchboard completion values "$1" -- "\${COMP_WORDS[@]:0:COMP_CWORD}" 2>/dev/null)
      ;;
  esac
}

_patchboard() {
  local IFS=$' \\t\\n' cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]}
  local path= subs= opts= valued= last= word i=1 count=0 skip=0 ended=0
  # Readline splits --option=value into three words.
  if [[ $cur == "=" ]]; then cur=
  elif [[ $prev == "=" ]]; then prev=\${COMP_WORDS[COMP_CWORD-2]}
  fi
  _patchboard_path ''
  while (( i < COMP_CWORD )); do
    word=\${COMP_WORDS[i]}
    i=$((i + 1))
    # It splits words at colons too, such as those of an address.
    while (( i < COMP_CWORD )) && [[ $word == *: || \${COMP_WORDS[i]} == ":" ]]; do
      word+=\${COMP_WORDS[i]}
      i=$((i + 1))
    done
    if (( skip )); then skip=0
    elif (( ended )); then count=$((count + 1))
    elif [[ $word == "--" ]]; then ended=1
    elif [[ $word == "=" ]]; then skip=1
    elif [[ $word == -* ]]; then
      [[ " $valued " == *" $word "* && \${COMP_WORDS[i]} != "=" ]] && skip=1
    elif (( count == 0 )) && [[ " $subs " == *" $word "* ]]; then
      path="\${path:+$path }$word"
      _patchboard_path "$path"
    else count=$((count + 1))
    fi
  done
  COMPREPLY=()
  if (( !ended )) && [[ " $valued " == *" $prev "* ]]; then
    _patchboard_values "$path|$prev" "$cur"
    return
  fi
  if (( !ended )) && [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$opts" -- "$cur"))
    return
  fi
  if [[ -n $last ]] && (( count > last )); then count=$last; fi
  _patchboard_values "$path#$count" "$cur"
  if (( count == 0 && !ended )); then COMPREPLY+=($(compgen -W "$subs" -- "$cur")); fi
}

complete -F _patchboard patchboard
`;
}

/** Sets what there is at a command: subcommands, options, options with a value, and the place of a repeated argument. */
function pathFunction(commands: readonly CompletedCommand[]): string {
  const branches = commands.map(({ path, subcommands, options, args, isVariadic }) => {
    const names = options.flatMap((option) => option.names);
    const valued = options.filter(({ value }) => value !== null).flatMap((option) => option.names);
    const last = isVariadic ? String(args.length - 1) : '';
    return `    ${shellQuoted(path)})
      subs=${shellQuoted(subcommands.map(({ name }) => name).join(' '))}
      opts=${shellQuoted(names.join(' '))}
      valued=${shellQuoted(valued.join(' '))}
      last=${last} ;;`;
  });
  return `_patchboard_path() {\n  case "$1" in\n${branches.join('\n')}\n  esac\n}\n`;
}

function offer(value: Suggestion): string {
  return typeof value === 'string'
    ? `_patchboard_dynamic ${value} "$2"`
    : `COMPREPLY=($(compgen -W ${shellQuoted(value.join(' '))} -- "$2"))`;
}
