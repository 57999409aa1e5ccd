import { shellQuoted } from '@patchboard/wire';
import type { Command, Option } from 'commander';
import { argumentSuggestion, optionSuggestion, type Suggestion } from './suggestions.ts';

/** An option as completion needs it. */
export interface CompletedOption {
  /** `--long`, and `-s` if there is one. */
  readonly names: readonly string[];
  readonly description: string;
  /** Null: the option has no value. */
  readonly value: Suggestion | null;
}

/** A command as completion needs it. */
export interface CompletedCommand {
  /** The words after the program's name; empty for the program itself. */
  readonly path: string;
  readonly subcommands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly CompletedOption[];
  /** One per positional argument; the last one repeats if `isVariadic`. */
  readonly args: readonly Suggestion[];
  readonly isVariadic: boolean;
}

/** Returns the program and all its commands, each before its own. */
export function completedCommands(program: Command): CompletedCommand[] {
  return commandsFrom(program, [], '');
}

function commandsFrom(command: Command, path: readonly string[], group: string): CompletedCommand[] {
  const inner = command.commands.flatMap((one) => commandsFrom(one, [...path, one.name()], command.name()));
  // Without the name of a command, a group runs its default command, whose options it then takes.
  const byDefault = command.commands.find((one) => one.description().includes('(default)'));
  const runs = byDefault === undefined ? [command] : [command, byDefault];
  const args = (byDefault ?? command).registeredArguments;
  const subcommands = command.commands.map((one) => ({
    name: one.name(),
    description: plain(one.description()),
  }));
  const own: CompletedCommand = {
    path: path.join(' '),
    subcommands,
    options: [...runs.flatMap(({ options }) => options.map(optionOf)), HELP],
    args: args.map((argument) => argumentSuggestion(argument, group)),
    isVariadic: args.at(-1)?.variadic === true,
  };
  return [own, ...inner];
}

const HELP: CompletedOption = { names: ['--help', '-h'], description: 'display help', value: null };

function optionOf(option: Option): CompletedOption {
  const names = [option.long, option.short].filter((name) => name !== undefined);
  const takesValue = option.required || option.optional;
  return {
    names,
    description: plain(option.description),
    value: takesValue ? optionSuggestion(option) : null,
  };
}

/** One line, without the advice in parentheses at its end. */
function plain(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replace(/ \([^()]*\)$/, '');
}

/** The branches of a `case` over the places of values. `offer` returns the command that completes one. */
export function valueBranches(
  commands: readonly CompletedCommand[],
  offer: (value: Suggestion) => string,
): string {
  return byValue(valuePlaces(commands))
    .map(({ keys, value }) => `    ${keys.map(shellQuoted).join('|')}) ${offer(value)} ;;`)
    .join('\n');
}

/** The values of an option or argument that have something to offer, by the place where they are. */
function valuePlaces(commands: readonly CompletedCommand[]): { key: string; value: Suggestion }[] {
  return commands.flatMap(({ path, options, args }) => [
    ...options.flatMap(({ names, value }) =>
      value === null || value.length === 0 ? [] : names.map((name) => ({ key: `${path}|${name}`, value })),
    ),
    ...args.flatMap((value, at) => (value.length === 0 ? [] : [{ key: `${path}#${at}`, value }])),
  ]);
}

/** Groups keys with the same value, so that a `case` has one branch for them. */
function byValue<T>(places: readonly { key: string; value: T }[]): { keys: string[]; value: T }[] {
  const groups = new Map<string, { keys: string[]; value: T }>();
  for (const { key, value } of places) {
    const id = JSON.stringify(value);
    const group = groups.get(id) ?? { keys: [], value };
    group.keys.push(key);
    groups.set(id, group);
  }
  return [...groups.values()];
}
