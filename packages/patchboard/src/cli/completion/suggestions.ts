import type { Argument, Option } from 'commander';

/** What completes a value: fixed values, or something that is read when the key is pressed. */
export type Suggestion = readonly string[] | DynamicValues;

type DynamicValues = 'tools' | 'profiles' | 'files' | 'folders';

const SUGGESTED: WeakMap<Option | Argument, Suggestion> = new WeakMap();

/** Declares the values that completion offers, if others or other spellings are accepted too, unlike with `choices`. */
export function suggesting<T extends Option | Argument>(declared: T, values: Suggestion): T {
  SUGGESTED.set(declared, values);
  return declared;
}

/** By the name of the value in the help, such as `<tool>`. */
const BY_VALUE_NAME: Readonly<Record<string, DynamicValues>> = {
  tool: 'tools',
  file: 'files',
  folder: 'folders',
};

const BY_OPTION: Readonly<Record<string, DynamicValues>> = {
  '--tool': 'tools',
  '--profile': 'profiles',
};

export function optionSuggestion(option: Option): Suggestion {
  const own = SUGGESTED.get(option) ?? option.argChoices ?? BY_OPTION[option.long ?? ''];
  return own ?? BY_VALUE_NAME[/[<[](\w+)/.exec(option.flags)?.[1] ?? ''] ?? [];
}

/** `group`: the command that has the one with the argument. */
export function argumentSuggestion(argument: Argument, group: string): Suggestion {
  if (group === 'profile' && argument.name() === 'name') return 'profiles';
  return SUGGESTED.get(argument) ?? argument.argChoices ?? BY_VALUE_NAME[argument.name()] ?? [];
}
