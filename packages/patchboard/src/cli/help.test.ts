import { CALL_QUERY_KEYS, STATE_GROUP_NAMES } from '@patchboard/wire';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { commands } from './commands.ts';
import { processContext } from './context.ts';
import { createProgram, runProgram } from './program.ts';

async function run(argv: readonly string[]): Promise<{ code: number | null; text: string }> {
  let text = '';
  const streams = {
    out: (more: string) => void (text += more),
    error: (more: string) => void (text += more),
  };
  const registrars = await commands(processContext({}), argv);
  const code = await runProgram(createProgram(registrars, '1.2.3', streams), argv, streams);
  return { code, text };
}

const silent = { out: () => undefined, error: () => undefined };
const program = createProgram(await commands(processContext({})), '1.2.3', silent);

function pathsFrom(command: Command, path: readonly string[]): { title: string; path: readonly string[] }[] {
  const parts = command.commands.flatMap((part) => pathsFrom(part, [...path, part.name()]));
  return [{ title: ['patchboard', ...path].join(' '), path }, ...parts];
}

const groups = program.commands.filter((command) => command.commands.length > 0);

describe('the help', () => {
  it.each(pathsFrom(program, []))('fits a terminal of 80 columns: $title', async ({ path }) => {
    const { code, text } = await run([...path, '--help']);
    expect(code).toBe(0);
    expect(text.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  it.each(groups.map((group) => group.name()))(
    'of %s: an unknown command gets the list of commands',
    async (name) => {
      const { code, text } = await run([name, 'nonsense']);
      expect(code).toBe(2);
      const names = groups.find((group) => group.name() === name)?.commands.map((part) => part.name()) ?? [];
      expect(text).toBe(`patchboard: ${name} has no command nonsense: it has ${names.join(', ')}\n`);
    },
  );

  it('of calls ls names every key of a query, and every name of several states', async () => {
    const { text } = await run(['calls', 'ls', '--help']);
    const names = [...CALL_QUERY_KEYS.map(({ name }) => name), ...STATE_GROUP_NAMES];
    expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(text))).toEqual([]);
  });

  it('starts error messages with the program name', async () => {
    expect((await run(['tool'])).text).toContain("patchboard: unknown command 'tool'\n(Did you mean tools?)");
    expect((await run(['call'])).text).toContain("patchboard: missing required argument 'tool'");
  });
});

it('loads only the command that is named, under the name that loads it', async () => {
  for (const { name } of program.commands.map((command) => ({ name: command.name() }))) {
    const loaded = createProgram(await commands(processContext({}), [name]), '1.2.3', silent);
    expect(loaded.commands.map((command) => command.name())).toEqual([name]);
  }
});
