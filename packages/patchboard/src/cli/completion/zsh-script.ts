import { shellQuoted } from '@patchboard/wire';
import { valueBranches, type CompletedCommand } from './command-model.ts';
import type { Suggestion } from './suggestions.ts';

/** Returns a completion script for zsh, to be sourced or stored as `_patchboard` in a folder of `fpath`. */
export function zshScript(commands: readonly CompletedCommand[]): string {
  return `#compdef patchboard
# zsh completion of patchboard. Written by: patchboard completion zsh
${pathFunction(commands)}
_patchboard_values() {
  case "$1" in
${valueBranches(commands, offer)}
    *) return 1 ;;
  esac
}

_patchboard_dynamic() {
  case "$1" in
    files) _files ;;
    folders) _files -/ ;;
    *) local -a found; found=(\${(f)"$(patchboard completion values $1 -- \${words[1,CURRENT-1]} 2>/dev/null)"}); compadd -a found ;;
  esac
}

_patchboard() {
  local cur=\${words[CURRENT]} prev=\${words[CURRENT-1]} cmd= word last=
  local -a subs names opts valued
  local -i i=2 count=0 skip=0 ended=0
  _patchboard_path ''
  while (( i < CURRENT )); do
    word=\${words[i]}
    i+=1
    if (( skip )); then skip=0
    elif (( ended )); then count+=1
    elif [[ $word == "--" ]]; then ended=1
    elif [[ $word == -* ]]; then (( \${valued[(Ie)$word]} )) && skip=1
    elif (( count == 0 && \${names[(Ie)$word]} )); then
      cmd="\${cmd:+$cmd }$word"
      _patchboard_path "$cmd"
    else count+=1
    fi
  done
  if (( !ended && \${valued[(Ie)$prev]} )); then _patchboard_values "$cmd|$prev"; return; fi
  if (( !ended )) && [[ $cur == --*=* ]]; then
    local name=\${cur%%=*}
    compset -P '*='
    _patchboard_values "$cmd|$name"
    return
  fi
  if (( !ended )) && [[ $cur == -* ]]; then _describe -o option opts; return; fi
  if [[ -n $last ]] && (( count > last )); then count=$last; fi
  if (( count == 0 && !ended && $#subs )); then _describe command subs; fi
  _patchboard_values "$cmd#$count"
}

if [[ $funcstack[1] == _patchboard ]]; then _patchboard "$@"
else
  # A new user has no compinit in .zshrc yet.
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i; }
  compdef _patchboard patchboard
fi
`;
}

function pathFunction(commands: readonly CompletedCommand[]): string {
  const branches = commands.map(({ path, subcommands, options, args, isVariadic }) => {
    const valued = options.filter(({ value }) => value !== null).flatMap((option) => option.names);
    return `    ${shellQuoted(path)})
      subs=(${subcommands.map(({ name, description }) => described(name, description)).join(' ')})
      names=(${subcommands.map(({ name }) => name).join(' ')})
      opts=(${options.flatMap((option) => option.names.map((name) => described(name, option.description))).join(' ')})
      valued=(${valued.join(' ')})
      last=${isVariadic ? args.length - 1 : ''} ;;`;
  });
  return `_patchboard_path() {\n  case "$1" in\n${branches.join('\n')}\n  esac\n}\n`;
}

/** `name:description`, as `_describe` takes it. */
function described(name: string, description: string): string {
  return shellQuoted(`${name}:${description}`);
}

function offer(value: Suggestion): string {
  return typeof value === 'string'
    ? `_patchboard_dynamic ${value}`
    : `compadd -- ${value.map(shellQuoted).join(' ')}`;
}
